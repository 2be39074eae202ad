#include <chrono>
#include <map>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tool/fake_ssh.hpp"
#include "tool/deploy/deployment.hpp"
#include "tool/deploy/releases.hpp"
#include "tool/package/findings.hpp"
#include "tool/project/architecture.hpp"

#include "teeny/base/digest.hpp"
#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

constexpr const char* good_program = "#!/bin/sh\necho checking hello: nothing\necho all fits\n";

using Files = std::map<std::string, std::string>;

Files usual_files() {
  return {{"bin/hello", good_program},
          {"data/kernels", std::string(100000, 'x')},
          {"data/a b \\ 'é $.txt", "data"},
          {"data/empty", ""}};
}

/// A package with those files and a manifest that tells of them.
LocalPackage make_package(const fs::path& directory, const Files& files) {
  fs::remove_all(directory);
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& [path, text] : files) {
    const bool program = path.rfind("bin/", 0) == 0;
    fs::create_directories((directory / path).parent_path());
    write_file(directory / path, text, program ? 0755 : 0644);
    entries.push_back({{"path", path},
                       {"mode", program ? "0755" : "0644"},
                       {"size", text.size()},
                       {"sha256", sha256_hex(text)}});
  }
  const nlohmann::json manifest = {{"schema", PackageContents::schema},
                                   {"name", "demo"},
                                   {"board", "here@1"},
                                   {"triple", host_architecture() + "-linux-gnu"},
                                   {"programs", {"hello"}},
                                   {"devices", nlohmann::json::array()},
                                   {"files", entries}};
  fs::create_directories(directory / "conf");
  write_file(directory / PackageContents::path, manifest.dump());
  return LocalPackage::read(directory);
}

// A board that is a directory here. `before`: what its ssh does first.
class LocalBoard {
 public:
  explicit LocalBoard(const std::string& before = "")
      : ssh_(before + FakeSsh::obedient()), transport_("board", ssh_.command()) {}

  [[nodiscard]] fs::path path(const fs::path& below = {}) const {
    return fs::path(destination()) / below;
  }
  [[nodiscard]] fs::path package() const { return ssh_.directory() / "package"; }
  [[nodiscard]] std::string destination() const { return ssh_.directory() / "board's $x" / "demo"; }
  [[nodiscard]] const Transport& transport() const { return transport_; }
  [[nodiscard]] const fs::path& directory() const { return ssh_.directory(); }

  Deployed deploy(const LocalPackage& package, const DeployRules& rules = {}) const {
    return tool::deploy(transport_, package, destination(), rules);
  }
  [[nodiscard]] std::string current() const {
    return fs::read_symlink(path("current")).filename().string();
  }
  void expect_live(const LocalPackage& package) const {
    EXPECT_EQ(current(), package.id);
    const fs::path there = path("releases") / package.id;
    EXPECT_EQ(compare_files(list_files(package.directory), list_files(there)),
              std::vector<std::string>{});
    EXPECT_EQ(sha256_file(there / PackageContents::path), package.id);
  }
  [[nodiscard]] std::size_t entries(const fs::path& below) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path(below)), {}));
  }

 private:
  FakeSsh ssh_;
  Transport transport_;
};

// Takes rsync away from what runs on the board, and from nothing here.
const std::string no_rsync =
    "d=$(dirname \"$0\")/tools\n"
    "if [ ! -d \"$d\" ]; then mkdir \"$d\"\n"
    "  for t in sh cat sed uname readlink du df find sha256sum mkdir mv rm cp chmod ln sync tar "
    "head tr sort mktemp; "
    "do\n"
    "    ln -s \"$(command -v $t)\" \"$d/$t\"; done; fi\n"
    "PATH=$d; export PATH\n";

Error deploy_error(const LocalBoard& board, const LocalPackage& package,
                   const DeployRules& rules = {}) {
  try {
    static_cast<void>(board.deploy(package, rules));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::internal, "");
}

bool says(const Error& error, std::string_view part) {
  return std::string_view(error.what()).find(part) != std::string_view::npos;
}

}  // namespace

class Deploying : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static std::string start() { return GetParam() ? "" : no_rsync; }
};
INSTANTIATE_TEST_SUITE_P(, Deploying, testing::Bool(), [](const auto& with_rsync) {
  return std::string(with_rsync.param ? "WithRsync" : "WithTar");
});

