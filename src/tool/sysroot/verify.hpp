#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "teeny/target/board.hpp"

namespace teeny::tool {

/// The versions that a tree says it is of.
struct SysrootVersions {
  std::string glibc;    ///< "2.31", by usr/include/features.h; empty where there is none
  std::string glibcxx;  ///< "3.4.28", the highest that its libstdc++.so.6 defines; empty: none
};
[[nodiscard]] SysrootVersions read_versions(const std::filesystem::path& root,
                                            const std::string& triple);

/// Compiles and links a C++ program against the tree alone, by clang and lld: threads, streams,
/// files, exceptions. Returns the compiler ("clang++-19"). Error(environment) when there is no such
/// compiler; Error(input) with its words when it cannot, or when it took a file from elsewhere.
std::string verify_sysroot(const std::filesystem::path& root, const Board& board);

/// clang's C++ compiler on PATH, the newest name first; Error(environment) when it or lld is
/// missing.
[[nodiscard]] std::filesystem::path require_clang();

/// "2.31" of a text that defines __GLIBC__ and __GLIBC_MINOR__ (glibc's features.h, a compiler's
/// list of macros); empty where it does not.
[[nodiscard]] std::string glibc_version_in(const std::string& text);

/// Folders below a sysroot in which a linker looks for libraries, as far as they are there:
/// multiarch ones and flat ones.
[[nodiscard]] std::vector<std::filesystem::path> library_folders(const std::filesystem::path& root,
                                                                 const std::string& triple);
/// Those of the CUDA driver as Linux for Tegra has it, and of CUDA's stubs: no linker looks there.
[[nodiscard]] std::vector<std::filesystem::path> driver_library_folders(
    const std::filesystem::path& root, const std::string& triple);

}  // namespace teeny::tool
