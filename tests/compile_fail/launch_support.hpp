#pragma once

#include "teeny/kernel.hpp"
#include "teeny/lang/arguments.hpp"

struct Add {
  void operator()(teeny::Ptr<const float> a, teeny::Ptr<const float> b, teeny::Ptr<float> out,
                  teeny::Int n) const {
    const auto i = teeny::program_id(0) * 64 + teeny::arange<64>();
    const auto inside = i < n;
    teeny::store(out + i, teeny::load(a + i, inside) + teeny::load(b + i, inside), inside);
  }
};

// As launch does.
template <class K, class... Args>
void launch(const K& kernel, const Args&... args) {
  teeny::ensure_registered<K>();
  teeny::check_arguments<K, Args...>();
  const teeny::PackedArguments<K, Args...> packed(teeny::instance_of(kernel), args...);
  static_cast<void>(packed.values());
}
