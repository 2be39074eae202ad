#include "teeny/target/ptx_version.hpp"

#include "target/two_numbers.hpp"

namespace teeny {

std::optional<PtxVersion> PtxVersion::parse(std::string_view text) noexcept {
  const auto numbers = detail::parse_two_numbers(text);
  if (!numbers) return std::nullopt;
  return PtxVersion{numbers->first, numbers->second};
}

std::string PtxVersion::name() const { return std::to_string(major) + "." + std::to_string(minor); }

bool PtxVersion::published() const noexcept {
  // The last minor number of each major, from the release table of NVIDIA's PTX ISA document.
  switch (major) {
    case 6:
      return minor >= 0 && minor <= 5;
    case 7:
    case 8:
      return minor >= 0 && minor <= 8;
    case 9:
      return minor >= 0 && minor <= 1;
    default:
      return false;
  }
}

}  // namespace teeny
