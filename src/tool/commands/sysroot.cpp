#include "tool/sysroot/sysroot.hpp"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "tool/boards/board_file.hpp"
#include "tool/commands/command.hpp"
#include "tool/package/table.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

struct SysrootOptions {
  std::string triple;
  std::string path;
  std::string type;
  std::optional<std::string> from;
  std::string ssh = "ssh";
  std::vector<std::string> folders;
};

// "aarch64-unknown-linux-gnu" is aarch64-linux-gnu: who made the machine says nothing here.
std::string without_vendor(const std::string& triple) {
  const auto parts = split(triple, '-');
  return parts.size() == 4 ? parts[0] + "-" + parts[2] + "-" + parts[3] : triple;
}

SysrootRequest request_of(const SysrootOptions& options) {
  SysrootRequest request{
      find_board(options.type, "--type"), {}, options.from, options.ssh, options.folders};
  if (without_vendor(options.triple) != request.board.triple) {
    throw Error(ErrorKind::usage,
                "--host " + options.triple + ": " + request.board.full_name() + " is " +
                    request.board.triple,
                "say --host " + request.board.triple + ", or another board with --type");
  }
  if (options.path.empty()) throw Error(ErrorKind::usage, "--path is empty", "name a directory");
  for (const auto& folder : options.folders) {
    if (folder.empty() || folder.front() != '/' || folder == "/") {
      throw Error(ErrorKind::usage, "--folder \"" + folder + "\" is no absolute path of the board",
                  "for instance --folder /opt/camera");
    }
  }
  if (!options.folders.empty() && !options.from) {
    throw Error(ErrorKind::usage, "--folder goes with --rsync-from", "leave it out");
  }
  const fs::path path = fs::absolute(options.path).lexically_normal();
  request.path = path.has_filename() ? path : path.parent_path();
  return request;
}

void print_some(const std::string& what, const std::vector<std::string>& lines) {
  constexpr std::size_t most = 10;
  for (std::size_t i = 0; i < lines.size() && i < most; ++i) {
    log(LogLevel::notice, what + ": " + lines[i]);
  }
  if (lines.size() > most) {
    log(LogLevel::notice, what + ": " + std::to_string(lines.size() - most) + " more");
  }
}

int run_sysroot(const SysrootOptions& options) {
  const SysrootRequest request = request_of(options);
  const SysrootResult result = make_sysroot(request);
  const SysrootMarker& marker = result.marker;
  print_some("not on the board", result.missing);
  print_some("not readable for the login", result.unreadable);
  print_some("led out of the root, now ends in it", result.links.outside);
  const std::string links = std::to_string(result.links.links) + " links, " +
                            std::to_string(result.links.mended) + " of them mended, " +
                            std::to_string(result.links.dangling.size()) + " dangle";
  if (marker.compiler.empty()) {
    std::cout
        << "folders for " << marker.board << ", and nothing in them yet: unpack its C library "
        << "and libstdc++ with their\nheaders there, then run the same command again; or copy "
        << "them from a board with --rsync-from\n"
        << request.path.string() << "\n";
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {
      {"board", marker.board},
      {"from", marker.source.empty() ? "what was unpacked there" : marker.source}};
  if (!marker.folders.empty()) rows.push_back({"folders", join(marker.folders, ", ")});
  rows.push_back({"links", links});
  rows.push_back({"glibc", marker.glibc.empty() ? "unknown" : marker.glibc});
  rows.push_back({"libstdc++", marker.glibcxx.empty() ? "unknown" : "GLIBCXX_" + marker.glibcxx});
  if (!marker.l4t.empty()) rows.push_back({"L4T", marker.l4t});
  rows.push_back({"verified", "a C++ program links with it, by " + marker.compiler + " and lld"});
  std::cout << aligned(rows) << request.path.string() << "\n";
  return 0;
}

}  // namespace

void add_sysroot(CLI::App& app, Session& session) {
  auto options = std::make_shared<SysrootOptions>();
  auto* command = app.add_subcommand(
      "sysroot", "Make a copy of a board's headers and libraries, to build against");
  command
      ->add_option("--host", options->triple, "the board's triple, for instance aarch64-linux-gnu")
      ->required()
      ->type_name("TRIPLE");
  command->add_option("--path", options->path, "where it goes; what is there is gone on with")
      ->required()
      ->type_name("DIR");
  command->add_option("--type", options->type, "a board, BOARD@GENERATION, or a board file")
      ->required()
      ->type_name("BOARD");
  command
      ->add_option("--rsync-from", options->from,
                   "copy from this board: [user@]name, or an alias of your ssh configuration")
      ->type_name("HOST");
  command
      ->add_option("--rsync-ssh", options->ssh, "the ssh command, e.g. \"ssh -p 2222 -F config\"")
      ->type_name("CMD");
  command
      ->add_option("--folder", options->folders, "another folder of the board to copy; may repeat")
      ->allow_extra_args(false)
      ->type_name("DIR");
  command->footer(
      "With --rsync-from the folders that the board's file names are copied (rsync, or tar over "
      "ssh "
      "where the board\nhas none); without it the folders of a root are made, or what was unpacked "
      "there is taken. Links are made to\nstay inside, a C++ program is linked with it, and only "
      "then it counts as finished. An interrupted copy is gone\non with by the same command.\n"
      "Example:\n  teeny sysroot --host aarch64-linux-gnu --type jetson-xavier-nx \\\n"
      "      --path build/sysroot/jetson-xavier-nx@5.1 --rsync-from nvidia@xavier");
  command->callback(
      [options, &session] { session.run = [options] { return run_sysroot(*options); }; });
}

}  // namespace teeny::tool
