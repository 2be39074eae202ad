#include "tool/transport/transport.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tool/fake_ssh.hpp"
#include "tool/package/findings.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/base/text.hpp"

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

TEST(Transport, TakesTheAnswerOutOfWhatALoginShellPrints) {
  const FakeSsh ssh("echo hello; echo TEENY; " + FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  EXPECT_EQ(transport.require_script("x", "printf 'a\\nb\\n'", {}), "a\nb\n");
  EXPECT_EQ(transport.require_script("x", ":", {}), "");
  EXPECT_EQ(transport.require_script("x", "cat", {}, "of the input"), "of the input");
}

TEST(Transport, AnAnswerThatIsCutShortIsNone) {
  const FakeSsh ssh(std::string(FakeSsh::skip_options) + "sh -c \"$*\" | head -c 20; exit 0");
  const Transport transport("board", ssh.command());
  try {
    static_cast<void>(transport.require_script("x", "printf '%30s' y", {}));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), finding_code::unreachable);
    EXPECT_NE(std::string(error.what()).find("cut short"), std::string::npos) << error.what();
  }
}

TEST(Transport, TellsAReadOnlyDiskFromAForbiddenOne) {
  const auto next_of = [](const std::string& text) {
    return error_of("echo 'mkdir: cannot create directory /x: " + text + "' >&2; exit 1").next();
  };
  EXPECT_NE(next_of("Read-only file system").find("read-only"), std::string::npos);
  EXPECT_NE(next_of("Permission denied").find("--dest"), std::string::npos);
}

TEST(Transport, RunsAProgramAndReturnsItsExitCode) {
  const FakeSsh ssh(FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  EXPECT_EQ(transport.run_program({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(transport.run_program({"sh", "-c", "exit 255"}), 255);
  EXPECT_EQ(transport.run_program({"sh", "-c", "[ \"$1\" = \"it's \\$x\" ]", "sh", "it's $x"}), 0);
  EXPECT_EQ(transport.run_program({"sh", "-c", "kill -KILL $$"}), 128 + 9);
}

TEST(Transport, AConnectionThatIsLostIsNoExitCode) {
  const FakeSsh ssh("echo 'Connection closed by remote host' >&2; exit 255");
  const Transport transport("board", ssh.command());
  EXPECT_THROW(static_cast<void>(transport.run_program({"true"})), Error);
}

// A signal to this process ends the program over there, and what that has started.
TEST(Transport, ASignalGoesToTheProgram) {
  const FakeSsh ssh(FakeSsh::obedient());
  const fs::path started = ssh.directory() / "started";
  const auto child = ::fork();
  if (child == 0) {
    const auto run_there = [&] {
      const Transport transport("board", ssh.command());
      return transport.run_program({"sh", "-c",
                                    "sleep 300 & echo $! >\"$1.part\"; mv \"$1.part\" \"$1\"; wait",
                                    "sh", started.string()});
    };
    std::_Exit(run_there());
  }
  ASSERT_GT(child, 0);
  for (int i = 0; i < 500 && !fs::exists(started); ++i) ::usleep(20000);
  ASSERT_TRUE(fs::exists(started));
  ::kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  const auto sleeper = parse_unsigned(trim(read_file(started)));
  ASSERT_TRUE(sleeper.has_value());
  const std::string command =
      read_file_if_exists("/proc/" + std::to_string(*sleeper) + "/cmdline").value_or("");
  EXPECT_EQ(command.find("sleep"), std::string::npos) << "it runs on";
}

TEST(Transport, PullsADirectoryAsItIsThere) {
  const FakeSsh ssh(FakeSsh::obedient());
  const Transport transport("board", ssh.command());
  const TemporaryDirectory directory("pull 'é $");
  const fs::path from = directory.path() / "from";
  fs::create_directories(from / "modules");
  fs::create_directories(from / "sub folder");
  write_file(from / "modules" / "large", "large");
  write_file(from / "sub folder" / "a", "new");
  fs::create_symlink("/nowhere", from / "link");
  for (const bool rsync : {true, false}) {
    const fs::path to = directory.path() / (rsync ? "by rsync" : "by tar");
    const fs::path there = rsync ? to : to / from.relative_path();
    fs::create_directories(to);
    if (rsync) {
      write_file(to / "stale", "old");
      EXPECT_TRUE(transport.pull_rsync(from.string(), to, {"modules", "firmware"}).empty());
    } else {
      EXPECT_TRUE(transport.pull_tar({from.string()}, to, {"modules", "firmware"}).empty());
    }
    EXPECT_EQ(read_file(there / "sub folder" / "a"), "new");
    EXPECT_EQ(fs::read_symlink(there / "link"), "/nowhere");
    EXPECT_FALSE(fs::exists(there / "modules"));
    EXPECT_FALSE(fs::exists(there / "stale"));
  }
  try {
    static_cast<void>(
        transport.pull_rsync((from / "gone").string(), directory.path() / "by rsync", {}));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("copying from the board"), std::string::npos);
  }
}
