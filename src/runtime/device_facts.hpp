#pragma once

namespace teeny::detail {

/// Prints, as one JSON object, what the CUDA driver says of this machine's devices: how a board is
/// asked for what only its driver knows. Documented in docs/formats.md. A context is made on each
/// device, to ask for its free memory. Returns the exit code: 0 too where there is no driver, which
/// is an answer; Error(environment) for a driver that answers with an error.
[[nodiscard]] int print_device_facts();

}  // namespace teeny::detail
