#include "teeny/base/process.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Command shell(const std::string& script) { return Command{.argv = {"sh", "-c", script}}; }

auto in(milliseconds time) { return Clock::now() + time; }

TEST(Run, OutputErrorAndExitCode) {
  const auto result = run(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.error, "err\n");
}

TEST(Run, ArgumentsArriveAsTheyAre) {
  const std::vector<std::string> words = {"a b", "",  "'\"$HOME`id`\\", "*", "\xc3\xa9\xff",
                                          "-n",  "\n"};
  Command command{.argv = {"sh", "-c", "for w in \"$@\"; do printf '%s|' \"$w\"; done", "sh"}};
  std::string expected;
  for (const auto& word : words) {
    command.argv.push_back(word);
    expected += word + "|";
  }
  EXPECT_EQ(run(command).output, expected);
}

TEST(Run, MoreThanThePipesHold) {
  Command command = shell("tee /dev/stderr");
  std::string bytes(3'000'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  command.input = bytes;
  const auto result = run(command);
  EXPECT_TRUE(result.output == bytes);
  EXPECT_TRUE(result.error == bytes);
}

TEST(Run, AChildThatDoesNotReadItsInput) {
  Command command = shell("exit 3");
  command.input = std::string(1'000'000, 'x');
  EXPECT_EQ(run(command).exit_code, 3);
  command = shell("exec 0<&-; sleep 0.1; echo done");
  command.input = std::string(1'000'000, 'x');
  EXPECT_EQ(run(command).output, "done\n");
}

TEST(Run, WithoutInputItIsEmpty) {
  EXPECT_EQ(run(shell("cat; echo end")).output, "end\n");
  Command command = shell("cat; echo end");
  command.input = "";
  EXPECT_EQ(run(command).output, "end\n");
}

TEST(Run, DirectoryAndEnvironment) {
  const TemporaryDirectory directory("a b");
  Command command = shell("pwd -P; echo \"$TEENY_A:$TEENY_B\"; env | grep -c '^TEENY_A='");
  command.directory = directory.path();
  command.environment = {{"TEENY_A", "x y"}, {"TEENY_B", "$z"}};
  ASSERT_EQ(::setenv("TEENY_A", "old", 1), 0);
  EXPECT_EQ(run(command).output, fs::canonical(directory.path()).string() + "\nx y:$z\n1\n");
  Command bare{.argv = {"env"}};
  bare.environment = {{"ONE", "1"}};
  bare.clear_environment = true;
  EXPECT_EQ(run(bare).output, "ONE=1\n");
  ::unsetenv("TEENY_A");
  command.directory = directory.path() / "absent";
  try {
    static_cast<void>(run(command));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("absent: No such file"), std::string::npos) << error.what();
  }
}

TEST(Run, WhatCannotBeStartedIsNamed) {
  const TemporaryDirectory directory;
  const auto message = [](const std::string& program) {
    try {
      static_cast<void>(run(Command{.argv = {program}}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::environment);
      return std::string(error.what());
    }
    return std::string("started");
  };
  EXPECT_NE(message("no such program").find("cannot start 'no such program': it is not on PATH"),
            std::string::npos);
  EXPECT_EQ(message("/no/such"), "cannot start /no/such: No such file or directory");
  write_file(directory.path() / "plain", "x", 0644);
  EXPECT_NE(message((directory.path() / "plain").string()).find("Permission denied"),
            std::string::npos);
  write_file(directory.path() / "text", "just text", 0755);
  EXPECT_NE(message((directory.path() / "text").string()).find("Exec format error"),
            std::string::npos);
  write_file(directory.path() / "script", "#!/no/interpreter\n", 0755);
  EXPECT_NE(message((directory.path() / "script").string()).find("interpreter"), std::string::npos);
  EXPECT_THROW(static_cast<void>(run(Command{})), Error);
  EXPECT_THROW(static_cast<void>(run(Command{.argv = {"sh", std::string("a\0b", 3)}})), Error);
}

TEST(Run, ASignalIsAnExitCode) {
  const auto result = run(shell("kill -ABRT $$"));
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.exit_code, 128 + SIGABRT);
}

