#include <gtest/gtest.h>

#include "tests/cache/fake_assembler.hpp"
#include "tests/cache/fake_compiler.hpp"

#include "teeny/base/error.hpp"
#include "teeny/base/files.hpp"
#include "teeny/cache/artifact.hpp"
#include "teeny/cache/assembler_client.hpp"
#include "teeny/ir/fingerprint.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

using test::constant_kernel;
using test::Variable;
using test::write_fake_ptxas;

constexpr AssemblerVersion cuda_11{11, 8, 89};
constexpr AssemblerVersion cuda_12{12, 9, 86};
constexpr AssemblerVersion cuda_13{13, 0, 88};

std::vector<std::string> names(const FoundAssemblers& found) {
  std::vector<std::string> list;
  for (const Assembler& assembler : found.usable) {
    list.push_back(assembler.version.name() + " " + assembler.program.string());
  }
  return list;
}

template <class Do>
Error error_of(const Do& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return Error(ErrorKind::internal, "");
}

class FindAssemblers : public testing::Test {
 protected:
  FindAssemblers() : no_list_("TEENY_PTXAS", std::nullopt) {}
  [[nodiscard]] fs::path below(const std::string& name) const { return root_.path() / name; }
  [[nodiscard]] fs::path teenyc() const { return below("bin/teenyc"); }

  TemporaryDirectory root_{"find assemblers"};
  Variable no_list_;
};

TEST_F(FindAssemblers, TheVariableNamesThemAllAndNoOthers) {
  const fs::path one = write_fake_ptxas(below("a b/ptxas"), cuda_13);
  const fs::path two = write_fake_ptxas(below("two/ptxas-12"), cuda_12);
  write_fake_ptxas(below("share/teeny/toolchain/ptxas-11.8.89/bin/ptxas"), cuda_11);
  const Variable list("TEENY_PTXAS", one.string() + ":" + two.string() + ":" + one.string());
  EXPECT_EQ(names(find_assemblers(teenyc())),
            (std::vector<std::string>{"13.0.88 " + one.string(), "12.9.86 " + two.string()}));
}

TEST_F(FindAssemblers, AWrongNameInTheVariableIsAnError) {
  write_file(below("no program"), "text");
  write_file(below("mute"), "#!/bin/sh\nexit 0\n", 0755);
  write_file(below("bad"), "#!/bin/sh\nexit 3\n", 0755);
  write_file(below("other"), "#!/bin/sh\necho clang 19\n", 0755);
  for (const auto& [name, says] : std::vector<std::pair<std::string, std::string>>{
           {"/nonexistent/ptxas", "no program"},
           {below("no program").string(), "no program"},
           {below("").string(), "no program"},
           {below("mute").string(), "found nothing"},
           {below("bad").string(), "exit code 3"},
           {below("other").string(), "clang 19"},
           {below("mute").string() + ":", "found nothing"}}) {
    const Variable list("TEENY_PTXAS", name);
    const Error error = error_of([&] { static_cast<void>(find_assemblers(teenyc())); });
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    EXPECT_NE(error.message().find("TEENY_PTXAS=" + name), std::string::npos) << error.message();
    EXPECT_NE(error.message().find(says), std::string::npos) << error.message();
  }
}

