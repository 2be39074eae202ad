#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/ptx_version.hpp"

namespace teeny {

/// A CUDA compute capability as a value: major.minor and the suffix of architecture-specific ("a")
/// or family-specific ("f") targets. One table (capability.cpp) holds all that is known of each.
class Capability {
 public:
  enum class Suffix : char { none = 0, arch = 'a', family = 'f' };

  constexpr Capability(int major, int minor, Suffix suffix = Suffix::none) noexcept
      : major_(major), minor_(minor), suffix_(suffix) {}

  static const Capability sm_72, sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_103,
      sm_110, sm_120, sm_121;

  /// Accepts sm_87, 87, 8.7 (and 90a, sm_100f, 10.0, 12.1); nullopt for text of another shape.
  /// Whether the capability is *known* is `find_capability`'s question.
  [[nodiscard]] static std::optional<Capability> parse(std::string_view text) noexcept;

  [[nodiscard]] constexpr int major() const noexcept { return major_; }
  [[nodiscard]] constexpr int minor() const noexcept { return minor_; }
  [[nodiscard]] constexpr Suffix suffix() const noexcept { return suffix_; }
  /// 87, 90, 110: major * 10 + minor.
  [[nodiscard]] constexpr int number() const noexcept { return major_ * 10 + minor_; }
  [[nodiscard]] std::string name() const;  ///< "sm_87", "sm_90a"
  friend constexpr auto operator<=>(const Capability&, const Capability&) = default;

 private:
  int major_;
  int minor_;
  Suffix suffix_;
};

inline constexpr Capability Capability::sm_72{7, 2};
inline constexpr Capability Capability::sm_75{7, 5};
inline constexpr Capability Capability::sm_80{8, 0};
inline constexpr Capability Capability::sm_86{8, 6};
inline constexpr Capability Capability::sm_87{8, 7};
inline constexpr Capability Capability::sm_89{8, 9};
inline constexpr Capability Capability::sm_90{9, 0};
inline constexpr Capability Capability::sm_90a{9, 0, Capability::Suffix::arch};
inline constexpr Capability Capability::sm_100{10, 0};
inline constexpr Capability Capability::sm_103{10, 3};
inline constexpr Capability Capability::sm_110{11, 0};
inline constexpr Capability Capability::sm_120{12, 0};
inline constexpr Capability Capability::sm_121{12, 1};

/// What is known of one capability.
struct CapabilityInfo {
  Capability capability;
  PtxVersion ptx_floor;          ///< lowest .version whose .target may name it
  int max_shared_per_block_kib;  ///< what a block may opt in to
  bool integrated;               ///< a Jetson-only chip: machine code must match exactly
  std::string_view chips;        ///< for messages
};

/// The row of the table, or nullptr for a capability teeny does not compile for.
[[nodiscard]] const CapabilityInfo* find_capability(Capability capability) noexcept;
/// Every capability teeny compiles for, ascending.
[[nodiscard]] const std::vector<CapabilityInfo>& known_capabilities();
/// `parse` + `find`: Error(usage) naming `option`, what was given, the known names and, for a
/// number in between, the nearest lower one whose PTX would load.
[[nodiscard]] Capability require_capability(std::string_view option, std::string_view text);

}  // namespace teeny
