#pragma once

#include <string>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// "x86_64", "aarch64": what the kernel calls this machine.
[[nodiscard]] std::string host_architecture();
/// The first part of the board's triple.
[[nodiscard]] std::string architecture_of(const Board& board);

}  // namespace teeny::tool
