#pragma once

// What the language knows of a kernel from its type: parameters, options, signature.

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "teeny/lang/tile.hpp"

namespace teeny {

namespace lang {

template <class... P>
struct Parameters {
  static constexpr std::size_t count = sizeof...(P);
};

template <class Call>
struct CallOf {
  static constexpr bool is_const = false;
  using parameters = Parameters<>;
  using result = void;
};
template <class K, class R, class... P>
struct CallOf<R (K::*)(P...) const> {
  static constexpr bool is_const = true;
  using parameters = Parameters<std::remove_cvref_t<P>...>;
  using result = R;
};
template <class K, class R, class... P>
struct CallOf<R (K::*)(P...) const noexcept> : CallOf<R (K::*)(P...) const> {};

template <class K>
concept HasOneCall = requires { &K::operator(); };

template <class P>
struct is_parameter : std::is_same<P, AnyTile> {};
template <class T>
struct is_parameter<Tile<T>> : std::true_type {};
template <class T>
struct is_parameter<Ptr<T>> : std::true_type {};

template <class Ps>
struct ParameterRules;
template <class... P>
struct ParameterRules<Parameters<P...>> {
  static constexpr bool all_known = (is_parameter<P>::value && ...);
  static constexpr bool any_dynamic = (std::is_same_v<P, AnyTile> || ...);
};

template <class K>
concept HasSignature = requires(const K& k) {
  { k.signature() } -> std::convertible_to<std::vector<ir::Type>>;
};

/// Parameter types of kernel K, which is checked to be one.
template <class K>
struct KernelTraits {
  static_assert(HasOneCall<K>,
                "a kernel is a function object with one operator() const, not overloaded, without "
                "auto parameters: make the struct a template instead");
  template <class X, bool = HasOneCall<X>>
  struct Call : CallOf<void> {};
  template <class X>
  struct Call<X, true> : CallOf<decltype(&X::operator())> {};

  static_assert(!HasOneCall<K> || Call<K>::is_const, "a kernel's operator() is const");
  static_assert(std::is_void_v<typename Call<K>::result>,
                "a kernel returns void: results are stored through Ptr<T> parameters");
  using parameters = typename Call<K>::parameters;
  static_assert(ParameterRules<parameters>::all_known,
                "a kernel's parameters are Ptr<T>, Ptr<const T>, Scalar<T> (Int) or AnyTile");
  static constexpr bool dynamic = ParameterRules<parameters>::any_dynamic;
  static_assert(!dynamic || HasSignature<K>,
                "a kernel with AnyTile parameters needs `std::vector<ir::Type> signature() const`: "
                "the type of each parameter");
};

template <class... P>
std::vector<ir::Type> types_of(Parameters<P...>) {
  return {P::type()...};
}

template <class K>
KernelOptions options_of(const K& kernel) {
  if constexpr (requires {
                  { kernel.options() } -> std::convertible_to<KernelOptions>;
                }) {
    return kernel.options();
  } else if constexpr (requires {
                         { kernel.options } -> std::convertible_to<KernelOptions>;
                       }) {
    return kernel.options;
  } else {
    return {};
  }
}

/// Error(input) unless the kernel states one type for each of its parameters.
void require_signature_length(const std::vector<ir::Type>& signature, std::size_t parameters);

template <class K>
std::vector<ir::Type> signature_of(const K& kernel) {
  using Traits = KernelTraits<K>;
  if constexpr (Traits::dynamic) {
    std::vector<ir::Type> signature = kernel.signature();
    require_signature_length(signature, Traits::parameters::count);
    return signature;
  } else {
    return types_of(typename Traits::parameters{});
  }
}

template <class P>
P parameter_from(const AnyTile& value) {
  if constexpr (Dynamic<P>) {
    return value;
  } else {
    return P(value);
  }
}

template <class K, class... P, std::size_t... I>
void call_kernel(const K& kernel, const Tiles& values, Parameters<P...>,
                 std::index_sequence<I...>) {
  kernel(parameter_from<P>(values[I])...);
}

/// Runs `call` on the parameters while recording. Errors are prefixed with the kernel's name.
ir::Kernel record_kernel(const std::string& name, const std::vector<ir::Type>& signature,
                         const KernelOptions& options,
                         const std::function<void(const Tiles&)>& call);

/// The tile IR of a kernel, verified, under the given name (an identifier).
template <class K>
ir::Kernel record_kernel(const K& kernel, const std::string& name) {
  using Ps = typename KernelTraits<K>::parameters;
  return record_kernel(name, signature_of(kernel), options_of(kernel), [&](const Tiles& values) {
    call_kernel(kernel, values, Ps{}, std::make_index_sequence<Ps::count>{});
  });
}

}  // namespace lang
}  // namespace teeny
