#pragma once

#include <functional>
#include <string>
#include <vector>

#include "teeny/ir/kernel.hpp"

namespace teeny {

/// One kernel, its C++ type erased: what registry, cache, launch and program flags work with.
struct KernelInstance {
  std::string type;      ///< mangled typeid(K).name(): the same from g++ and clang
  std::string readable;  ///< demangled, for lists: "VectorAdd<float, 1024>"
  std::string name;      ///< an identifier: "VectorAdd"; the kernel's entry symbol
  std::string members;   ///< canonical text of its run-time members, "" when it has none
  bool nameable =
      true;  ///< false for closures and types in unnamed namespaces: no record on a board
  std::vector<ir::Type> signature;    ///< parameter types in order
  std::function<ir::Kernel()> trace;  ///< records it, verified

  /// What a record on the board is found by: type, and members after a '|'.
  [[nodiscard]] std::string record_key() const {
    return members.empty() ? type : type + "|" + members;
  }
};

/// Every kernel type that appears in a launch or compile expression of this program, with its
/// declared variants; filled before main by template instantiation.
class Registry {
 public:
  static Registry& instance();
  /// `variants` is called at most once, when the list is first asked for.
  void add(std::string type, std::function<std::vector<KernelInstance>()> variants);
  /// All instances, sorted by record key; of those that are not nameable, several may have one key.
  [[nodiscard]] const std::vector<KernelInstance>& kernels();
  /// The declared variant with this record key (the first one), or nullptr.
  [[nodiscard]] const KernelInstance* find(const std::string& record_key);

 private:
  std::vector<std::pair<std::string, std::function<std::vector<KernelInstance>()>>> pending_;
  std::vector<KernelInstance> kernels_;
};

}  // namespace teeny
