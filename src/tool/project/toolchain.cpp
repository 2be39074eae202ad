#include "tool/project/toolchain.hpp"

#include "tool/package/elf_check.hpp"
#include "tool/project/architecture.hpp"
#include "tool/project/cuda_directory.hpp"
#include "tool/sysroot/marker.hpp"
#include "tool/sysroot/verify.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

constexpr const char* cross_compiler = "aarch64-linux-gnu-g++";

// Since this release every program takes its start-up code in that version, so none that was linked
// with it, or with a later one, starts with an earlier (source: the release notes of glibc 2.34, on
// libpthread and __libc_start_main).
constexpr const char* oldest_for_new_programs = "2.34";

std::string command_for(const Board& board, const fs::path& project) {
  return sysroot_command(board.triple, board.full_name(), default_sysroot(project, board));
}

// Which C library the cross compiler links, by its headers; empty when it does not say.
std::string cross_glibc(const fs::path& compiler) {
  const auto result =
      run({{compiler.string(), "-x", "c", "-E", "-dM", "-include", "features.h", "/dev/null"}});
  return result.exit_code == 0 ? glibc_version_in(result.output) : "";
}

Toolchain with_sysroot(const fs::path& root, const Board& board, const fs::path& project,
                       bool named, bool in_container) {
  const std::string what = (named ? "--sysroot " : "the sysroot ") + root.string();
  const auto found = look_at_sysroot(root);
  switch (found.state) {
    case SysrootState::absent:
    case SysrootState::foreign:
      throw Error(ErrorKind::environment, what + ": there is no sysroot that teeny made",
                  "make it: " + command_for(board, project) +
                      "\nof libraries that are there already: the same with --path " +
                      root.string() + " and without --rsync-from");
    case SysrootState::unfinished:
      throw Error(ErrorKind::environment, what + " was begun and not ended",
                  "run the `teeny sysroot` that began it again: it goes on where it was");
    case SysrootState::scaffold:
      throw Error(ErrorKind::environment, what + " has nothing in it yet",
                  "fill it: `teeny sysroot --help` says how");
    case SysrootState::finished:
      break;
  }
  if (found.marker->triple != board.triple) {
    throw Error(ErrorKind::environment,
                what + " is of " + found.marker->triple + " (" + found.marker->board + "), " +
                    board.full_name() + " is " + board.triple,
                "name another one");
  }
  if (architecture_of(board) != "aarch64") {
    throw Error(ErrorKind::usage,
                what + ": " + board.full_name() + " is " + board.triple +
                    "; only boards of aarch64 are built for with a sysroot",
                "leave it out, and build on a machine with the board's C library or an older one");
  }
  if (!in_container) static_cast<void>(require_clang());
  log(LogLevel::notice, "libraries of " + root.string() + ": glibc " + found.marker->glibc +
                            ", GLIBCXX " + found.marker->glibcxx + " (clang and lld)");
  return {Toolchain::Kind::clang, root, found.marker->made, {}};
}

Toolchain without_sysroot(const Board& board, const fs::path& project, bool in_container) {
  if (architecture_of(board) == host_architecture()) return {};
  if (architecture_of(board) != "aarch64") {
    throw Error(ErrorKind::environment,
                "there is no toolchain file for " + board.triple + " on " + host_architecture(),
                "build on a machine of that architecture");
  }
  const auto compiler = find_program(cross_compiler);
  if (!compiler && !in_container) {
    throw Error(ErrorKind::environment,
                std::string("the cross compiler ") + cross_compiler + " is not on PATH; " +
                    board.name + " needs it",
                "install the package g++-aarch64-linux-gnu; or make a sysroot: " +
                    command_for(board, project));
  }
  const std::string& on_board = board.chosen().glibc;
  if (!on_board.empty() && compare_versions(on_board, oldest_for_new_programs) < 0) {
    // The image's is newer than any of these boards' too.
    const std::string here = in_container ? "" : cross_glibc(*compiler);
    if (here.empty() || compare_versions(here, oldest_for_new_programs) >= 0) {
      throw Error(ErrorKind::environment,
                  board.full_name() + " has glibc " + on_board + ", and what " + cross_compiler +
                      " links (glibc " + (here.empty() ? "unknown" : here) + ") wants at least " +
                      oldest_for_new_programs,
                  "make a copy of the board's own libraries, which is then used: " +
                      command_for(board, project));
    }
  }
  return {Toolchain::Kind::cross_gcc, {}, {}, {}};
}

}  // namespace

std::vector<fs::path> Toolchain::driver_folders(const std::string& triple) const {
  std::vector<fs::path> folders;
  if (!sysroot.empty()) folders = driver_library_folders(sysroot, triple);
  std::error_code ignored;
  if (cuda && fs::is_directory(*cuda / "lib" / "stubs", ignored)) {
    folders.push_back(*cuda / "lib" / "stubs");
  }
  return folders;
}

fs::path default_sysroot(const fs::path& project, const Board& board) {
  return project / "build" / "sysroot" / board.full_name();
}

Toolchain choose_toolchain(const Board& board, const fs::path& project,
                           const ToolchainWishes& wishes) {
  Toolchain toolchain;
  const fs::path usual = default_sysroot(project, board);
  if (!wishes.sysroot.empty()) {
    fs::path root = fs::absolute(wishes.sysroot).lexically_normal();
    if (!root.has_filename()) root = root.parent_path();
    toolchain = with_sysroot(root, board, project, true, wishes.in_container);
  } else if (look_at_sysroot(usual).state != SysrootState::absent) {
    toolchain = with_sysroot(usual, board, project, false, wishes.in_container);
  } else {
    toolchain = without_sysroot(board, project, wishes.in_container);
  }
  if (toolchain.kind != Toolchain::Kind::native || !wishes.cuda_path.empty()) {
    toolchain.cuda = find_cuda_directory(board, wishes.cuda_path);
  }
  return toolchain;
}

}  // namespace teeny::tool
