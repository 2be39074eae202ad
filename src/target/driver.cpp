#include "teeny/target/driver.hpp"

#include <algorithm>
#include <iterator>

#include "teeny/base/text.hpp"

namespace teeny {

namespace {

struct Row {
  DriverVersion driver;
  PtxVersion ceiling;
};

// The first CUDA release that knows each PTX ISA; source: NVIDIA's PTX ISA release table, as
// cuda-python's cuda.bindings.utils states it. Drivers older than 11.4 (JetPack 5) are not served.
constexpr Row table[] = {
    {{11, 4}, {7, 4}}, {{11, 5}, {7, 5}}, {{11, 6}, {7, 6}}, {{11, 7}, {7, 7}},
    {{11, 8}, {7, 8}}, {{12, 0}, {8, 0}}, {{12, 1}, {8, 1}}, {{12, 2}, {8, 2}},
    {{12, 3}, {8, 3}}, {{12, 4}, {8, 4}}, {{12, 5}, {8, 5}}, {{12, 7}, {8, 6}},
    {{12, 8}, {8, 7}}, {{12, 9}, {8, 8}}, {{13, 0}, {9, 0}}, {{13, 1}, {9, 1}},
};

std::optional<int> small_number(std::string_view text) noexcept {
  if (text.empty() || text.size() > 2 || (text.size() == 2 && text.front() == '0')) {
    return std::nullopt;
  }
  const auto value = parse_unsigned(text);
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

}  // namespace

std::optional<DriverVersion> DriverVersion::parse(std::string_view text) noexcept {
  const auto point = text.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const auto major = small_number(text.substr(0, point));
  const auto minor = small_number(text.substr(point + 1));
  if (!major || !minor) return std::nullopt;
  return DriverVersion{*major, *minor};
}

std::string DriverVersion::name() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::optional<PtxVersion> ptx_ceiling(DriverVersion driver) noexcept {
  std::optional<PtxVersion> ceiling;
  for (const Row& row : table) {
    if (row.driver <= driver) ceiling = row.ceiling;
  }
  return ceiling;
}

PtxVersion highest_ptx() noexcept { return std::rbegin(table)->ceiling; }

std::optional<DriverVersion> oldest_driver_for(PtxVersion version) noexcept {
  for (const Row& row : table) {
    if (row.ceiling >= version) return row.driver;
  }
  return std::nullopt;
}

DriverVersion oldest_driver() noexcept { return std::begin(table)->driver; }
DriverVersion newest_driver() noexcept { return std::rbegin(table)->driver; }

}  // namespace teeny
