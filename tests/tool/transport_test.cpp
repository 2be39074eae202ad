#include "tool/transport/transport.hpp"

#include <gtest/gtest.h>

#include "tests/tool/fake_ssh.hpp"
#include "tool/package/findings.hpp"
#include "tool/transport/release.hpp"
#include "tool/transport/words.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;
using namespace teeny;
using namespace teeny::tool;

namespace {

Error error_of(const std::string& body) {
  const FakeSsh ssh(body);
  const Transport transport("board", ssh.command());
  try {
    static_cast<void>(transport.require_script("trying", "true", {}));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::internal, "");
}

}  // namespace

TEST(Transport, RefusesHostsThatAreOptionsPathsOrTwoWords) {
  for (const char* host : {"", "-oProxyCommand=x", "a b", "a:b", "user@", "@host", "u@-x", "a;b",
                           "$(x)", "a/b", "a\nb", "'a'"}) {
    try {
      const Transport transport(host, "ssh");
      ADD_FAILURE() << host;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << host;
    }
  }
  EXPECT_NO_THROW(Transport("nvidia@orin-1.local", "ssh"));
}

TEST(Pains, P40_RemoteArgumentsOnAwkwardPaths) {
  const FakeSsh ssh(FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  const std::vector<std::string> words = {"two words", "it's", "\"q\"", "$HOME", "`id`",
                                          "é",         "",     "-x",    "a\nb"};
  std::string expected;
  for (const auto& word : words) expected += "[" + word + "]";
  EXPECT_EQ(transport.require_script("x", "printf '[%s]' \"$@\"", words), expected);
}

TEST(Transport, SaysWhatWentWrongAndWhatToDo) {
  const auto expect = [](const std::string& stderr_text, int rc, const char* part, int code) {
    const Error error = error_of("echo '" + stderr_text + "' >&2; exit " + std::to_string(rc));
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(error.exit_code(), code) << error.what();
  };
  expect("Host key verification failed.", 255, "accept it once by hand", finding_code::unreachable);
  expect("nvidia@board: Permission denied (publickey).", 255, "refuses the login",
         finding_code::unreachable);
  expect("ssh: Could not resolve hostname board: Name or service not known", 255, "no host called",
         finding_code::unreachable);
  expect("ssh: connect to host board port 22: Connection refused", 255, "--ssh",
         finding_code::unreachable);
  expect("Timeout, server board not responding.", 255, "network", finding_code::unreachable);
  expect("tar: write error: No space left on device", 2, "disk is full", finding_code::space);
  expect("sh: odd", 3, "exit code 3", 1);
}

TEST(Release, GoesThroughItsStatesOnAMachine) {
  const FakeSsh ssh(FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  const fs::path home = ssh.directory() / "home";
  const fs::path package = ssh.directory() / "package";
  fs::create_directories(home);
  fs::create_directories(package / "bin");
  write_file(package / "bin" / "a\\b \"c\" 'é $", "abc", 0755);
  write_file(package / "data", "d");
  const std::string dest = (home / "apps' $x" / "demo").string();
  std::vector<std::string> ids = {std::string(64, 'a'), std::string(64, 'b')};
  for (const auto& id : ids) {
    for (const bool with_rsync : {false, true}) {
      ReleaseDirectory releases(transport, dest, id);
      BoardState state = releases.look();
      EXPECT_EQ(state.destination, dest);
      EXPECT_TRUE(state.free_kib.has_value());
      if (with_rsync && !state.has_rsync) continue;
      EXPECT_GT(releases.copy(package, state, with_rsync), 0U);
      EXPECT_EQ(compare_files(list_files(package), releases.files(true)),
                std::vector<std::string>{});
      releases.settle();
      EXPECT_EQ(compare_files(list_files(package), releases.files(false)),
                std::vector<std::string>{});
      releases.switch_to();
      EXPECT_EQ(fs::read_symlink(fs::path(dest) / "current"), "releases/" + id);
      EXPECT_EQ(read_file(fs::path(dest) / "current" / "data"), "d");
      EXPECT_EQ(releases.look().current, id);
      EXPECT_TRUE(releases.look().has_release);
    }
  }
  // Nothing stale, nothing half-done.
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(dest) / "releases"), {}), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(dest), {}), 2);
}

TEST(Release, DestinationsAreDirectoriesOfTheirOwn) {
  const FakeSsh ssh(FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  for (const char* dest : {"", "/", "~", "~/", ".", "a\nb"}) {
    EXPECT_THROW(ReleaseDirectory(transport, dest, "x"), Error) << dest;
  }
}
