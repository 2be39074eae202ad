#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace teeny::compiler::cpu {

/// Gives out places in a program's scratch memory, first fit, and takes them back.
class Scratch {
 public:
  static constexpr std::uint64_t alignment = 64;
  struct Slot {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  [[nodiscard]] Slot take(std::uint64_t bytes) {
    const std::uint64_t size = (bytes + alignment - 1) / alignment * alignment;
    std::uint64_t offset = 0;
    auto place = taken_.begin();
    for (; place != taken_.end() && place->offset - offset < size; ++place) {
      offset = place->offset + place->size;
    }
    taken_.insert(place, {offset, size});
    high_water_ = std::max(high_water_, offset + size);
    return {offset, size};
  }

  void give_back(const Slot& slot) {
    taken_.erase(std::find_if(taken_.begin(), taken_.end(),
                              [&](const Slot& other) { return other.offset == slot.offset; }));
  }

  [[nodiscard]] std::uint64_t high_water() const { return high_water_; }

 private:
  std::vector<Slot> taken_;  // sorted by offset
  std::uint64_t high_water_ = 0;
};

}  // namespace teeny::compiler::cpu
