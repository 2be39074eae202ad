#pragma once

#include <string>

namespace teeny::detail {

/// Prints all that is known of the kernels that `which` names (a name, a C++ type, a record key; a
/// prefix of a fingerprint, at least 8 digits): type, members, parameters, fingerprint, IR; of each
/// artifact its form, needs, resources, size and where it would load; then the PTX. Devices: this
/// machine's, and the board of the package that this program is in. Nothing is compiled.
/// Error(usage) listing the kernels when none is meant.
[[nodiscard]] int inspect_kernel(const std::string& which);

}  // namespace teeny::detail
