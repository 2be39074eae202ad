#pragma once

// Launch arguments against a kernel's parameters: types when the program is compiled, ranges (and
// what an AnyTile parameter takes) when it runs.

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "teeny/lang/instance.hpp"
#include "teeny/lang/kernel_traits.hpp"

namespace teeny {

/// An address in the memory of the device that a kernel is launched on. T may be const.
template <class T>
struct DevicePtr {
  using element_type = T;
  u64 address = 0;
};

/// What may be given for a Ptr<T> parameter. Specialise with is_pointer = true, `element_type`
/// (const when it may only be read) and `static u64 address(const Arg&)`.
template <class Arg>
struct device_pointer_traits {
  static constexpr bool is_pointer = false;
};
template <class T>
struct device_pointer_traits<DevicePtr<T>> {
  static constexpr bool is_pointer = true;
  using element_type = T;
  static u64 address(const DevicePtr<T>& pointer) { return pointer.address; }
};

// Never defined: named in a compiler's messages.
template <int Number>
struct argument;
template <class T>
struct wanted;
template <class T>
struct found;
template <class Argument, class Wanted, class Found>
struct launch_argument_does_not_fit;
template <class Argument, class Wanted, class Found>
struct launch_argument_is_read_only_but_the_kernel_writes_there;
template <int Wanted, int Found>
struct launch_wants_another_number_of_arguments;

namespace lang {

template <class Param, class Arg>
struct ArgumentRules {  // AnyTile: checked when launched
  static constexpr bool fits = device_pointer_traits<Arg>::is_pointer || Literal<Arg>;
  static constexpr bool would_break_const = false;
};
template <class T, class Arg>
struct ArgumentRules<Tile<T>, Arg> {
  static constexpr bool scalar() {
    if constexpr (Literal<Arg>) return literal_fits<T, Arg>;
    return false;
  }
  static constexpr bool fits = scalar();
  static constexpr bool would_break_const = false;
};
template <class T, class Arg>
  requires device_pointer_traits<Arg>::is_pointer
struct ArgumentRules<Ptr<T>, Arg> {
  using element = typename device_pointer_traits<Arg>::element_type;
  static constexpr bool same = std::is_same_v<std::remove_const_t<element>, std::remove_const_t<T>>;
  static constexpr bool would_break_const = same && std::is_const_v<element> && !std::is_const_v<T>;
  static constexpr bool fits = same && !would_break_const;
};
template <class T, class Arg>
  requires(!device_pointer_traits<Arg>::is_pointer)
struct ArgumentRules<Ptr<T>, Arg> {
  static constexpr bool fits = false;
  static constexpr bool would_break_const = false;
};

template <int Number, class Param, class Arg>
constexpr void check_argument() {
  using Rules = ArgumentRules<Param, Arg>;
  if constexpr (Rules::would_break_const) {
    static_assert(sizeof(launch_argument_is_read_only_but_the_kernel_writes_there<
                         argument<Number>, wanted<Param>, found<Arg>>) != 0);
  } else if constexpr (!Rules::fits) {
    static_assert(
        sizeof(launch_argument_does_not_fit<argument<Number>, wanted<Param>, found<Arg>>) != 0);
  }
}

template <class... P, class... A, std::size_t... I>
constexpr void check_each(Parameters<P...>, Parameters<A...>, std::index_sequence<I...>) {
  (check_argument<static_cast<int>(I) + 1, P, A>(), ...);
}

/// One argument, its C++ type set aside.
class LaunchArgument {
 public:
  template <class Arg>
  explicit LaunchArgument(const Arg& value) : number_(false) {
    using Traits = device_pointer_traits<Arg>;
    if constexpr (Traits::is_pointer) {
      using Element = typename Traits::element_type;
      pointer_ = true;
      read_only_ = std::is_const_v<Element>;
      dtype_ = dtype_of<std::remove_const_t<Element>>;
      address_ = Traits::address(value);
    } else {
      number_ = Number(value);
    }
  }
  /// The 64 bits passed for a parameter of this type. Error(usage) naming kernel and argument (from
  /// 1) when the value does not fit.
  [[nodiscard]] u64 bits(const ir::Type& parameter, std::size_t number,
                         const KernelInstance& kernel) const;

 private:
  bool pointer_ = false;
  bool read_only_ = false;
  DType dtype_ = DType::boolean;
  u64 address_ = 0;
  Number number_;
};

std::vector<u64> pack(const KernelInstance& kernel, const LaunchArgument* arguments,
                      std::size_t count);

}  // namespace lang

/// Whether an argument of type Arg may be given for a parameter of type Param.
template <class Param, class Arg>
inline constexpr bool argument_matches = lang::ArgumentRules<Param, std::remove_cvref_t<Arg>>::fits;

/// A compile error that names the first argument that does not fit kernel K: its number from 1,
/// what is wanted and what was found.
template <class K, class... Args>
constexpr void check_arguments() {
  using Ps = typename lang::KernelTraits<K>::parameters;
  if constexpr (Ps::count != sizeof...(Args)) {
    static_assert(
        sizeof(launch_wants_another_number_of_arguments<static_cast<int>(Ps::count),
                                                        static_cast<int>(sizeof...(Args))>) != 0);
  } else {
    lang::check_each(Ps{}, lang::Parameters<std::remove_cvref_t<Args>...>{},
                     std::index_sequence_for<Args...>{});
  }
}

/// One 64-bit slot for each parameter, the value in its low bytes (little-endian machines read it
/// in place). Error(usage) when a value is out of its parameter's range.
template <class... Args>
[[nodiscard]] std::vector<u64> pack_arguments(const KernelInstance& kernel, const Args&... args) {
  const std::vector<lang::LaunchArgument> list = {lang::LaunchArgument(args)...};
  return lang::pack(kernel, list.data(), list.size());
}

}  // namespace teeny
