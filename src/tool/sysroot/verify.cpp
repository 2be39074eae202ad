#include "tool/sysroot/verify.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "tool/package/elf.hpp"
#include "tool/package/elf_check.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr const char* probe_source = R"cpp(
#include <dlfcn.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

  int main(int argc, char** argv) {
    std::vector<std::string> words(argv, argv + argc);
    std::thread thread([&words] { words.push_back(std::to_string(std::sin(words.size()))); });
    thread.join();
    try {
      if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) throw std::runtime_error("none");
    } catch (const std::exception& error) {
      std::cout << error.what() << std::filesystem::current_path() << words.back() << "\n";
    }
  }
)cpp";

// The number that a line `#define NAME NUMBER` gives.
std::optional<std::string> defined_number(const std::string& text, const std::string& name) {
  for (const auto& line : split(text, '\n')) {
    if (line.rfind("#define", 0) != 0) continue;
    std::string words = line.substr(7);
    std::replace(words.begin(), words.end(), '\t', ' ');
    const auto rest = trim(words);
    if (rest.substr(0, name.size()) != name || rest.size() <= name.size() ||
        rest[name.size()] != ' ') {
      continue;
    }
    const auto value = trim(rest.substr(name.size()));
    if (parse_unsigned(value)) return std::string(value);
  }
  return std::nullopt;
}

bool folder_at(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<std::string> first_lines(const std::string& text, std::size_t count) {
  auto lines = split(trim(text), '\n');
  if (lines.size() > count) lines.resize(count);
  return lines;
}

std::string cure_for(const std::string& error, const Board& board) {
  if (error.find("'iostream' file not found") != std::string::npos ||
      error.find("'dlfcn.h' file not found") != std::string::npos ||
      error.find("crtbegin") != std::string::npos || error.find("Scrt1.o") != std::string::npos) {
    return "the headers and start-up files of a C++ compiler are missing: install g++ on the board "
           "(Ubuntu: apt-get install g++), or unpack libc6-dev, libstdc++-N-dev, libgcc-N-dev and "
           "linux-libc-dev of " +
           board.chosen().os + " into the sysroot; then run the same command again";
  }
  return "see which of its libraries dangle (they are listed above), then run the same command "
         "again";
}

}  // namespace

std::vector<fs::path> library_folders(const fs::path& root, const std::string& triple) {
  std::vector<fs::path> folders;
  for (const fs::path& place :
       {fs::path("usr/lib") / triple, fs::path("lib") / triple, fs::path("usr/lib"),
        fs::path("lib"), fs::path("usr/lib64"), fs::path("lib64")}) {
    if (folder_at(root / place)) folders.push_back(root / place);
  }
  return folders;
}

std::vector<fs::path> driver_library_folders(const fs::path& root, const std::string& triple) {
  std::vector<fs::path> folders;
  for (const fs::path& place :
       {fs::path("usr/lib") / triple / "tegra", fs::path("usr/lib") / triple / "nvidia",
        fs::path("usr/local/cuda/targets/aarch64-linux/lib/stubs"),
        fs::path("usr/local/cuda/targets/sbsa-linux/lib/stubs"),
        fs::path("usr/local/cuda/lib64/stubs")}) {
    if (folder_at(root / place)) folders.push_back(root / place);
  }
  return folders;
}

std::string glibc_version_in(const std::string& text) {
  const auto major = defined_number(text, "__GLIBC__");
  const auto minor = defined_number(text, "__GLIBC_MINOR__");
  return major && minor ? *major + "." + *minor : "";
}

SysrootVersions read_versions(const fs::path& root, const std::string& triple) {
  SysrootVersions versions;
  if (const auto features = read_file_if_exists(root / "usr" / "include" / "features.h")) {
    versions.glibc = glibc_version_in(*features);
  }
  for (const auto& folder : library_folders(root, triple)) {
    std::error_code ignored;
    const fs::path library = folder / "libstdc++.so.6";
    if (!fs::is_regular_file(library, ignored)) continue;
    for (const auto& version : read_elf_file(library).defines) {
      constexpr std::string_view family = "GLIBCXX_";
      if (version.rfind(family, 0) != 0) continue;
      const std::string number = version.substr(family.size());
      if (number.find_first_not_of("0123456789.") != std::string::npos) continue;
      if (versions.glibcxx.empty() || compare_versions(number, versions.glibcxx) > 0) {
        versions.glibcxx = number;
      }
    }
    break;
  }
  return versions;
}

fs::path require_clang() {
  std::optional<fs::path> found;
  for (const char* name : {"clang++-19", "clang++"}) {
    if ((found = find_program(name))) break;
  }
  if (!found) {
    throw Error(ErrorKind::environment,
                "a sysroot needs clang, which is not on PATH (the distribution's g++ ignores an "
                "older C library without a word)",
                "install the packages clang-19, lld-19 and llvm-19");
  }
  if (!find_program("ld.lld-19") && !find_program("ld.lld")) {
    throw Error(ErrorKind::environment, "a sysroot needs lld, which is not on PATH",
                "install the package lld-19");
  }
  return *found;
}

std::string verify_sysroot(const fs::path& root, const Board& board) {
  const fs::path compiler = require_clang();
  const TemporaryDirectory work("teeny-sysroot-");
  const fs::path source = work.path() / "probe.cpp";
  const fs::path program = work.path() / "probe";
  write_file(source, probe_source);
  Command command{{compiler.string(), "--target=" + board.triple, "--sysroot=" + root.string(),
                   "-std=c++17", "-fuse-ld=lld", "-Wl,--trace", "-pthread", source.string(), "-o",
                   program.string(), "-ldl"}};
  command.environment = {
      {"LC_ALL", "C"}, {"CPATH", ""}, {"LIBRARY_PATH", ""}, {"CPLUS_INCLUDE_PATH", ""}};
  const auto result = run(command);
  if (result.exit_code != 0) {
    throw Error(ErrorKind::input,
                "no program can be linked with " + root.string() + ":\n" +
                    join(first_lines(result.error, 8), "\n"),
                cure_for(result.error, board));
  }
  const fs::path inside = fs::canonical(root);
  for (const auto& line : split(result.output, '\n')) {
    // "path" or, for a member of an archive, "path(member)".
    if (line.empty()) continue;
    const auto member = line.rfind('(');
    const fs::path file = line.back() == ')' ? line.substr(0, member) : line;
    if (!file.is_absolute()) continue;
    const std::string real = fs::weakly_canonical(file).string();
    if (real.rfind(inside.string() + "/", 0) == 0 ||
        real.rfind(fs::canonical(work.path()).string() + "/", 0) == 0 ||
        file.parent_path() == fs::temp_directory_path()) {
      continue;
    }
    throw Error(ErrorKind::input,
                "a program linked with " + root.string() + " took " + real + " of this machine",
                "that file is missing in the sysroot");
  }
  const ElfInfo elf = read_elf_file(program);
  const std::uint16_t wanted = board.triple.rfind("aarch64", 0) == 0 ? elf_aarch64 : elf_x86_64;
  if (elf.machine != wanted) {
    throw Error(ErrorKind::input,
                "wanted a sysroot of " + board.triple + ", a program linked with " + root.string() +
                    " is for " + elf_machine_name(elf.machine),
                "copy it from a board of that kind");
  }
  return compiler.filename().string();
}

}  // namespace teeny::tool
