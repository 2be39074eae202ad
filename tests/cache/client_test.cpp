#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "fake_compiler.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/artifact.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/text.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using test::constant_kernel;
using test::FakeCompiler;
using test::Variable;

const Target orin(Capability::sm_87);

Artifact compile(CompilerPool& pool, const ir::Kernel& kernel, const Target& target = orin) {
  return pool.compile(kernel, ir::fingerprint(kernel), target);
}

// The error of compiling a kernel, or a test failure.
Error failure(CompilerPool& pool, const std::string& name) {
  try {
    static_cast<void>(compile(pool, constant_kernel(name, 1)));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << name << " compiled";
  return Error(ErrorKind::internal, "");
}

void expect_words(const Error& error, std::initializer_list<std::string> words) {
  for (const std::string& word : words) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << word << " in\n"
                                                                       << error.what();
  }
}

// The file that an error says it keeps.
fs::path kept_file(const Error& error) {
  const std::string text = error.next();
  const auto start = text.find("report in ");
  EXPECT_NE(start, std::string::npos) << text;
  return text.substr(start + 10, text.find('\n') - start - 10);
}

TEST(CompilerPool, FillsInWhatTheClientKnows) {
  FakeCompiler compiler;
  CompilerPool pool(compiler.location());
  const ir::Kernel kernel = constant_kernel("Seven", 7);
  const Artifact artifact = compile(pool, kernel);
  EXPECT_EQ(artifact.info.kernel, "Seven");
  EXPECT_EQ(artifact.info.fingerprint, ir::fingerprint(kernel));
  EXPECT_EQ(artifact.info.compiler, std::string(64, 'a'));
  EXPECT_EQ(artifact.info.key,
            artifact_key(ir::fingerprint(kernel), orin, std::string(64, 'a'), ""));
  EXPECT_GT(artifact.info.compile_ms, 0);
}

TEST(CompilerPool, KeepsProcessesForTheNextKernel) {
  FakeCompiler compiler;
  CompilerPool pool(compiler.location());
  for (int i = 0; i < 5; ++i) static_cast<void>(compile(pool, constant_kernel("K", i)));
  EXPECT_EQ(compiler.count("start"), 1);
  EXPECT_EQ(compiler.count("compile K"), 5);
}

