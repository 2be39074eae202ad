#pragma once

#include <string>
#include <vector>

#include "teeny/base/error.hpp"
#include "teeny/ir/kernel.hpp"
#include "teeny/lang/instance.hpp"

namespace teeny::detail {

/// A kernel of this program, traced.
struct Traced {
  const KernelInstance* instance;
  ir::Kernel kernel;
  std::string fingerprint;
};

/// Its C++ type, and its members in braces: what messages call a kernel.
[[nodiscard]] std::string label(const KernelInstance& instance);

/// Error as the kernel's own code gives it.
[[nodiscard]] Traced trace(const KernelInstance& instance);

/// Every kernel of this program, by record key; those that do not trace go to `errors`. What two
/// types without a name of their own record alike is there once.
[[nodiscard]] std::vector<Traced> trace_all(std::vector<Error>& errors);

}  // namespace teeny::detail
