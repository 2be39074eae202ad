#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// A Linux for Tegra release from the first line of /etc/nv_tegra_release ("# R36 (release),
/// REVISION: 4.3, GCID: ..."): "R36.4.3"; nullopt for text of another shape.
[[nodiscard]] std::optional<std::string> parse_l4t(std::string_view text);

/// The boards among `boards` that have a generation of that release, with it chosen: the newest of
/// the same major release that is not newer, or the oldest of it. Empty for a major release that
/// none of them has.
[[nodiscard]] std::vector<Board> boards_of_l4t(const std::string& l4t,
                                               const std::vector<Board>& boards);

/// Those among `boards` that a device tree describes: the chip by its `compatible` words
/// ("nvidia,tegra234"), then the module by its `model` ("NVIDIA Jetson Orin Nano Developer Kit").
/// What tells nothing takes nothing away.
[[nodiscard]] std::vector<Board> boards_of_device_tree(std::string_view compatible,
                                                       std::string_view model,
                                                       std::vector<Board> boards);

}  // namespace teeny::tool
