#pragma once

#include "compiler/server.hpp"

namespace teeny::compiler {

/// Part of teenyc-faulty alone, which exists for tests. The environment variable TEENYC_FAULT, as
/// KIND:NAME, makes the compilation of the kernel NAME go wrong; all others are compiled.
///  * abort, crash, hang, exit: the process ends by SIGABRT or SIGSEGV, sleeps for ever, exits with
///  3;
///  * fatal: LLVM reports a fatal error; select: LLVM meets what it cannot select;
///  * garbage: bytes that are no frame are written to `output`; short: half a reply, then the end.
[[nodiscard]] CompileFunction with_faults(CompileFunction compile, int output);

}  // namespace teeny::compiler
