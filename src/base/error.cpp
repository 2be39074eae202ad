#include "teeny/base/error.hpp"

#include <utility>

namespace teeny {

namespace {
std::string whole_text(const std::string& message, const std::string& next) {
  return next.empty() ? message : message + "\n" + next;
}
}  // namespace

Error::Error(ErrorKind kind, const std::string& message, std::string next, int exit_code)
    : std::runtime_error(whole_text(message, next)),
      kind_(kind),
      message_(message),
      next_(std::move(next)),
      exit_code_(exit_code != 0 ? exit_code : (kind == ErrorKind::usage ? 2 : 1)) {}

}  // namespace teeny
