#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace teeny {

/// A PTX ISA version, the `.version` line of a PTX file.
struct PtxVersion {
  int major = 0;
  int minor = 0;

  /// Accepts 82 and 8.2 (and 90, 9.0); nullopt for text of another shape.
  [[nodiscard]] static std::optional<PtxVersion> parse(std::string_view text) noexcept;
  [[nodiscard]] int number() const noexcept { return major * 10 + minor; }
  [[nodiscard]] std::string name() const;  ///< "8.2"
  /// Whether NVIDIA published this version (there is no 7.9 and no 8.9).
  [[nodiscard]] bool published() const noexcept;
  friend constexpr auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};

}  // namespace teeny
