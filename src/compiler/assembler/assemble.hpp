#pragma once

#include <functional>
#include <string_view>

#include "teeny/cache/artifact.hpp"
#include "teeny/cache/wire.hpp"

namespace teeny::compiler {

using AssembleFunction = std::function<Artifact(const AssembleRequest&, std::string_view ptx)>;

/// A kernel's PTX to machine code for exactly the capability that it names, by the assembler of the
/// request in a process of its own, with a private directory, no environment and a time limit. The
/// same PTX, options and assembler give the same bytes. The description is that of the PTX with
/// what the assembler reports: registers, spills, shared memory. Error(input), naming kernel and
/// assembler, when it cannot be started, fails, takes too long, or writes what is not machine code
/// of that capability and of the ELF interface that its version stands for.
[[nodiscard]] Artifact assemble(const AssembleRequest& request, std::string_view ptx);

}  // namespace teeny::compiler