TEST_P(Deploying, FirstSecondAndBack) {
  const LocalBoard board(start());
  auto files = usual_files();
  const auto first = make_package(board.directory() / "first", files);
  auto done = board.deploy(first);
  EXPECT_EQ(done.before, "");
  EXPECT_GT(done.sent, 0U);
  board.expect_live(first);
  files.erase("data/empty");
  files["data/new"] = "new";
  files["data/moved"] = files["data/kernels"];
  const auto second = make_package(board.directory() / "second", files);
  done = board.deploy(second);
  EXPECT_EQ(done.before, first.id);
  board.expect_live(second);
  if (!GetParam()) {
    EXPECT_LT(done.sent, 20000U);
  }
  // What both have is in each of them: writing to one changes no other.
  struct stat one{};
  struct stat two{};
  ASSERT_EQ(::stat(board.path("releases/" + first.id + "/data/kernels").c_str(), &one), 0);
  ASSERT_EQ(::stat(board.path("releases/" + second.id + "/data/kernels").c_str(), &two), 0);
  EXPECT_NE(one.st_ino, two.st_ino);
  EXPECT_EQ(board.entries("releases"), 2U);
  // One that is there is not sent.
  done = board.deploy(first);
  EXPECT_TRUE(done.was_there);
  EXPECT_EQ(done.sent, 0U);
  board.expect_live(first);
  done = roll_back(board.transport(), board.destination(), false);
  EXPECT_EQ(done.id, second.id);
  board.expect_live(second);
  done = roll_back(board.transport(), board.destination(), false);
  EXPECT_EQ(done.id, first.id);
  EXPECT_THROW(static_cast<void>(roll_back(board.transport(), board.destination(), false)), Error);
  EXPECT_EQ(board.current(), first.id);
  EXPECT_EQ(board.entries(""), 3U);  // current, history, releases
}

TEST_P(Deploying, GoesOnWithWhatAnEarlierAttemptLeft) {
  const LocalBoard board(start());
  auto files = usual_files();
  std::string big;
  for (int i = 0; big.size() < 1000000; ++i) big += sha256_hex(std::to_string(i));
  files["data/big"] = big;
  const auto package = make_package(board.package(), files);
  const fs::path left = board.path("releases") / (package.id + ".partial-0123");
  fs::create_directories(left / "data");
  write_file(left / "data" / "big", big);
  write_file(left / "data" / ".big.XyZ", "half");
  write_file(left / "data" / "stale", "stale");
  write_file(left / "data" / "kernels", std::string(50000, 'x'));
  const auto done = board.deploy(package);
  EXPECT_LT(done.sent, 150000U);
  board.expect_live(package);
  EXPECT_EQ(board.entries("releases"), 1U);
}

TEST_P(Deploying, ADamagedReleaseIsFoundAndReplaced) {
  const LocalBoard board(start());
  const auto package = make_package(board.package(), usual_files());
  static_cast<void>(board.deploy(package));
  write_file(board.path("releases/" + package.id + "/data/empty"), "not any more");
  const auto error = deploy_error(board, package);
  EXPECT_EQ(error.exit_code(), finding_code::incomplete);
  EXPECT_TRUE(says(error, "altered: data/empty")) << error.what();
  EXPECT_TRUE(says(error, "--overwrite"));
  static_cast<void>(board.deploy(package, {true, false, {}}));
  board.expect_live(package);
  EXPECT_EQ(board.entries("releases"), 1U);
}

// P43: the tree on the board is the manifest's, nothing stale and nothing extra, and a changed file
// of the same size and time is replaced.
TEST_P(Deploying, P43_TheTreeEqualsTheManifest) {
  const LocalBoard board(start());
  auto files = usual_files();
  const auto first = make_package(board.directory() / "first", files);
  static_cast<void>(board.deploy(first));
  files["data/kernels"][7] = 'y';
  files.erase("data/empty");
  const auto second = make_package(board.directory() / "second", files);
  for (const char* name : {"data/kernels", "data/a b \\ 'é $.txt"}) {
    fs::last_write_time(second.directory / name,
                        fs::last_write_time(board.path("releases/" + first.id) / name));
  }
  // An attempt of the past, with the old file in place of the new one.
  const fs::path left = board.path("releases") / (second.id + ".partial-0123");
  fs::create_directories(left / "data");
  fs::copy_file(first.directory / "data/kernels", left / "data/kernels");
  fs::last_write_time(left / "data/kernels",
                      fs::last_write_time(second.directory / "data/kernels"));
  static_cast<void>(board.deploy(second));
  board.expect_live(second);
}

