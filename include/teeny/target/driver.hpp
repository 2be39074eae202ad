#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "teeny/target/ptx_version.hpp"

namespace teeny {

/// The CUDA version of a driver, as cuDriverGetVersion says it (12060 is 12.6).
struct DriverVersion {
  int major = 0;
  int minor = 0;

  [[nodiscard]] static std::optional<DriverVersion> parse(
      std::string_view text) noexcept;  ///< "12.6"
  [[nodiscard]] static DriverVersion from_cuda(int version) noexcept {
    return {version / 1000, version % 1000 / 10};
  }
  [[nodiscard]] std::string name() const;
  friend constexpr auto operator<=>(const DriverVersion&, const DriverVersion&) = default;
};

/// Highest PTX ISA that a driver of this version loads; a version between two rows takes the lower
/// row, one above the table takes the last row. nullopt below the table (11.4).
[[nodiscard]] std::optional<PtxVersion> ptx_ceiling(DriverVersion driver) noexcept;
/// The ceiling of the newest driver in the table: the highest PTX that teeny writes.
[[nodiscard]] PtxVersion highest_ptx() noexcept;
/// The oldest driver in the table that loads PTX of this version; nullopt above the table.
[[nodiscard]] std::optional<DriverVersion> oldest_driver_for(PtxVersion version) noexcept;
/// The oldest and the newest driver in the table.
[[nodiscard]] DriverVersion oldest_driver() noexcept;
[[nodiscard]] DriverVersion newest_driver() noexcept;

}  // namespace teeny
