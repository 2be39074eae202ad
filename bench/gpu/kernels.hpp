#pragma once

#include "teeny/teeny.hpp"

namespace bench {

using teeny::f32;
using teeny::i32;
using teeny::Int;
using teeny::Ptr;
using teeny::Scalar;

/// As little as a kernel can do: what is left is the launch.
struct Tiny {
  static constexpr teeny::KernelOptions options{.num_warps = 1};
  void operator()(Ptr<i32> out, Int value) const { teeny::store(out, value); }
};

/// The same with as many arguments as a layer of a model has.
struct Wide {
  static constexpr teeny::KernelOptions options{.num_warps = 1};
  void operator()(Ptr<i32> out, Ptr<const f32> a, Ptr<const f32> b, Ptr<const f32> c, Int n, Int m,
                  Int k, Scalar<f32> scale) const {
    using namespace teeny;
    auto sum = load(a) + load(b) + load(c);
    store(out, n + m + k + cast<i32>(sum * scale));
  }
};

/// The same with run-time members, of which there are as many variants as of a matrix product.
struct Chosen {
  teeny::DType dtype;
  int rows, columns;
  bool relu;

  static std::vector<Chosen> variants() {
    std::vector<Chosen> all;
    for (const teeny::DType dtype : {teeny::DType::f32, teeny::DType::f16, teeny::DType::bf16}) {
      for (const int rows : {16, 32, 64, 128}) {
        all.push_back({dtype, rows, 64, false});
        all.push_back({dtype, rows, 64, true});
      }
    }
    return all;
  }
  [[nodiscard]] teeny::KernelOptions options() const { return {.num_warps = 1}; }
  void operator()(Ptr<i32> out, Int value) const {
    using namespace teeny;
    store(out, value + rows * columns + (relu ? 1 : 0) + static_cast<int>(dtype));
  }
};

/// out[i] = in[i] * factor + 1 for a block of 1024.
struct Scale {
  void operator()(Ptr<const i32> in, Ptr<i32> out, Int factor, Int n) const {
    using namespace teeny;
    auto i = program_id(0) * 1024 + arange<1024>();
    store(out + i, load(in + i, i < n) * factor + 1, i < n);
  }
};

}  // namespace bench
