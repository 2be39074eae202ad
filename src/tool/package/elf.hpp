#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace teeny::tool {

/// A version of a library's symbols that an ELF file cannot do without.
struct VersionNeed {
  std::string library;               ///< "libc.so.6"
  std::string version;               ///< "GLIBC_2.34"
  std::vector<std::string> symbols;  ///< those it takes in that version; empty where not known
};

/// What a program or shared object asks of the machine it runs on.
struct ElfInfo {
  std::uint16_t machine = 0;           ///< e_machine: 62 x86-64, 183 AArch64
  std::string interpreter;             ///< the loader's path; empty for a shared object
  std::vector<std::string> needed;     ///< DT_NEEDED, in order
  std::vector<std::string> run_paths;  ///< DT_RPATH and DT_RUNPATH, taken apart at colons
  std::vector<VersionNeed> needs;      ///< sorted by library, then version
  std::vector<std::string> defines;    ///< versions of its own symbols, "GLIBCXX_3.4.28", in order
};

inline constexpr std::uint16_t elf_x86_64 = 62;
inline constexpr std::uint16_t elf_aarch64 = 183;
/// "AArch64", "x86-64" or "machine 40".
[[nodiscard]] std::string elf_machine_name(std::uint16_t machine);

/// Whether the bytes begin as an ELF file does.
[[nodiscard]] bool is_elf(std::string_view bytes) noexcept;
/// Reads a 64-bit little-endian ELF file. Error(input) naming `origin` when it is another kind of
/// file, truncated or inconsistent.
[[nodiscard]] ElfInfo read_elf(std::string_view bytes, const std::string& origin);
[[nodiscard]] ElfInfo read_elf_file(const std::filesystem::path& path);

}  // namespace teeny::tool
