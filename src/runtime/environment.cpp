#include "environment.hpp"

#include <cstdlib>
#include <string>

#include "teeny/base/error.hpp"

namespace teeny::detail {

bool environment_flag(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value != nullptr ? value : "";
  if (text.empty() || text == "0") return false;
  if (text == "1") return true;
  throw Error(ErrorKind::usage, std::string(name) + ": wanted 0 or 1, found \"" + text + "\"");
}

}  // namespace teeny::detail
