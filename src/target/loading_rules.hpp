#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "teeny/target/capability.hpp"
#include "teeny/target/driver.hpp"

namespace teeny::detail {

/// Says why not, to who asked.
inline bool refuse(std::string* why, const std::string& text) {
  if (why != nullptr) *why = text;
  return false;
}

/// The two halves of the rule for PTX. `holder` names in `why` who falls short ("device", "board").
[[nodiscard]] bool capability_takes_ptx(Capability device, Capability target,
                                        std::string_view holder, std::string* why);
/// `driver` is the text that names whose ceiling it is ("driver 12.2").
[[nodiscard]] bool version_loads(std::optional<PtxVersion> ceiling, Capability target,
                                 PtxVersion version, std::string_view holder,
                                 const std::string& driver, std::string* why);

}  // namespace teeny::detail
