#pragma once

#include <stdexcept>
#include <string>

namespace teeny {

/// Whose mistake an error is; decides the exit code and the tone of the message.
enum class ErrorKind {
  usage,        ///< the command line, an option or an API call is wrong: exit 2
  input,        ///< a file, kernel or project is wrong
  environment,  ///< a tool, library, disk or network is missing or failing
  board,        ///< the board cannot take what was asked of it
  internal,     ///< a bug in teeny itself
};

/// The one exception type of teeny. `what()` is the whole text: what was wanted, what was found,
/// and, on a line of its own, what to do next (empty when there is nothing to do).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::string next = {}, int exit_code = 0);

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& next() const noexcept { return next_; }
  /// 2 for usage, 1 for the rest, unless the error was given a code of its own (preflight: 10 to
  /// 16).
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  ErrorKind kind_;
  std::string message_;
  std::string next_;
  int exit_code_;
};

}  // namespace teeny
