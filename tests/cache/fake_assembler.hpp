#pragma once

#include <filesystem>
#include <string>

#include "teeny/base/files.hpp"
#include "teeny/target/assembler.hpp"

namespace teeny::test {

/// A shell script that takes ptxas's place at `path`: it says it is of that version, and does
/// `body` when it is to assemble.
inline std::filesystem::path write_fake_ptxas(const std::filesystem::path& path,
                                              AssemblerVersion version,
                                              const std::string& body = "exit 1") {
  std::filesystem::create_directories(path.parent_path());
  const std::string release = std::to_string(version.major) + "." + std::to_string(version.minor);
  write_file(path,
             "#!/bin/sh\nif [ \"$1\" = --version ]; then\n"
             "echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'\n"
             "echo 'Cuda compilation tools, release " +
                 release + ", V" + version.name() + "'\nexit 0\nfi\n" + body + "\n",
             0755);
  return path;
}

}  // namespace teeny::test