TEST_F(FindAssemblers, TheToolchainFolderThenPath) {
  const fs::path folder = below("share/teeny/toolchain");
  // Which version it has is in its directory's name: such a script would say another.
  const fs::path twelve = write_fake_ptxas(folder / "ptxas-12.9.86/bin/ptxas", {1, 1, 1});
  const fs::path eleven = write_fake_ptxas(folder / "ptxas-11.8.89/bin/ptxas", {1, 1, 1});
  write_fake_ptxas(folder / "ptxas-x/bin/ptxas", cuda_12);
  write_fake_ptxas(folder / ".part-1/ptxas-13.0.88/bin/ptxas", cuda_13);
  const fs::path on_path = write_fake_ptxas(below("path/ptxas"), {12, 4, 1});
  const Variable path("PATH", below("path").string() + ":/usr/bin:/bin");
  auto found = names(find_assemblers(teenyc()));
  // What lies beside this very program is a toolchain folder too.
  const std::string own = (executable_path().parent_path() / "../share/teeny/toolchain").string();
  std::erase_if(found, [&](const std::string& each) { return each.find(own) != each.npos; });
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found[0], "12.9.86 " + twelve.string());
  EXPECT_EQ(found[1], "11.8.89 " + eleven.string());
  EXPECT_EQ(found[2], "12.4.1 " + on_path.string());
  // What follows can only be this machine's own toolkits.
  for (std::size_t i = 3; i < found.size(); ++i) {
    EXPECT_NE(found[i].find("/usr/local/cuda"), std::string::npos) << found[i];
  }
}

TEST_F(FindAssemblers, ALinkToTeenycLeadsToItsToolchain) {
  const fs::path there =
      write_fake_ptxas(below("opt/share/teeny/toolchain/ptxas-12.9.86/bin/ptxas"), cuda_12);
  fs::create_directories(below("opt/bin"));
  fs::create_directories(below("bin"));
  write_file(below("opt/bin/teenyc"), "", 0755);
  fs::create_symlink(below("opt/bin/teenyc"), teenyc());
  const auto found = names(find_assemblers(teenyc()));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0], "12.9.86 " + fs::canonical(there).string());
}

TEST_F(FindAssemblers, WhatCannotBeUsedIsListed) {
  const fs::path broken = below("path/ptxas");
  fs::create_directories(broken.parent_path());
  write_file(broken, "#!/bin/sh\nexit 9\n", 0755);
  const Variable path("PATH", below("path").string());
  const FoundAssemblers found = find_assemblers(teenyc());
  ASSERT_EQ(found.unusable.size(), 1U);
  EXPECT_EQ(found.unusable[0].program, broken);
  EXPECT_EQ(found.unusable[0].why, "--version ended with exit code 9");
}

