#include "teeny/target/ptx_version.hpp"

namespace teeny {

namespace {
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
}  // namespace

std::optional<PtxVersion> PtxVersion::parse(std::string_view text) noexcept {
  // The last digit is the minor number; in 8.2 a point stands before it.
  if (text.size() < 2) return std::nullopt;
  const char minor = text.back();
  text.remove_suffix(1);
  if (text.back() == '.') text.remove_suffix(1);
  if (text.empty() || text.size() > 2 || text.front() == '0' || !is_digit(minor)) {
    return std::nullopt;
  }
  int major = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    major = major * 10 + (c - '0');
  }
  return PtxVersion{major, minor - '0'};
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