TEST(Deploy, KeepRemovesOldReleases) {
  const LocalBoard board;
  auto files = usual_files();
  std::vector<LocalPackage> packages;
  for (const char* text : {"1", "2", "3", "4"}) {
    files["data/version"] = text;
    packages.push_back(make_package(board.directory() / ("package" + std::string(text)), files));
    static_cast<void>(board.deploy(packages.back()));
  }
  EXPECT_EQ(board.entries("releases"), 4U);
  files["data/version"] = "5";
  packages.push_back(make_package(board.directory() / "package5", files));
  const fs::path left = board.path("releases") / (packages[0].id + ".partial-0123");
  fs::create_directories(left);
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(72));
  static_cast<void>(board.deploy(packages[4], {false, false, 2}));
  board.expect_live(packages[4]);
  EXPECT_EQ(board.entries("releases"), 2U);
  EXPECT_EQ(roll_back(board.transport(), board.destination(), false).id, packages[3].id);
}

TEST(Deploy, ADryRunWritesNothing) {
  const LocalBoard board;
  const auto first = make_package(board.directory() / "first", usual_files());
  testing::internal::CaptureStdout();
  EXPECT_TRUE(board.deploy(first, {false, true, {}}).dry);
  auto text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("would send 5 of 5 files"), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(board.path().parent_path().parent_path()));
  static_cast<void>(board.deploy(first));
  auto files = usual_files();
  files["data/new"] = "new";
  const auto second = make_package(board.directory() / "second", files);
  testing::internal::CaptureStdout();
  static_cast<void>(board.deploy(second, {false, true, 2}));
  text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("would send 2 of 6 files"), std::string::npos) << text;
  EXPECT_NE(text.find("data/new"), std::string::npos) << text;
  EXPECT_NE(text.find("4 files from release " + short_id(first.id)), std::string::npos) << text;
  board.expect_live(first);
  EXPECT_EQ(board.entries("releases"), 1U);
}

TEST(Deploy, AProgramThatDoesNotAgreeIsNotSwitchedTo) {
  const LocalBoard board;
  auto files = usual_files();
  const auto first = make_package(board.directory() / "first", files);
  static_cast<void>(board.deploy(first));
  const auto expect = [&](const std::string& program, int code, std::string_view part) {
    files["bin/hello"] = "#!/bin/sh\n" + program + "\n";
    const auto error = deploy_error(board, make_package(board.directory() / "second", files));
    EXPECT_EQ(error.exit_code(), code) << error.what();
    EXPECT_TRUE(says(error, part)) << error.what();
    EXPECT_TRUE(says(error, short_id(first.id) + ", is untouched")) << error.what();
    board.expect_live(first);
  };
  expect("echo checking hello; echo wanted PTX 8.5, board has 8.2 >&2; exit 11",
         finding_code::driver, "wanted PTX 8.5, board has 8.2");
  expect("echo hello: version GLIBC_2.38 not found >&2; exit 1", finding_code::c_library,
         "does not start");
  expect("exit 0", 1, "does not start");
  expect("kill -SEGV $$", 1, "139");
}

TEST(Deploy, TwoAttemptsAtOnceDoNotMix) {
  const LocalBoard board;
  const auto package = make_package(board.package(), usual_files());
  Releases one(board.transport(), board.destination());
  Releases two(board.transport(), board.destination());
  static_cast<void>(one.look(package.id));
  const auto staged = one.stage(package.id);
  static_cast<void>(one.copy_by_rsync(package.directory, staged, ""));
  static_cast<void>(two.look(package.id));
  const auto other = two.stage(package.id);
  EXPECT_NE(staged, other);
  try {
    one.switch_to(package.id, staged, {package.id});
    ADD_FAILURE() << "switched to what another is making";
  } catch (const Error& error) {
    EXPECT_TRUE(says(error, "taken over")) << error.what();
  }
  EXPECT_FALSE(fs::exists(board.path("current")));
  EXPECT_EQ(compare_files(package.files, two.files(other)), std::vector<std::string>{});
  two.switch_to(package.id, other, {package.id});
  board.expect_live(package);
}

TEST(Deploy, DestinationsAreDirectoriesOfTheirOwn) {
  const LocalBoard board;
  for (const char* dest : {"", "/", "~", "~/", ".", "a\nb"}) {
    EXPECT_THROW(Releases(board.transport(), dest), Error) << dest;
  }
}

