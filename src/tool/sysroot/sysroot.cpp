#include "tool/sysroot/sysroot.hpp"

#include <algorithm>
#include <ctime>

#include "tool/preflight/l4t.hpp"
#include "tool/sysroot/remote_folders.hpp"
#include "tool/sysroot/verify.hpp"
#include "tool/transport/transport.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/log.hpp"
#include "teeny/base/process.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;

namespace teeny::tool {

namespace {

const TransportFlags sysroot_flags = {"--rsync-from", "--rsync-ssh", "--folder"};

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool lies_at(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool has_headers(const fs::path& root) {
  std::error_code ignored;
  const fs::path headers = root / "usr" / "include";
  return fs::is_directory(headers, ignored) && !fs::is_empty(headers, ignored);
}

void check_place(const SysrootRequest& request) {
  const fs::path& root = request.path;
  const auto refuse = [&root](const std::string& why) {
    throw Error(ErrorKind::usage, "--path " + root.string() + ": " + why,
                "name a new directory for the sysroot");
  };
  std::error_code ignored;
  if (lies_at(root) && fs::equivalent(root, "/", ignored))
    refuse("that is this machine's own root");
  if (root.string().find_first_of("\"\\;\n") != std::string::npos) {
    refuse("CMake takes no path with a double quote, a backslash, a semicolon or a line end");
  }
  const auto found = look_at_sysroot(root);
  if (found.state == SysrootState::foreign && (request.from || !has_headers(root))) {
    refuse("there is something else in it");
  }
  if (found.state == SysrootState::unfinished && !request.from) {
    throw Error(ErrorKind::usage,
                "--path " + root.string() + ": a copy from " +
                    std::string(trim(read_file(root / SysrootMarker::unfinished_path))) +
                    " was begun and not ended",
                "run the same command again with --rsync-from: it goes on where it was; or remove "
                "the directory");
  }
  if (found.marker && found.marker->triple != request.board.triple) {
    refuse("it is a sysroot of " + found.marker->triple + ", made for " + found.marker->board);
  }
}

// What a root has, where nothing else is there.
void add_skeleton(const fs::path& root, const std::string& triple) {
  for (const fs::path& folder :
       {fs::path("usr/include"), fs::path("usr/lib"), fs::path("usr/lib") / triple,
        fs::path("usr/bin"), fs::path("etc")}) {
    if (!lies_at(root / folder)) fs::create_directories(root / folder);
  }
  for (const char* name : {"lib", "bin"}) {
    if (!lies_at(root / name)) fs::create_symlink(fs::path("usr") / name, root / name);
  }
}

fs::path place_below(const fs::path& root, const std::string& absolute) {
  return root / absolute.substr(1);
}

// A link, or a folder, takes the place of what an earlier copy or the skeleton had there.
void make_links(const fs::path& root, const RemoteFolders& remote) {
  for (const auto& [path, target] : remote.links) {
    const fs::path link = place_below(root, path);
    fs::create_directories(link.parent_path());
    if (lies_at(link)) {
      if (fs::is_symlink(link) || !fs::is_directory(link)) {
        fs::remove(link);
      } else {
        fs::remove_all(link);
      }
    }
    fs::create_symlink(target, link);
  }
}

// The copy's folders have no links on the way, so here there must be none either.
void make_folder(const fs::path& root, const std::string& absolute) {
  fs::path path = root;
  for (const auto& part : split(absolute, '/')) {
    if (part.empty()) continue;
    path /= part;
    if (fs::is_symlink(path)) fs::remove(path);
    fs::create_directory(path);
  }
}

std::vector<std::string> copy_folders(const Transport& transport, const RemoteFolders& remote,
                                      const fs::path& root) {
  for (const auto& folder : remote.folders) make_folder(root, folder);
  if (remote.rsync && find_program("rsync")) {
    std::vector<std::string> unreadable;
    for (const auto& folder : remote.folders) {
      log(LogLevel::notice, "copying " + folder + " of " + transport.host());
      const bool flat = !remote.multiarch && fs::path(folder).filename() == "lib";
      const auto lines = transport.pull_rsync(
          folder, place_below(root, folder), flat ? not_for_linking() : std::vector<std::string>{});
      unreadable.insert(unreadable.end(), lines.begin(), lines.end());
    }
    return unreadable;
  }
  log(LogLevel::notice, "copying " + join(remote.folders, ", ") + " of " + transport.host() +
                            " as one tar stream: there is no rsync on both sides");
  for (const auto& folder : remote.folders) fs::remove_all(place_below(root, folder));
  return transport.pull_tar(remote.folders, root,
                            remote.multiarch ? std::vector<std::string>{} : not_for_linking());
}

void compare_with_board(const SysrootMarker& marker, const Board& board) {
  if (marker.glibc.empty() || board.chosen().glibc.empty()) return;
  const auto number = [](const std::string& version) {
    const auto parts = split(version, '.');
    return parse_unsigned(parts.back()).value_or(0);
  };
  if (number(marker.glibc) <= number(board.chosen().glibc)) return;
  log(LogLevel::warning, "the sysroot has glibc " + marker.glibc + ", " + board.full_name() +
                             " has " + board.chosen().glibc +
                             ": a program may want what that generation lacks (package finds it)");
}

}  // namespace

SysrootResult make_sysroot(const SysrootRequest& request) {
  const fs::path& root = request.path;
  check_place(request);
  SysrootResult result;
  SysrootMarker& marker = result.marker;
  marker.triple = request.board.triple;
  marker.board = request.board.full_name();
  std::optional<Transport> transport;
  RemoteFolders remote;
  if (request.from) {
    transport.emplace(*request.from, request.ssh, sysroot_flags);
    remote = find_remote_folders(*transport, request.board, request.folders);
    marker.source = *request.from;
    marker.folders = remote.folders;
    marker.l4t = remote.l4t;
    result.missing = remote.missing;
  } else if (const auto before = look_at_sysroot(root).marker) {
    // What is known of a copy stays true of it.
    marker.source = before->source;
    marker.folders = before->folders;
    marker.l4t = before->l4t;
  }
  fs::create_directories(root);
  const FileLock lock(root / ".teeny-sysroot.lock", std::chrono::seconds(2));
  write_file(root / SysrootMarker::unfinished_path, (request.from ? *request.from : "here") + "\n");
  std::error_code ignored;
  fs::remove(root / SysrootMarker::path, ignored);
  if (transport) {
    make_links(root, remote);
    result.unreadable = copy_folders(*transport, remote, root);
  }
  add_skeleton(root, request.board.triple);
  result.links = mend_links(root);
  if (transport || has_headers(root)) {
    const auto versions = read_versions(root, marker.triple);
    marker.glibc = versions.glibc;
    marker.glibcxx = versions.glibcxx;
    for (const auto& link : result.links.dangling) {
      // Of those that name programs none is missed by a linker.
      if (link.rfind("etc/", 0) != 0 && link.find(".so") != std::string::npos) {
        log(LogLevel::notice, "dangles: " + link);
      }
    }
    marker.compiler = verify_sysroot(root, request.board);
    compare_with_board(marker, request.board);
  }
  marker.made = time_now();
  write_file(root / SysrootMarker::path, marker.to_json());
  fs::remove(root / SysrootMarker::unfinished_path);
  return result;
}

}  // namespace teeny::tool