TEST(RequireAssembler, NamesWhatWouldDoWhatIsThereAndHowToGetOne) {
  const FoundAssemblers found{{{"/a/ptxas", cuda_13}, {"/b/ptxas", cuda_11}},
                              {{"/c/ptxas", "did not answer"}}};
  EXPECT_EQ(require_assembler(found, {13, 0}, Capability::sm_87, std::nullopt).program, "/a/ptxas");
  EXPECT_EQ(require_assembler(found, {12, 6}, Capability::sm_87, std::nullopt).program, "/b/ptxas");
  const Error error = error_of([&] {
    static_cast<void>(require_assembler(found, {12, 6}, Capability::sm_87, PtxVersion{8, 5}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::environment);
  EXPECT_EQ(error.exit_code(), 1);
  for (const char* part : {"sm_87", "driver 12.6", "PTX 8.5", "wanted ptxas of CUDA 12, found\n",
                           "/a/ptxas (ptxas 13.0.88): wanted a driver of CUDA 13.0 or later",
                           "/b/ptxas (ptxas 11.8.89): wanted an assembler that reads PTX 8.5",
                           "/c/ptxas: did not answer"}) {
    EXPECT_NE(error.message().find(part), std::string::npos) << part << "\n" << error.message();
  }
  EXPECT_NE(error.next().find("teeny install-toolchain"), std::string::npos);
  EXPECT_NE(error.next().find("machine-code=no"), std::string::npos);
  const Error none = error_of(
      [&] { static_cast<void>(require_assembler({}, {12, 6}, Capability::sm_87, std::nullopt)); });
  EXPECT_NE(none.message().find("found none"), std::string::npos) << none.message();
}

class AssembleToCache : public testing::Test {
 protected:
  AssembleToCache() : pool_(compiler_.location(), 1) {
    kernel_ = constant_kernel("K", 1);
    ptx_ = compile_to_cache(pool_, kernel_, ir::fingerprint(kernel_), target_, false, cache());
  }
  [[nodiscard]] fs::path cache() const { return directory_.path() / "cache"; }
  fs::path assemble(AssemblerVersion version, bool force = false) {
    return assemble_to_cache(pool_, {"/fake/ptxas", version}, ptx_, target_, force, cache(), &hit_);
  }

  TemporaryDirectory directory_;
  test::FakeCompiler compiler_;
  CompilerPool pool_;
  Target target_ = Target(CudaTarget{Capability::sm_87, PtxVersion{8, 2}, DriverVersion{12, 6}});
  ir::Kernel kernel_;
  fs::path ptx_;
  bool hit_ = false;
};

TEST_F(AssembleToCache, LiesBesideThePtxAndDescribesItself) {
  const fs::path path = assemble(cuda_12);
  EXPECT_FALSE(hit_);
  EXPECT_EQ(path.parent_path(), ptx_.parent_path());
  EXPECT_EQ(path.extension(), ".cubin");
  const Artifact artifact = Artifact::unpack(read_file(path), path);
  const ArtifactInfo ptx = Artifact::unpack(read_file(ptx_), ptx_).info;
  EXPECT_EQ(artifact.info.kind, ArtifactKind::cubin);
  EXPECT_EQ(artifact.info.assembler, "ptxas 12.9.86");
  EXPECT_EQ(artifact.info.elf_abi, 7);
  EXPECT_EQ(artifact.info.fingerprint, ptx.fingerprint);
  EXPECT_EQ(artifact.info.compiler, ptx.compiler);
  EXPECT_EQ(artifact.info.parameters, ptx.parameters);
  EXPECT_EQ(artifact.info.ptx_version, ptx.ptx_version);
  EXPECT_NE(artifact.info.key, ptx.key);
}

TEST_F(AssembleToCache, AHitStartsNothing) {
  const fs::path path = assemble(cuda_12);
  ASSERT_EQ(compiler_.count("assemble K"), 1);
  const int started = compiler_.count("start");
  EXPECT_EQ(assemble(cuda_12), path);
  EXPECT_TRUE(hit_);
  EXPECT_EQ(compiler_.count("assemble K"), 1);
  EXPECT_EQ(compiler_.count("start"), started);
  EXPECT_EQ(assemble(cuda_12, true), path);
  EXPECT_FALSE(hit_);
  EXPECT_EQ(compiler_.count("assemble K"), 2);
}

TEST_F(AssembleToCache, TheAssemblersVersionIsInTheKey) {
  const fs::path old_path = assemble(cuda_12);
  const fs::path new_path = assemble({12, 9, 99});
  EXPECT_FALSE(hit_);
  EXPECT_NE(old_path, new_path);
  EXPECT_TRUE(fs::exists(old_path));
  EXPECT_EQ(assemble(cuda_12), old_path);
  EXPECT_TRUE(hit_);
}

TEST_F(AssembleToCache, AFailureNamesTheKernelAndKeepsItsPtx) {
  const TemporaryDirectory kept;
  const Variable temporary("TMPDIR", kept.path().string());
  const Variable fault("FAKE_FAULT", "refuse:assemble K");
  CompilerPool pool(compiler_.location(), 1);  // that hears of the fault
  const Error error = error_of([&] {
    static_cast<void>(
        assemble_to_cache(pool, {"/fake/ptxas", cuda_12}, ptx_, target_, false, cache()));
  });
  EXPECT_NE(error.message().find("K is refused"), std::string::npos) << error.message();
  EXPECT_NE(error.next().find("PTX is kept"), std::string::npos) << error.next();
  const auto files = test::files_below(kept.path());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(fs::path(files[0]).filename(), "K.ptx");
  EXPECT_EQ(read_file(kept.path() / files[0]), Artifact::unpack(read_file(ptx_), ptx_).code);
  EXPECT_NE(error.next().find(files[0]), std::string::npos);
}

}  // namespace
}  // namespace teeny
