#pragma once

#include <deque>
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
/// declared variants; filled before main by template instantiation, and by shared objects that are
/// loaded later (which must stay: their kernels' functions are called). Thread-safe.
class Registry {
 public:
  static Registry& instance();
  /// `variants` is called once, when the list is next asked for; again only where it threw.
  void add(std::string type, std::function<std::vector<KernelInstance>()> variants);
  /// All instances known by now, sorted by record key; of those that are not nameable, several may
  /// have one key. What the pointers point to lives as long as the process. Whatever a kernel's
  /// `variants` throws.
  [[nodiscard]] std::vector<const KernelInstance*> kernels();
  /// The declared variant with this record key (the first one), or nullptr.
  [[nodiscard]] const KernelInstance* find(const std::string& record_key);

 private:
  void take_pending();
  [[nodiscard]] std::vector<const KernelInstance*>::const_iterator place_of(
      const std::string& record_key) const;

  std::deque<std::pair<std::string, std::function<std::vector<KernelInstance>()>>> pending_;
  std::deque<KernelInstance> instances_;        // which stay where they are
  std::vector<const KernelInstance*> kernels_;  // sorted
};

}  // namespace teeny
