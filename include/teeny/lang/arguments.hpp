#pragma once

// Launch arguments against a kernel's parameters: types when the program is compiled, ranges (and
// what an AnyTile parameter takes) when it runs.

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

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

/// Never returns: Error(usage) naming kernel, argument (from 1), what is wanted and the number.
[[noreturn]] void refuse_number(const Number& found, DType wanted, std::size_t number,
                                const KernelInstance& kernel);

template <class L>
constexpr bool is_negative(L value) {
  if constexpr (std::is_signed_v<L>) return value < 0;
  return false;
}

/// Whether an integer type holds an integer.
template <class T, class L>
constexpr bool holds(L value) {
  const auto narrow = static_cast<T>(value);
  return static_cast<L>(narrow) == value && is_negative(narrow) == is_negative(value);
}

/// The 64 bits passed for a number where the kernel has a Scalar<T>: the value in the low bytes.
template <class T, class L>
u64 scalar_bits(const L& value, std::size_t number, const KernelInstance& kernel) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (!holds<T>(value)) refuse_number(Number(value), dtype_of<T>, number, kernel);
    return static_cast<u64>(static_cast<std::make_unsigned_t<T>>(value));
  } else if constexpr (std::is_same_v<T, L>) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  } else if constexpr (std::is_same_v<L, Infinity>) {
    return Number(value).bits(dtype_of<T>);
  } else if constexpr (is_float_literal<L>) {
    return encode(dtype_of<T>, static_cast<double>(value));
  } else if constexpr (std::is_signed_v<L>) {
    return encode(dtype_of<T>, static_cast<i64>(value));
  } else {
    return encode(dtype_of<T>, static_cast<u64>(value));
  }
}

/// The 64 bits passed for parameter `number` (from 1) of type Param.
template <class Param, class Arg>
u64 argument_bits(const Arg& value, std::size_t number, const KernelInstance& kernel) {
  if constexpr (!ArgumentRules<Param, Arg>::fits) {
    return 0;  // check_arguments has said so; not twice
  } else if constexpr (Dynamic<Param>) {
    return LaunchArgument(value).bits(kernel.signature[number - 1], number, kernel);
  } else if constexpr (device_pointer_traits<Arg>::is_pointer) {
    return device_pointer_traits<Arg>::address(value);
  } else {
    return scalar_bits<typename Param::element>(value, number, kernel);
  }
}

template <class... P, class... A, std::size_t... I>
void fill_slots([[maybe_unused]] u64* slots, [[maybe_unused]] const KernelInstance& kernel,
                Parameters<P...>, std::index_sequence<I...>, const A&... args) {
  ((slots[I] = argument_bits<P, A>(args, I + 1, kernel)), ...);
}

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

/// Arguments of one launch of a K as the launch ABI wants them: one 64-bit slot for each parameter,
/// the value in its low bytes (little-endian machines read it in place). Nothing is allocated.
template <class K, class... Args>
class PackedArguments {
 public:
  /// Error(usage) naming kernel and argument when a value is out of its parameter's range, or does
  /// not fit what an AnyTile parameter is.
  explicit PackedArguments(const KernelInstance& kernel, const Args&... args) {
    using Ps = typename lang::KernelTraits<K>::parameters;
    if constexpr (Ps::count == sizeof...(Args)) {
      lang::fill_slots(slots_.data(), kernel, Ps{}, std::index_sequence_for<Args...>{}, args...);
    }
    for (std::size_t i = 0; i < sizeof...(Args); ++i) values_[i] = &slots_[i];
  }
  PackedArguments(const PackedArguments&) = delete;
  PackedArguments& operator=(const PackedArguments&) = delete;

  /// values()[i] points at argument i.
  [[nodiscard]] const void* const* values() const noexcept { return values_.data(); }
  [[nodiscard]] const u64& slot(std::size_t index) const { return slots_.at(index); }

 private:
  // One more than there are: an array of none has no data.
  std::array<u64, sizeof...(Args) + 1> slots_;
  std::array<const void*, sizeof...(Args) + 1> values_;
};

}  // namespace teeny
