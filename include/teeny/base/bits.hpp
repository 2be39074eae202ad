#pragma once

#include <cstring>
#include <type_traits>

namespace teeny {

/// The bytes of `value` read as a `To` of the same size. The standard's own is not in libstdc++ 10,
/// which boards of JetPack 5's age have.
template <typename To, typename From>
[[nodiscard]] inline To bit_cast(const From& value) noexcept {
  static_assert(sizeof(To) == sizeof(From), "both types have the same size");
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

}  // namespace teeny
