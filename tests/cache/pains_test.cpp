// What users of this field reported, as tests: each is named after its number.

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_compiler.hpp"

#include "teeny/base/error.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/cache/cache.hpp"
#include "teeny/cache/compiler_client.hpp"
#include "teeny/cache/location.hpp"
#include "teeny/ir/fingerprint.hpp"
#include "teeny/ir/text.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using test::constant_kernel;
using test::FakeCompiler;
using test::files_below;
using test::Variable;

const Target orin(Capability::sm_87);

// Runs `body` in a process of its own and returns its pid; the child's exit code is 0, or 1 for an
// Error.
int in_child(const std::function<void()>& body) {
  const int pid = ::fork();
  if (pid != 0) return pid;
  int code = 0;
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    code = 1;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

int exit_of(int pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Every process of one pool's own, so that a forked child shares no pipe with its parent.
fs::path compile_alone(const ir::Kernel& kernel, const Target& target, const fs::path& cache,
                       bool* hit = nullptr) {
  CompilerPool pool(*find_compiler(), 1);
  return compile_to_cache(pool, kernel, ir::fingerprint(kernel), target, false, cache, hit);
}

TEST(Pains, P15_WhatAnotherCompilerMadeIsStaleAndSaysBothVersions) {
  TemporaryDirectory cache;
  const ir::Kernel kernel = constant_kernel("K", 1);
  FakeCompiler compiler('a');
  const fs::path old_path = compile_alone(kernel, orin, cache.path());
  const std::string old_bytes = read_file(old_path);
  compiler.set_identity('b');
  testing::internal::CaptureStderr();
  const fs::path new_path = compile_alone(kernel, orin, cache.path());
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(new_path, old_path);
  EXPECT_NE(told.find(old_path.filename().string() + " is stale"), std::string::npos) << told;
  EXPECT_NE(told.find("teenyc " + std::string(12, 'a')), std::string::npos) << told;
  EXPECT_NE(told.find("teenyc " + std::string(12, 'b')), std::string::npos) << told;
  // It is not touched: the old compiler may still be somebody's.
  EXPECT_EQ(read_file(old_path), old_bytes);
  // The same for assemblers; and nothing is said of what is as it should be.
  CompilerPool pool(compiler.location(), 1);
  const auto assemble = [&](AssemblerVersion version) {
    testing::internal::CaptureStderr();
    static_cast<void>(
        assemble_to_cache(pool, {"/fake/ptxas", version}, new_path, orin, false, cache.path()));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(assemble({12, 8, 93}), "");
  const std::string of_assembler = assemble({12, 9, 86});
  EXPECT_NE(of_assembler.find("made by ptxas 12.8.93, this one is ptxas 12.9.86"),
            std::string::npos)
      << of_assembler;
  EXPECT_EQ(assemble({12, 9, 86}), "");
}

TEST(Pains, P16_ManyProcessesOneColdCache) {
  FakeCompiler compiler;
  constexpr int processes = 16;
  constexpr int rounds = 50;
  const ir::Kernel kernel = constant_kernel("K", 1);
  TemporaryDirectory scratch;
  std::string bytes;
  for (int round = 0; round < rounds; ++round) {
    const fs::path cache = scratch.path() / std::to_string(round);
    std::vector<int> children;
    for (int i = 0; i < processes; ++i) {
      children.push_back(in_child([&] {
        const fs::path path = compile_alone(kernel, orin, cache);
        // What was promised must be there, whole, at once.
        static_cast<void>(Artifact::unpack(read_file(path), path));
      }));
    }
    for (const int child : children) ASSERT_EQ(exit_of(child), 0) << "round " << round;
    const auto artifacts = Cache(cache).list("K", ir::fingerprint(kernel));
    ASSERT_EQ(artifacts.size(), 1u);
    if (bytes.empty()) bytes = read_file(artifacts.front());
    ASSERT_EQ(read_file(artifacts.front()), bytes) << "round " << round;
    ASSERT_EQ(files_below(cache).size(), 2u) << "the artifact and kernel.tir, nothing left over";
  }
  EXPECT_EQ(compiler.count("compile K"), rounds)
      << "one of the processes compiles, the others wait for it";
}

TEST(Pains, P17_KilledAtAnyPointLeavesNothingOrAll) {
  FakeCompiler compiler;
  TemporaryDirectory scratch;
  std::mt19937 random(17);
  const ir::Kernel kernel = constant_kernel("K", 1);
  const std::string fingerprint = ir::fingerprint(kernel);
  Artifact artifact = CompilerPool(compiler.location(), 1).compile(kernel, fingerprint, orin);
  artifact.code.append(std::size_t{4} << 20, ' ');
  const auto began = std::chrono::steady_clock::now();
  Cache(scratch.path() / "timed").publish(artifact);
  const auto once = std::chrono::steady_clock::now() - began;
  int whole = 0;
  int cut = 0;
  for (int round = 0; round < 40; ++round) {
    const Cache cache(scratch.path() / std::to_string(round));
    const int child = in_child([&] {
      for (int i = 0;; ++i) {
        artifact.info.key = artifact_key(fingerprint, orin, std::to_string(i), "");
        cache.publish(artifact);
      }
    });
    // Half of them are killed anywhere, the others as soon as a file is seen that is not yet whole.
    if (round % 2 == 0) {
      std::this_thread::sleep_for(once * (random() % 1000) / 250);
    } else {
      const auto begun = [&] {
        return fs::exists(cache.directory()) &&
               files_below(cache.directory()).size() != cache.list("K", fingerprint).size();
      };
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10) + 4 * once;
      while (!begun() && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    }
    ::kill(child, SIGKILL);
    exit_of(child);
    for (const fs::path& path : cache.list("K", fingerprint)) {
      ASSERT_EQ(Artifact::unpack(read_file(path), path).code, artifact.code);
      ++whole;
    }
    cut += fs::exists(cache.directory()) &&
           files_below(cache.directory()).size() != cache.list("K", fingerprint).size();
    fs::remove_all(cache.directory());
  }
  EXPECT_GT(whole, 0) << "the killing came too early to show anything";
  EXPECT_GT(cut, 0) << "the killing never met a write";
}

TEST(Pains, P17_ADeadOwnersLockIsNotWaitedFor) {
  FakeCompiler compiler;
  TemporaryDirectory cache;
  const ir::Kernel kernel = constant_kernel("K", 1);
  int child = 0;
  {
    const Variable fault("FAKE_FAULT", "hang:K");
    child = in_child([&] { compile_alone(kernel, orin, cache.path()); });
    while (compiler.count("compile K") == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  exit_of(child);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_NO_THROW(compile_alone(kernel, orin, cache.path()));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(Pains, P18_ScratchFilesArePrivateToAProcess) {
  FakeCompiler compiler;
  TemporaryDirectory temporary;
  TemporaryDirectory cache;
  const Variable scratch("TMPDIR", temporary.path().string());
  const Variable fault("FAKE_FAULT", "abort:Bad");
  const ir::Kernel kernel = constant_kernel("Bad", 1);
  std::vector<int> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(in_child([&] { compile_alone(kernel, orin, cache.path()); }));
  }
  for (const int child : children) EXPECT_EQ(exit_of(child), 1);
  // Each failure kept its kernel in a directory of its own, closed to others; nothing else is
  // there.
  int kept = 0;
  for (const auto& entry : fs::directory_iterator(temporary.path())) {
    struct stat status{};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_TRUE(entry.is_directory());
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_EQ(files_below(entry.path()), std::vector<std::string>{"Bad.tir"});
    ++kept;
  }
  EXPECT_EQ(kept, 4);
  EXPECT_TRUE(files_below(cache.path()).empty());
}

TEST(Pains, P19_TheKeyCoversWhatTheCompilerReads) {
  FakeCompiler compiler;
  TemporaryDirectory cache;
  // The compiler reads this text and the target, nothing else: no header, no macro.
  const ir::Kernel before = constant_kernel("K", 1);
  const ir::Kernel edited = constant_kernel("K", 2);
  const ir::Kernel reformatted = ir::parse(ir::print(before));
  bool hit = true;
  const fs::path path = compile_alone(before, orin, cache.path(), &hit);
  EXPECT_FALSE(hit);
  EXPECT_NE(compile_alone(edited, orin, cache.path(), &hit), path);
  EXPECT_FALSE(hit);
  EXPECT_EQ(compile_alone(reformatted, orin, cache.path(), &hit), path);
  EXPECT_TRUE(hit) << "equal IR is the same kernel";
}

TEST(Pains, P20_TheCompilersVersionIsInTheKeyWhateverThePath) {
  TemporaryDirectory cache;
  const ir::Kernel kernel = constant_kernel("K", 1);
  FakeCompiler compiler('a');
  const fs::path old_path = compile_alone(kernel, orin, cache.path());
  compiler.set_identity('b');
  bool hit = true;
  const fs::path new_path = compile_alone(kernel, orin, cache.path(), &hit);
  EXPECT_FALSE(hit) << "the upgraded compiler took the old one's code";
  EXPECT_NE(new_path, old_path);
  EXPECT_EQ(Artifact::unpack(read_file(new_path), new_path).info.compiler, std::string(64, 'b'));
  compiler.set_identity('a');
  EXPECT_EQ(compile_alone(kernel, orin, cache.path(), &hit), old_path);
  EXPECT_TRUE(hit);
}

TEST(Pains, P21_OnlyWhatAChangeAffectsIsCompiledAgain) {
  FakeCompiler compiler;
  TemporaryDirectory cache;
  const auto compile_all = [&](const Target& cuda) {
    int misses = 0;
    for (int i = 0; i < 5; ++i) {
      for (const Target& target :
           {cuda, Target(CpuTarget{"aarch64-linux-gnu", "cortex-a78ae", ""})}) {
        bool hit = false;
        compile_alone(constant_kernel("K", i), target, cache.path(), &hit);
        misses += hit ? 0 : 1;
      }
    }
    return misses;
  };
  EXPECT_EQ(compile_all(orin), 10);
  // Another time, place and process, and files of the compiler that are newer: still the same.
  compiler.set_identity('a');
  const Variable zone("TZ", "Asia/Tokyo");
  EXPECT_EQ(compile_all(orin), 0);
  CudaTarget other{Capability::sm_87};
  other.opt_level = 1;
  EXPECT_EQ(compile_all(Target(other)), 5) << "the CPU's code knows nothing of a CUDA option";
}

TEST(Pains, P22_OneNameTwoBodiesTwoEntries) {
  FakeCompiler compiler;
  TemporaryDirectory cache;
  const fs::path one = compile_alone(constant_kernel("K", 1), orin, cache.path());
  const fs::path two = compile_alone(constant_kernel("K", 2), orin, cache.path());
  EXPECT_NE(one, two);
  EXPECT_TRUE(fs::exists(one));
  EXPECT_TRUE(fs::exists(two));
}

TEST(Pains, P23_ReadingNeedsNoHomeNoRightsAndWritesNothing) {
  TemporaryDirectory cache;
  fs::permissions(cache.path(), fs::perms::others_exec | fs::perms::others_read,
                  fs::perm_options::add);
  const ir::Kernel kernel = constant_kernel("K", 1);
  const std::string fingerprint = ir::fingerprint(kernel);
  FakeCompiler compiler;
  fs::permissions(compiler.directory(), fs::perms::others_exec | fs::perms::others_read,
                  fs::perm_options::add);
  const fs::path directory = cache.path() / "cache";
  compile_alone(kernel, orin, directory);
  const auto before = files_below(directory);
  for (const fs::path& path : {directory, directory / ("K-" + fingerprint)}) {
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                              fs::perms::others_exec);
  }
  const auto as_nobody = [&](bool with_compiler) {
    return exit_of(in_child([&] {
      constexpr uid_t nobody = 65534;
      if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(3);
      ::setenv("HOME", "/nonexistent", 1);
      if (!with_compiler) {
        ::clearenv();
        static_cast<void>(
            Cache(directory).choose_cuda("K", fingerprint, {Capability::sm_87, {12, 6}, true}));
        return;
      }
      bool hit = false;
      compile_alone(kernel, orin, directory, &hit);
      if (!hit) ::_exit(4);
    }));
  };
  EXPECT_EQ(as_nobody(false), 0);
  EXPECT_EQ(as_nobody(true), 0);
  EXPECT_EQ(files_below(directory), before);
  for (const fs::path& path : {directory, directory / ("K-" + fingerprint)}) {
    fs::permissions(path, fs::perms::owner_all);
  }
}

TEST(Pains, P24_TwoUsersDoNotMeetInTheTemporaryDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to be two users";
  TemporaryDirectory root;
  fs::create_directories(root.path() / "tmp");
  ::chmod(root.path().c_str(), 0755);
  ::chmod((root.path() / "tmp").c_str(), 01777);
  FakeCompiler compiler;
  ::chmod(compiler.directory().c_str(), 0777);
  std::vector<fs::path> places;
  for (const uid_t user : {uid_t{12345}, uid_t{12346}}) {
    EXPECT_EQ(exit_of(in_child([&] {
                if (::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(3);
                CacheSurroundings surroundings{"/nonexistent/bin/program"};
                surroundings.temporary = root.path() / "tmp";
                surroundings.user = user;
                const fs::path cache = default_cache_dir(surroundings);
                ::umask(0);
                fs::create_directory(cache);
                ::chmod(cache.c_str(), 0700);
                compile_alone(constant_kernel("K", 1), orin, cache);
              })),
              0)
        << user;
  }
  EXPECT_FALSE(files_below(root.path() / "tmp" / "teenyc_cache").empty());
  EXPECT_FALSE(files_below(root.path() / "tmp" / "teenyc_cache-12346").empty());
}

TEST(Pains, P24_ASharedCacheWorksForItsGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to be two users";
  constexpr gid_t group = 23456;
  TemporaryDirectory root;
  ::chmod(root.path().c_str(), 0755);
  const fs::path cache = root.path() / "shared";
  fs::create_directory(cache);
  ASSERT_EQ(::chown(cache.c_str(), 0, group), 0);
  ::chmod(cache.c_str(), 02770);
  FakeCompiler compiler;
  ::chmod(compiler.directory().c_str(), 0777);
  int value = 0;
  for (const uid_t user : {uid_t{12345}, uid_t{12346}, uid_t{12345}}) {
    EXPECT_EQ(exit_of(in_child([&] {
                ::umask(077);
                if (::setgid(group) != 0 || ::setuid(user) != 0) ::_exit(3);
                compile_alone(constant_kernel("K", 1), orin, cache);
                // The same kernel for another target goes into a directory that the other user
                // made.
                compile_alone(constant_kernel("K", 1),
                              Target(CudaTarget{Capability::sm_87, PtxVersion{8, value}}), cache);
              })),
              0)
        << user;
    ++value;
  }
}

}  // namespace
}  // namespace teeny
