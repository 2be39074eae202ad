#pragma once

#include <filesystem>
#include <string>

#include "tool/transport/words.hpp"

#include "teeny/base/files.hpp"

namespace teeny::test {

/// An ssh of our own: runs the command it is given in a shell here, as sshd would there.
class FakeSsh {
 public:
  explicit FakeSsh(const std::string& body) : directory_("ssh 'é $") {
    program_ = directory_.path() / "ssh";
    write_file(program_, "#!/bin/sh\n" + body + "\n", 0755);
  }
  [[nodiscard]] std::string command() const {
    return tool::quote_for_shell(program_.string()) + " -F 'a b'";
  }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path program_;
};

// The words after the host, joined by blanks, are the remote command.
inline const std::string obedient =
    "while [ $# -gt 0 ] && [ \"$1\" != board ]; do shift; done\n"
    "[ \"$1\" = board ] || exit 99\n"
    "shift\n"
    "exec sh -c \"$*\"";

}  // namespace teeny::test
