#include "context.hpp"
#include "device_state.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/runtime/launch.hpp"

namespace teeny::detail {

std::filesystem::path compile(const KernelInstance& instance, const Target& target, bool force) {
  check_declared(instance);
  if (target.is_cuda()) {
    const CudaTarget& cuda = target.cuda();
    const CapabilityInfo* known = find_capability(cuda.capability);
    if (known == nullptr) {
      static_cast<void>(
          require_capability("Target", cuda.capability.name()));  // says which are known
    }
    if (cuda.ptx_version) {
      check_ptx_version("Target", cuda.capability, *cuda.ptx_version, cuda.driver);
    }
  }
  return compile_to_cache(instance.trace(), target, force, cache_directory());
}

}  // namespace teeny::detail
