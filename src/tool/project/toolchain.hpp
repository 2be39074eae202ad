#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// What builds programs for a board.
struct Toolchain {
  enum class Kind {
    native,     ///< this machine's own compiler: the board has its architecture
    cross_gcc,  ///< the distribution's cross g++ with its own C library
    clang,      ///< clang and lld with a sysroot
  };
  Kind kind = Kind::native;
  std::filesystem::path sysroot = {};              ///< of clang
  std::string sysroot_made = {};                   ///< when: another one is another toolchain
  std::optional<std::filesystem::path> cuda = {};  ///< find_cuda_directory()

  /// Where libraries are that a linker does not look for by itself: the CUDA driver's, or its
  /// stubs.
  [[nodiscard]] std::vector<std::filesystem::path> driver_folders(const std::string& triple) const;
};

/// Where a board's sysroot is looked for when none is named: build/sysroot/BOARD@GENERATION of the
/// project.
[[nodiscard]] std::filesystem::path default_sysroot(const std::filesystem::path& project,
                                                    const Board& board);

/// What the user says of a toolchain.
struct ToolchainWishes {
  std::string sysroot = {};    ///< --sysroot; empty: the default place, where there is one
  std::string cuda_path = {};  ///< --cuda-path, as in find_cuda_directory()
  bool in_container = false;   ///< compilers are there, not on this machine
};

/// The toolchain for a board. Error(environment) when the compiler is
/// missing, when a sysroot is not finished or of another machine, and when the board's C library is
/// older than any that the cross compiler's programs run with and there is no sysroot.
[[nodiscard]] Toolchain choose_toolchain(const Board& board, const std::filesystem::path& project,
                                         const ToolchainWishes& wishes = {});

}  // namespace teeny::tool
