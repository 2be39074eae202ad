#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "teeny/runtime/device.hpp"

namespace teeny::detail {

class StreamState;

/// Memory that buffers are made of, freed with the object. Moves, does not copy.
class Allocation {
 public:
  /// What every stream may use at once.
  Allocation(const Device& device, std::size_t bytes, Memory memory);
  /// Device memory from the stream's pool: to be used by work of that stream, or of one that waited
  /// for it; given back in the stream's order.
  Allocation(std::shared_ptr<StreamState> stream, std::size_t bytes);
  /// Page-locked host memory, which kernels do not see.
  struct HostOnly {};
  Allocation(const Device& device, std::size_t bytes, HostOnly);

  Allocation(Allocation&& other) noexcept
      : device_(other.device_),
        stream_(std::move(other.stream_)),
        address_(std::exchange(other.address_, 0)),
        host_(std::exchange(other.host_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        memory_(other.memory_),
        host_only_(other.host_only_) {}
  Allocation& operator=(Allocation&& other) noexcept {
    if (this != &other) {
      release();
      device_ = other.device_;
      stream_ = std::move(other.stream_);
      address_ = std::exchange(other.address_, 0);
      host_ = std::exchange(other.host_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      memory_ = other.memory_;
      host_only_ = other.host_only_;
    }
    return *this;
  }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation() { release(); }

  [[nodiscard]] Device device() const noexcept { return Device(*device_); }
  [[nodiscard]] u64 address() const noexcept { return address_; }
  /// 0 once it was moved from.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] Memory memory() const noexcept { return memory_; }
  /// The address for the host; Error(usage) for device memory. With TEENY_CHECK_ACCESS=1 it is
  /// Error(usage) too while work may use the memory, where touching it would not be noticed.
  [[nodiscard]] void* host() const;
  /// The stream that copies of these elements take their turn in.
  [[nodiscard]] StreamState& stream() const noexcept;

 private:
  void release() noexcept;

  DeviceState* device_;
  std::shared_ptr<StreamState> stream_;  // none: the memory belongs to no stream
  u64 address_ = 0;
  void* host_ = nullptr;
  std::size_t bytes_ = 0;
  Memory memory_ = Memory::device;
  bool host_only_ = false;
};

}  // namespace teeny::detail