TEST(Deploy, AnotherMachineAndNoRoom) {
  const LocalBoard other("PATH=$(dirname \"$0\"):$PATH; export PATH\n");
  write_file(other.directory() / "uname", "#!/bin/sh\necho pdp11\n", 0755);
  write_file(other.directory() / "df", "#!/bin/sh\necho head\necho disk 9 9 1 9%% /\n", 0755);
  const auto error = deploy_error(other, make_package(other.package(), usual_files()));
  EXPECT_EQ(error.exit_code(), finding_code::c_library);
  EXPECT_TRUE(says(error, "pdp11")) << error.what();
  EXPECT_TRUE(says(error, "has 1.0 KiB")) << error.what();
  EXPECT_TRUE(says(error, "nothing was changed")) << error.what();
  EXPECT_FALSE(fs::exists(other.path().parent_path().parent_path()));
}

// P41: the words of --ssh are those of every call, whatever carries it out.
TEST(Pains, P41_EveryCallGoesByTheSameWords) {
  for (const bool with_rsync : {true, false}) {
    const LocalBoard board("printf '%s\\n' \"$*\" >>\"$(dirname \"$0\")/calls\"\n" +
                           (with_rsync ? "" : no_rsync));
    const auto package = make_package(board.package(), usual_files());
    static_cast<void>(board.deploy(package));
    EXPECT_EQ(board.transport().run_program({"true"}), 0);
    const std::string calls = read_file(board.directory() / "calls");
    std::size_t started = 0;
    std::size_t carriers = 0;
    for (const auto& line : split(calls, '\n')) {
      if (line.rfind("-F ", 0) == 0) ++started;
      if (line.rfind("-F a b -o ", 0) != 0) continue;
      if (line.find("rsync") != std::string::npos && line.find("--server") != std::string::npos) {
        ++carriers;
      }
      if (line.find("'tar'") != std::string::npos) ++carriers;
    }
    EXPECT_EQ(carriers, 1U) << calls;
    EXPECT_GE(started, 6U) << calls;
  }
}

// P42: without a terminal nothing is asked, and what has to be done by hand is said.
TEST(Pains, P42_AnUnknownHostKeyDoesNotHang) {
  const int kept = ::dup(STDIN_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  // As ssh does: it asks unless it is told not to; its key is in what it says of itself.
  const FakeSsh ssh(
      "printf '%s\\n' \"$*\" >>\"$(dirname \"$0\")/calls\"\n"
      "case \"$*\" in *BatchMode=yes*) ;; *) sleep 30 ;; esac\n"
      "case \"$*\" in *' -v '*) echo 'debug1: Server host key: ssh-ed25519 SHA256:abc/+d' >&2 ;; "
      "esac\n"
      "echo 'Host key verification failed.' >&2; exit 255");
  const auto start = std::chrono::steady_clock::now();
  try {
    const Transport transport("nvidia@board", ssh.command());
    static_cast<void>(transport.require_script("looking", "true", {}));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), finding_code::unreachable);
    EXPECT_TRUE(says(error, "ssh-ed25519 SHA256:abc/+d")) << error.what();
    EXPECT_TRUE(says(error, "-F 'a b' nvidia@board true")) << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(read_file(ssh.directory() / "calls").find("StrictHostKeyChecking"), std::string::npos);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ::close(nothing);
}

// P44: an ssh that loses the end of what it carries and says nothing. Success is what the board has
// verified.
TEST(Pains, P44_ALinkThatDropsIsNoSuccess) {
  const LocalBoard board(
      "if [ -e \"$(dirname \"$0\")/drop\" ]; then case \"$*\" in\n"
      "  *\"'tar'\"*) while [ \"$1\" != board ]; do shift; done; shift\n"
      "    head -c 60000 | sh -c \"$*\" 2>/dev/null; cat >/dev/null; exit 0 ;; esac; fi\n" +
      no_rsync);
  const auto first = make_package(board.directory() / "first", usual_files());
  static_cast<void>(board.deploy(first));
  auto files = usual_files();
  files["data/kernels"] = std::string(100000, 'z');
  const auto second = make_package(board.directory() / "second", files);
  write_file(board.directory() / "drop", "");
  const auto error = deploy_error(board, second);
  EXPECT_EQ(error.exit_code(), finding_code::incomplete);
  EXPECT_TRUE(says(error, "data/kernels")) << error.what();
  EXPECT_TRUE(says(error, short_id(first.id) + ", is untouched")) << error.what();
  board.expect_live(first);
  fs::remove(board.directory() / "drop");
  static_cast<void>(board.deploy(second));
  board.expect_live(second);
}
