#include "teeny/target/board.hpp"

#include "loading_rules.hpp"

namespace teeny {

namespace {

std::optional<PtxVersion> ceiling_of(const BoardGeneration& generation) {
  if (generation.ptx_ceiling) return generation.ptx_ceiling;
  if (generation.driver) return ptx_ceiling(*generation.driver);
  return std::nullopt;
}

// The version that the artifact has at least, when none was asked for.
std::optional<PtxVersion> version_of(const CudaTarget& target) {
  if (target.ptx_version) return target.ptx_version;
  if (const auto* info = find_capability(target.capability)) return info->ptx_floor;
  return std::nullopt;
}

std::optional<std::string> cuda_conflict(const Board& board, const CudaTarget& target) {
  if (!board.capability) {
    return "wanted a CUDA device of capability " + target.capability.name() + ", board " +
           board.full_name() + " has none";
  }
  const std::string holder = "board " + board.full_name();
  std::string why;
  if (!detail::capability_takes_ptx(*board.capability, target.capability, holder, &why)) return why;
  const auto version = version_of(target);
  const BoardGeneration& generation = board.chosen();
  const std::string driver =
      generation.driver ? "driver " + generation.driver->name() : "no known driver";
  if (!version || detail::version_loads(ceiling_of(generation), target.capability, *version, holder,
                                        driver, &why)) {
    return std::nullopt;
  }
  for (const BoardGeneration& later : board.generations) {
    const auto ceiling = ceiling_of(later);
    if (ceiling && *ceiling >= *version) {
      return why + " (" + board.name + "@" + later.name + " takes it)";
    }
  }
  return why;
}

}  // namespace

std::optional<DeviceFacts> device_facts(const Board& board) {
  if (!board.capability || !board.chosen().driver) return std::nullopt;
  return DeviceFacts{*board.capability, *board.chosen().driver, board.integrated,
                     "board " + board.full_name()};
}

std::optional<std::string> conflict(const Board& board, const Target& target) {
  if (target.is_cuda()) return cuda_conflict(board, target.cuda());
  const auto wanted = normal_triple(target.cpu().triple).value_or(target.cpu().triple);
  const auto found = normal_triple(board.triple).value_or(board.triple);
  if (wanted == found) return std::nullopt;
  return "wanted a processor of " + wanted + ", board " + board.full_name() + " has " + found;
}

std::optional<std::string> idle_notice(const Board& board, const Target& target) {
  if (!target.is_cuda() || !board.capability || conflict(board, target)) return std::nullopt;
  const Capability capability = target.cuda().capability;
  if (capability.number() >= board.capability->number()) return std::nullopt;
  return "kernels for " + capability.name() + " run on " + board.full_name() + " (" +
         board.capability->name() +
         "), but its newer Tensor Cores stay idle; capability=" + board.capability->name() +
         " compiles for them";
}

}  // namespace teeny