TEST(CompilerPool, CompilesInParallelUpToItsLimit) {
  FakeCompiler compiler;
  const Variable delay("FAKE_DELAY_MS", "100");
  CompilerPool pool(compiler.location(), 3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 9; ++i) {
    threads.emplace_back([&pool, i] { static_cast<void>(compile(pool, constant_kernel("K", i))); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(compiler.count("start"), 3);
  EXPECT_EQ(compiler.count("compile K"), 9);
}

TEST(CompilerPool, AnAbortIsAnErrorThatKeepsTheKernel) {
  FakeCompiler compiler;
  const Variable fault("FAKE_FAULT", "abort:Bad");
  CompilerPool pool(compiler.location());
  static_cast<void>(compile(pool, constant_kernel("Good", 1)));
  const Error error = failure(pool, "Bad");
  expect_words(error, {"kernel Bad", "SIGABRT", "about to abort", "sm_87"});
  EXPECT_EQ(read_file(kept_file(error)), ir::print(constant_kernel("Bad", 1)));
  EXPECT_NO_THROW(static_cast<void>(compile(pool, constant_kernel("Good", 2))));
  EXPECT_EQ(compiler.count("start"), 2);
}

TEST(CompilerPool, ACrashAndAnExitSayHowTheyEnded) {
  FakeCompiler compiler;
  CompilerPool pool(compiler.location());
  {
    const Variable fault("FAKE_FAULT", "crash:Bad");
    expect_words(failure(pool, "Bad"), {"kernel Bad", "SIGSEGV"});
  }
  {
    const Variable fault("FAKE_FAULT", "exit:Bad");
    expect_words(failure(pool, "Bad"), {"kernel Bad", "exit code 7"});
  }
}

TEST(CompilerPool, AHangIsStoppedAndOthersGoOn) {
  FakeCompiler compiler;
  const Variable fault("FAKE_FAULT", "hang:Bad");
  const Variable timeout("TEENYC_TIMEOUT", "1");
  CompilerPool pool(compiler.location(), 2);
  const auto began = std::chrono::steady_clock::now();
  std::thread other([&pool] {
    for (int i = 0; i < 20; ++i) static_cast<void>(compile(pool, constant_kernel("Good", i)));
  });
  const Error error = failure(pool, "Bad");
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  expect_words(error, {"kernel Bad", "within 1 s", "TEENYC_TIMEOUT"});
  EXPECT_EQ(compiler.count("compile Good"), 20);
}

TEST(CompilerPool, GarbageIsAnErrorAtOnce) {
  FakeCompiler compiler;
  const Variable fault("FAKE_FAULT", "garbage:Bad");
  CompilerPool pool(compiler.location());
  const auto began = std::chrono::steady_clock::now();
  const Error error = failure(pool, "Bad");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  expect_words(error, {"kernel Bad", "protocol"});
  EXPECT_NO_THROW(static_cast<void>(compile(pool, constant_kernel("Good", 2))));
}

TEST(CompilerPool, OneThatBreaksTheProtocolInAReplyIsReplaced) {
  FakeCompiler compiler;
  const Variable fault("FAKE_FAULT", "header:Bad");
  CompilerPool pool(compiler.location());
  expect_words(failure(pool, "Bad"), {"kernel Bad", "protocol", "header"});
  // Its second reply, still in the pipe, is nobody's answer.
  EXPECT_EQ(compile(pool, constant_kernel("Good", 2)).code.find("Bad"), std::string::npos);
  EXPECT_EQ(compiler.count("start"), 2);
}

TEST(CompilerPool, ARefusalComesThroughAndCostsNoProcess) {
  FakeCompiler compiler;
  const Variable fault("FAKE_FAULT", "refuse:Bad");
  CompilerPool pool(compiler.location());
  const Error error = failure(pool, "Bad");
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_EQ(error.message(), "kernel Bad is refused");
  EXPECT_EQ(error.next(), "change it");
  static_cast<void>(compile(pool, constant_kernel("Good", 2)));
  EXPECT_EQ(compiler.count("start"), 1);
}

TEST(CompilerPool, OneKilledWhileIdleIsReplacedWithoutAWord) {
  FakeCompiler compiler;
  CompilerPool pool(compiler.location());
  static_cast<void>(compile(pool, constant_kernel("K", 1)));
  const std::string log = read_file(compiler.directory() / "log");
  ::kill(std::stoi(log.substr(log.find("start ") + 6)), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_NO_THROW(static_cast<void>(compile(pool, constant_kernel("K", 2))));
  EXPECT_EQ(compiler.count("start"), 2);
}

TEST(CompilerPool, AnIdentityThatIsNotItsFilesIsRefused) {
  FakeCompiler compiler;
  const Variable lie("FAKE_IDENTITY", std::string(64, 'e'));
  CompilerPool pool(compiler.location());
  expect_words(failure(pool, "K"), {std::string(64, 'a'), std::string(64, 'e'), ".identity"});
}

TEST(CompilerPool, ABadTimeLimitIsAUsageError) {
  FakeCompiler compiler;
  CompilerPool pool(compiler.location());
  for (const char* value : {"0", "soon", "-1", "1.5", "99999999"}) {
    const Variable timeout("TEENYC_TIMEOUT", value);
    const Error error = failure(pool, "K");
    EXPECT_EQ(error.exit_code(), 2);
    expect_words(error, {"TEENYC_TIMEOUT", value});
  }
}

TEST(FindCompiler, IsByVariableThenPathAndNeverAGuess) {
  TemporaryDirectory empty;
  {
    const Variable path("TEENYC_PATH", (empty.path() / "teenyc").string());
    EXPECT_THROW(static_cast<void>(find_compiler()), Error);
  }
  FakeCompiler compiler;
  EXPECT_EQ(find_compiler()->program, compiler.location().program);
  const Variable none("TEENYC_PATH", std::nullopt);
  {
    const Variable path("PATH", compiler.directory().string());
    EXPECT_EQ(find_compiler()->program, compiler.location().program);
    EXPECT_EQ(find_compiler()->identity, std::string(64, 'a'));
    fs::remove(compiler.directory() / "teenyc.identity");
    EXPECT_THROW(static_cast<void>(find_compiler()), Error);
  }
  const Variable path("PATH", empty.path().string());
  EXPECT_FALSE(find_compiler());
  const Variable no_path("PATH", std::nullopt);
  EXPECT_FALSE(find_compiler());
}

TEST(CompileToCache, AHitStartsNoProcess) {
  FakeCompiler compiler;
  TemporaryDirectory cache;
  const ir::Kernel kernel = constant_kernel("K", 1);
  bool hit = true;
  double milliseconds = -1;
  const fs::path path = compile_to_cache(kernel, orin, false, cache.path(), &hit, &milliseconds);
  EXPECT_FALSE(hit);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(path.extension(), ".ptx");
  const int starts = compiler.count("start");
  EXPECT_EQ(compile_to_cache(kernel, orin, false, cache.path(), &hit), path);
  EXPECT_TRUE(hit);
  EXPECT_EQ(compiler.count("compile K"), 1);
  EXPECT_EQ(compiler.count("start"), starts);
  EXPECT_EQ(compile_to_cache(kernel, orin, true, cache.path(), &hit), path);
  EXPECT_FALSE(hit);
  EXPECT_EQ(compiler.count("compile K"), 2);
}

TEST(CompileToCache, LeavesTheArtifactAndTheKernelsTextOnly) {
  FakeCompiler compiler;
  TemporaryDirectory cache;
  const ir::Kernel kernel = constant_kernel("K", 1);
  const fs::path path = compile_to_cache(kernel, orin, false, cache.path());
  const std::string directory = "K-" + ir::fingerprint(kernel) + "/";
  EXPECT_EQ(
      test::files_below(cache.path()),
      (std::vector<std::string>{directory + "kernel.tir", directory + path.filename().string()}));
}

TEST(CompileToCache, WithoutACompilerWhatIsThereIsUsedAndWhatIsNotIsTheMiss) {
  TemporaryDirectory cache;
  const ir::Kernel kernel = constant_kernel("K", 1);
  fs::path path;
  {
    FakeCompiler compiler;
    path = compile_to_cache(kernel, orin, false, cache.path());
  }
  const Variable none("TEENYC_PATH", std::nullopt);
  const Variable nowhere("PATH", "/nonexistent");
  EXPECT_EQ(compile_to_cache(kernel, orin, false, cache.path()), path);
  EXPECT_THROW(
      static_cast<void>(compile_to_cache(kernel, Target(Capability::sm_90), false, cache.path())),
      Error);
  EXPECT_THROW(
      static_cast<void>(compile_to_cache(constant_kernel("K", 2), orin, false, cache.path())),
      Error);
  EXPECT_THROW(static_cast<void>(compile_to_cache(kernel, orin, true, cache.path())), Error);
}

}  // namespace
}  // namespace teeny
