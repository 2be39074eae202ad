#pragma once

#include <string>
#include <utility>
#include <vector>

#include "teeny/base/dtype.hpp"
#include "teeny/base/tensor_type.hpp"
#include "teeny/runtime/declared_weights.hpp"

namespace teeny {

namespace detail {
/// Compares the *.safetensors files of a directory with what a program declares: each weight in one
/// of them, of its dtype (else finding_code::dtype) and shape (else finding_code::incomplete).
/// Tensors that nobody declared are let be.
[[nodiscard]] std::vector<Finding> check_weights(const std::vector<WeightNeed>& needs,
                                                 const std::filesystem::path& directory);
}  // namespace detail

/// Declares a tensor that the program reads from a weights file; at namespace scope, so that it is
/// known without a run, travels in the package, and is compared with the files there:
///
///   const teeny::Weight<f32> bias{"layer1.bias", {64}};
///   ...
///   const auto weights = teeny::load_weights(teeny::data_path("model.safetensors"));
///   const auto buffer = weights.buffer(device, bias);
template <Element T>
class Weight {
 public:
  using element = T;

  Weight(std::string name, std::vector<u64> shape)
      : name_(std::move(name)), type_{dtype_of<T>, std::move(shape)} {
    detail::declare_weight({name_, type_}, &detail::check_weights);
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const TensorType& type() const noexcept { return type_; }
  [[nodiscard]] const std::vector<u64>& shape() const noexcept { return type_.shape; }

 private:
  std::string name_;
  TensorType type_;
};

}  // namespace teeny
