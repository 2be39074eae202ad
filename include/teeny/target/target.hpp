#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "teeny/target/capability.hpp"
#include "teeny/target/driver.hpp"
#include "teeny/target/ptx_version.hpp"

namespace teeny {

/// What a kernel is compiled for on a CUDA device.
struct CudaTarget {
  Capability capability;
  /// Absent: the lowest version that the target and the kernel's instructions need; the artifact
  /// records which one that was.
  std::optional<PtxVersion> ptx_version = {};
  std::optional<DriverVersion> driver = {};  ///< the board's driver, where it is known
  std::optional<int> max_registers = {};
  bool line_info = false;
  int opt_level = 2;  ///< 0 to 3
};

/// What a kernel is compiled for on a CPU: an LLVM triple and processor. "host" is resolved to a
/// concrete processor before it gets here (`host_cpu_target`), so that keys mean the same anywhere.
struct CpuTarget {
  std::string triple;  ///< "x86_64-linux-gnu", "aarch64-linux-gnu"
  std::string cpu;     ///< "x86-64-v3", "cortex-a78ae"
  /// Items joined by +, each a name or -name: "+dotprod+fp16fml", "+dotprod+-sve" (`feature_list`
  /// takes it apart); empty: the processor's own.
  std::string features;
  int opt_level = 2;
};

/// One compilation target. `Target{Capability::sm_87}` is the short form for CUDA.
class Target {
 public:
  Target(Capability capability) : value_(CudaTarget{capability}) {}  // NOLINT: the short form
  Target(Capability capability, PtxVersion version) : value_(CudaTarget{capability, version}) {}
  Target(CudaTarget cuda) : value_(std::move(cuda)) {}  // NOLINT
  Target(CpuTarget cpu) : value_(std::move(cpu)) {}     // NOLINT

  [[nodiscard]] bool is_cuda() const noexcept { return std::holds_alternative<CudaTarget>(value_); }
  [[nodiscard]] bool is_cpu() const noexcept { return !is_cuda(); }
  [[nodiscard]] const CudaTarget& cuda() const { return std::get<CudaTarget>(value_); }
  [[nodiscard]] const CpuTarget& cpu() const { return std::get<CpuTarget>(value_); }
  [[nodiscard]] CudaTarget& cuda() { return std::get<CudaTarget>(value_); }
  [[nodiscard]] CpuTarget& cpu() { return std::get<CpuTarget>(value_); }

  /// First part of an artifact's file name: "sm_87", "sm_90a" or "cpu".
  [[nodiscard]] std::string short_name() const;
  /// Every field in one fixed order, "key=value;" each: part of the artifact's key and the form in
  /// which a target travels to teenyc. `parse_canonical` reads it back.
  [[nodiscard]] std::string canonical() const;
  /// Error(input) for any other text.
  [[nodiscard]] static Target parse_canonical(std::string_view text);

 private:
  std::variant<CudaTarget, CpuTarget> value_;
};

/// The features as LLVM wants them: {"+dotprod", "-sve"}. Error(usage) for text of another shape.
[[nodiscard]] std::vector<std::string> feature_list(std::string_view features);

/// A processor that teeny compiles for, and the triple it belongs to.
struct KnownCpu {
  std::string_view name;
  std::string_view triple;
};
[[nodiscard]] const std::vector<KnownCpu>& known_cpus();
/// "aarch64-linux-gnu" for it and for aarch64-unknown-linux-gnu, likewise x86_64; else nullopt.
[[nodiscard]] std::optional<std::string> normal_triple(std::string_view triple);

/// The processor of this machine as a portable level: x86-64-v4, x86-64-v3 (Error(environment)
/// below that: kernels need FMA), or on AArch64 the name for its part number, else "generic".
[[nodiscard]] CpuTarget host_cpu_target();

/// Whether PTX of `target`/`version` may be written at all: Error(usage) naming `option`, the
/// floor (with the chip) or the ceiling (with the driver), and the versions that work.
void check_ptx_version(std::string_view option, Capability target, PtxVersion version,
                       std::optional<DriverVersion> driver);

}  // namespace teeny
