#pragma once

#include <functional>

#include "compiler/assembler/assemble.hpp"

#include "teeny/cache/artifact.hpp"
#include "teeny/ir/kernel.hpp"

namespace teeny::compiler {

using CompileFunction = std::function<Artifact(const ir::Kernel&, const Target&)>;

/// Answers the frames that come from `input` on `output` (include/teeny/cache/wire.hpp) until the
/// input ends, by one function for each kind of request. Returns the exit code: 0 for an end
/// between frames; 1, with a line on stderr, for what is not the protocol. A request that fails is
/// answered, and the next one is taken.
[[nodiscard]] int serve(int input, int output, const CompileFunction& compile,
                        const AssembleFunction& assemble);

/// Moves standard output to another descriptor, which is returned: what libraries print goes to
/// standard error from here on, never between the frames.
[[nodiscard]] int reserve_stdout();

}  // namespace teeny::compiler
