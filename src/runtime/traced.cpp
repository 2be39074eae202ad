#include "traced.hpp"

#include <algorithm>
#include <utility>

#include "teeny/ir/fingerprint.hpp"

namespace teeny::detail {

std::string label(const KernelInstance& instance) {
  return instance.readable + instance.members;  // members bring their braces
}

Traced trace(const KernelInstance& instance) {
  ir::Kernel kernel = instance.trace();
  std::string fingerprint = ir::fingerprint(kernel);
  return {&instance, std::move(kernel), std::move(fingerprint)};
}

std::vector<Traced> trace_all(std::vector<Error>& errors) {
  std::vector<Traced> traced;
  for (const KernelInstance* instance : Registry::instance().kernels()) {
    try {
      Traced next = trace(*instance);
      const bool again = std::any_of(traced.begin(), traced.end(), [&](const Traced& one) {
        return one.fingerprint == next.fingerprint &&
               one.instance->record_key() == instance->record_key();
      });
      if (!again) traced.push_back(std::move(next));
    } catch (const Error& error) {
      errors.push_back(error);
    }
  }
  return traced;
}

}  // namespace teeny::detail
