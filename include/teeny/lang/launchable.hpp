#pragma once

// From a kernel object to what registry, cache and launch work with.

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "teeny/lang/instance.hpp"
#include "teeny/lang/kernel_traits.hpp"
#include "teeny/lang/members.hpp"

namespace teeny {

namespace lang {

template <class K>
concept HasVariants = requires {
  { K::variants() } -> std::convertible_to<std::vector<K>>;
};

/// A compile error unless all instances of K that can be launched are known without running.
template <class K>
constexpr void check_variants() {
  static_assert(std::is_empty_v<K> || HasVariants<K>,
                "this kernel has run-time members but declares no variants, so it could not be "
                "compiled ahead of time: give it `static std::vector<K> variants()`, or make the "
                "members template parameters");
  static_assert(!std::is_empty_v<K> || HasVariants<K> || std::is_default_constructible_v<K>,
                "a kernel without members must be default constructible");
}

/// Names from a mangled type name.
struct TypeName {
  std::string readable;  ///< demangled
  std::string name;      ///< the type's own identifier; "lambda" for a closure or an unnamed type
  bool nameable = true;  ///< no closure, unnamed type or unnamed namespace anywhere in it
};
TypeName parse_type_name(const char* mangled);

}  // namespace lang

/// The kernel, its type erased. Nothing is recorded yet.
template <class K>
[[nodiscard]] KernelInstance instance_of(const K& kernel) {
  const char* const mangled = typeid(K).name();
  lang::TypeName type = lang::parse_type_name(mangled);
  KernelInstance instance;
  instance.type = mangled;
  instance.readable = std::move(type.readable);
  instance.name = std::move(type.name);
  instance.nameable = type.nameable;
  instance.members = lang::members_text(kernel);
  instance.signature = lang::signature_of(kernel);
  instance.trace = [kernel, name = instance.name] { return lang::record_kernel(kernel, name); };
  return instance;
}

namespace lang {

template <class K>
std::vector<KernelInstance> instances_of_variants() {
  std::vector<KernelInstance> instances;
  if constexpr (HasVariants<K>) {
    for (const K& kernel : K::variants()) instances.push_back(instance_of(kernel));
  } else if constexpr (std::is_empty_v<K>) {
    instances.push_back(instance_of(K{}));
  }
  return instances;
}

template <class K>
struct Registration {
  Registration() { Registry::instance().add(typeid(K).name(), &instances_of_variants<K>); }
};

// Exists, and runs before main, in every program that instantiates ensure_registered<K>.
template <class K>
inline const Registration<K> registration{};

}  // namespace lang

/// Called by whatever launches or compiles a K: puts K in the Registry of every program that holds
/// the call, whether or not it is reached.
template <class K>
void ensure_registered() {
  lang::check_variants<K>();
  static_cast<void>(&lang::registration<K>);
}

}  // namespace teeny
