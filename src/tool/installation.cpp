#include "tool/installation.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

fs::path executable_directory() { return executable_path().parent_path(); }

fs::path prefix_directory() { return executable_directory().parent_path(); }

fs::path share_directory() { return prefix_directory() / "share" / "teeny"; }

fs::path teenyc_path() {
  const fs::path path = executable_directory() / "teenyc";
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) {
    throw Error(ErrorKind::environment,
                "the compiler teenyc is not beside teeny (" + path.string() + ")",
                "install teeny whole, or build the target teenyc");
  }
  return path;
}

}  // namespace teeny::tool
