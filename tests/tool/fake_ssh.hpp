#pragma once

#include <filesystem>
#include <string>

#include "tool/transport/words.hpp"

#include "teeny/base/files.hpp"

namespace teeny::tool {

/// An ssh of our own, for tests: a shell script, at a path that is not easy.
class FakeSsh {
 public:
  explicit FakeSsh(const std::string& body) : directory_("ssh 'é $") {
    program_ = directory_.path() / "ssh";
    write_file(program_, "#!/bin/sh\n" + body + "\n", 0755);
  }
  [[nodiscard]] std::string command() const {
    return quote_for_shell(program_.string()) + " -F 'a b'";
  }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

  /// Goes on to the command behind the host, `board`.
  static constexpr const char* skip_options =
      "while [ $# -gt 0 ] && [ \"$1\" != board ]; do shift; done\n"
      "[ \"$1\" = board ] || exit 99\n"
      "shift\n";
  /// Runs the command in a shell here, as sshd would there.
  [[nodiscard]] static std::string obedient() {
    return std::string(skip_options) + "exec sh -c \"$*\"";
  }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path program_;
};

}  // namespace teeny::tool
