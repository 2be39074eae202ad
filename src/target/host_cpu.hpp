#pragma once

#include <string_view>

namespace teeny::detail {

/// What decides the portable level of an x86-64 processor; avx512 stands for F, BW, CD, DQ and VL.
struct X86Features {
  bool avx2 = false;
  bool fma = false;
  bool bmi = false;
  bool bmi2 = false;
  bool f16c = false;
  bool lzcnt = false;
  bool movbe = false;
  bool avx512 = false;
};

/// "x86-64-v4", "x86-64-v3", or empty below that.
[[nodiscard]] std::string_view x86_level(const X86Features& has) noexcept;

/// LLVM's name for the AArch64 processor that the text of /proc/cpuinfo describes; "generic" for
/// one that is unknown, and for a mixture.
[[nodiscard]] std::string_view arm_cpu(std::string_view cpuinfo) noexcept;

}  // namespace teeny::detail