// Gone, or dead and not yet collected by whoever inherited it.
bool has_ended(const std::string& pid) {
  for (const auto deadline = in(milliseconds{10'000}); Clock::now() < deadline;) {
    const auto status = read_file_if_exists("/proc/" + pid + "/status");
    if (!status || status->find("State:\tZ") != std::string::npos) return true;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return false;
}

TEST(Run, ATimeoutEndsTheWholeGroup) {
  Command command = shell("sleep 100 & echo $!; sleep 100");
  command.timeout = milliseconds{1000};
  const auto start = Clock::now();
  const auto result = run(command);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_LT(Clock::now() - start, milliseconds{50'000});
  ASSERT_FALSE(result.output.empty());
  EXPECT_TRUE(has_ended(result.output.substr(0, result.output.size() - 1)));
}

TEST(Run, OutputMayGoToOurError) {
  Command command = shell("echo out; echo err >&2");
  command.capture_output = false;
  command.output_to_error = true;
  command.capture_error = false;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const auto result = run(command);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "out\nerr\n");
  EXPECT_EQ(result.output + result.error, "");
}

TEST(Run, ATimeoutWhileItTalksOrIsSilent) {
  Command command = shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done");
  command.timeout = milliseconds{100};
  EXPECT_TRUE(run(command).timed_out);
  command = shell("exec >&- 2>&-; exec sleep 60");
  command.timeout = milliseconds{100};
  EXPECT_TRUE(run(command).timed_out);
  command = shell("echo quick");
  command.timeout = milliseconds{30'000};
  EXPECT_EQ(run(command).output, "quick\n");
}

// ssh's shared connection does this: a daemon keeps the pipe, the command itself is done.
TEST(Run, ADescendantThatKeepsThePipeIsNotWaitedFor) {
  const auto start = Clock::now();
  const auto result = run(shell("sleep 20 & echo early"));
  EXPECT_EQ(result.output, "early\n");
  EXPECT_LT(Clock::now() - start, milliseconds{15'000});
}

TEST(Run, NoDescriptorLeaks) {
  // What whoever started the test left open for it goes to the child too; nothing of ours may.
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  std::string expected;
  for (int i = 0; i < 1024; ++i) {
    const int flags = ::fcntl(i, F_GETFD);
    if (i < 3 || (flags >= 0 && (flags & FD_CLOEXEC) == 0)) expected += std::to_string(i) + " ";
  }
  const auto result =
      run(shell("for i in $(seq 0 1023); do [ -e /proc/$$/fd/$i ] && printf '%s ' $i; done"));
  ::close(fd);
  EXPECT_EQ(result.output, expected);
  const auto count = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = count();
  for (int i = 0; i < 20; ++i) static_cast<void>(run(shell("echo x")));
  EXPECT_THROW(static_cast<void>(run(Command{.argv = {"/no/such"}})), Error);
  {
    PipedProcess piped(Command{.argv = {"cat"}});
  }
  EXPECT_EQ(count(), before);
}

TEST(Run, WorksWithStandardStreamsClosed) {
  // In a child of ours, so that the test itself keeps its streams.
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(0);
    ::close(1);
    ::close(2);
    const auto result = run(shell("echo out; echo err >&2"));
    ::_exit(result.output == "out\n" && result.error == "err\n" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Run, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        Command command{.argv = {"cat"}};
        command.input = std::to_string(t * 100 + i);
        EXPECT_EQ(run(command).output, *command.input);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Run, SigpipeOfTheChildIsTheDefault) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(run(shell("kill -PIPE $$; echo alive")).signal, SIGPIPE);
  std::signal(SIGPIPE, before);
}

TEST(Display, AsOneWouldTypeIt) {
  EXPECT_EQ(display({"ssh", "-p", "22", "host", "a b"}), "ssh -p 22 host 'a b'");
  EXPECT_EQ(display({"x", "", "it's", "$HOME", "a=b", "\xc3\xa9"}),
            "x '' 'it'\\''s' '$HOME' a=b '\xc3\xa9'");
  EXPECT_EQ(display({"A=b"}), "'A=b'");
  EXPECT_EQ(display({}), "");
  const std::vector<std::string> words = {"printf", "%s|", "a b", "'", "\"$x\\", "~", "", "\n"};
  EXPECT_EQ(run(shell(display(words))).output, "a b|'|\"$x\\|~||\n|");
}

TEST(FindProgram, OnPath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_FALSE(find_program("no such program"));
  EXPECT_FALSE(find_program(""));
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  const TemporaryDirectory directory("with space");
  write_file(directory.path() / "tool", "#!/bin/sh\necho mine\n", 0755);
  write_file(directory.path() / "plain", "x", 0644);
  fs::create_directory(directory.path() / "folder");
  Command command{.argv = {"tool"}};
  command.environment = {{"PATH", "/nowhere:" + directory.path().string() + ":/usr/bin:/bin"}};
  EXPECT_EQ(run(command).output, "mine\n");
  for (const char* name : {"plain", "folder"}) {
    command.argv = {name};
    EXPECT_THROW(static_cast<void>(run(command)), Error);
  }
}

TEST(PipedProcess, TalksBothWays) {
  PipedProcess cat(Command{.argv = {"cat"}});
  for (int i = 0; i < 50; ++i) {
    const std::string text = "message " + std::to_string(i);
    ASSERT_TRUE(cat.write(text, in(milliseconds{60'000})));
    ASSERT_EQ(cat.read(text.size(), in(milliseconds{60'000})), text);
  }
  EXPECT_EQ(cat.read(0, in(milliseconds{0})), "");
  const auto result = cat.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "");
  EXPECT_THROW(static_cast<void>(cat.wait()), Error);
}

TEST(PipedProcess, DeadlinesHold) {
  PipedProcess silent(Command{.argv = {"sleep", "60"}});
  const auto start = Clock::now();
  EXPECT_FALSE(silent.read(1, in(milliseconds{100})));
  EXPECT_FALSE(silent.write(std::string(1'000'000, 'x'), in(milliseconds{100})));
  EXPECT_GE(Clock::now() - start, milliseconds{200});
  silent.kill();
  const auto result = silent.wait();
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_LT(Clock::now() - start, milliseconds{50'000});
}

TEST(PipedProcess, AChildThatDies) {
  PipedProcess child(shell("echo partial; echo why >&2; kill -SEGV $$"));
  EXPECT_FALSE(child.read(100, in(milliseconds{60'000})));
  // The first write may still fit the pipe of a child that is ending; it never raises SIGPIPE.
  bool written = true;
  for (int i = 0; i < 1000 && written; ++i) {
    written = child.write(std::string(1000, 'x'), in(milliseconds{60'000}));
  }
  EXPECT_FALSE(written);
  const auto result = child.wait();
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(result.error, "why\n");
}

TEST(PipedProcess, ErrorsAreDrainedAndTheLastKept) {
  PipedProcess child(shell("yes | head -c 1000000 >&2; echo tail >&2; echo ok; cat"));
  EXPECT_EQ(child.read(3, in(milliseconds{60'000})), "ok\n");
  const auto result = child.wait();
  EXPECT_EQ(result.error.size(), 65536U);
  EXPECT_EQ(result.error.substr(result.error.size() - 5), "tail\n");
}

TEST(PipedProcess, UnreadOutputComesWithTheEnd) {
  PipedProcess child(shell("head -c 500000 /dev/zero"));
  EXPECT_EQ(child.wait().output.size(), 500'000U);
}

TEST(PipedProcess, DestructionEndsIt) {
  int pid = 0;
  const auto start = Clock::now();
  {
    PipedProcess stubborn(shell("trap '' TERM; while :; do sleep 1; done"));
    pid = stubborn.pid();
  }
  EXPECT_LT(Clock::now() - start, milliseconds{50'000});
  EXPECT_NE(::kill(pid, 0), 0);
  {
    PipedProcess polite(Command{.argv = {"cat"}});
    pid = polite.pid();
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(PipedProcess, CannotBeStarted) {
  EXPECT_THROW(PipedProcess(Command{.argv = {"no such program"}}), Error);
}

}  // namespace
}  // namespace teeny
