#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/weights/weight.hpp"

namespace teeny {

/// The weights of a program, read from its files. Copies share the files.
class Weights {
 public:
  /// The elements, row-major, as long as a copy of this object is there. Error(input) when the
  /// files hold no such tensor, or one of another dtype or shape.
  template <Element T>
  [[nodiscard]] std::span<const T> host(const Weight<T>& weight) const {
    const std::span<const std::byte> bytes = bytes_of({weight.name(), weight.type()});
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// A copy of them in the device's memory.
  template <Element T>
  [[nodiscard]] Buffer<T> buffer(const Device& device, const Weight<T>& weight) const {
    return device.buffer<T>(host(weight));
  }

 private:
  friend Weights load_weights(const std::vector<std::filesystem::path>& files);
  struct Files;
  [[nodiscard]] std::span<const std::byte> bytes_of(const WeightNeed& need) const;

  std::shared_ptr<const Files> files_;
};

/// Maps one or several safetensors files, which together must hold every weight that the program
/// declares, each once and as declared. Error(input) naming, for all that do not, what was wanted
/// and what is there; Error(environment) for a file that cannot be read.
[[nodiscard]] Weights load_weights(const std::vector<std::filesystem::path>& files);
[[nodiscard]] inline Weights load_weights(const std::filesystem::path& file) {
  return load_weights(std::vector<std::filesystem::path>{file});
}

/// Where a program finds a file that `teeny package --data` brought along: data/NAME of its
/// package; outside of a package NAME itself, as it stands.
[[nodiscard]] std::filesystem::path data_path(std::string_view name);

}  // namespace teeny
