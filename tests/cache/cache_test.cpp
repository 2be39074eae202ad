#include "teeny/cache/cache.hpp"

#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_compiler.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/text.hpp"

namespace fs = std::filesystem;

namespace teeny {
namespace {

const std::string fingerprint(64, 'f');

class CacheTest : public testing::Test {
 protected:
  Artifact cuda(Capability capability, ArtifactKind kind, PtxVersion version = {8, 2},
                const std::string& note = "") {
    Artifact artifact;
    artifact.info.kind = kind;
    artifact.info.kernel = "Kernel";
    artifact.info.fingerprint = fingerprint;
    const Target target(capability, version);
    artifact.info.target = target.canonical();
    artifact.info.capability = capability;
    if (kind == ArtifactKind::ptx) artifact.info.ptx_version = version;
    if (kind == ArtifactKind::cubin) artifact.info.assembler = assembler_name({12, 9, 86});
    artifact.info.key = artifact_key(fingerprint, target, note, extension(kind));
    artifact.code = kind == ArtifactKind::ptx ? "ptx\n"
                                              : "\x7f"
                                                "ELF machine code";
    cache_.publish(artifact);
    return artifact;
  }
  // Machine code of sm_87 by an assembler of another release than `cuda` has.
  Artifact assembled_by(AssemblerVersion version) {
    Artifact artifact = cuda(Capability::sm_87, ArtifactKind::cubin);
    std::filesystem::remove(cache_.path_of(artifact.info));
    artifact.info.assembler = assembler_name(version);
    artifact.info.elf_abi = elf_abi(version, Capability::sm_87)->version;
    artifact.info.key = artifact_key(fingerprint, Target(Capability::sm_87), "", version.name());
    cache_.publish(artifact);
    return artifact;
  }
  Artifact cpu(const std::string& triple, const std::string& name) {
    Artifact artifact;
    artifact.info.kind = ArtifactKind::shared_object;
    artifact.info.kernel = "Kernel";
    artifact.info.fingerprint = fingerprint;
    const Target target(CpuTarget{triple, name, ""});
    artifact.info.target = target.canonical();
    artifact.info.key = artifact_key(fingerprint, target, "", "");
    artifact.code =
        "\x7f"
        "ELF shared object";
    cache_.publish(artifact);
    return artifact;
  }
  std::string chosen(const DeviceFacts& device) {
    try {
      return cache_.choose_cuda("Kernel", fingerprint, device).info.key;
    } catch (const Error& error) {
      miss_ = error.what();
      return "";
    }
  }

  TemporaryDirectory directory_;
  Cache cache_{directory_.path() / "cache"};
  std::string miss_;
};

TEST_F(CacheTest, AnArtifactIsOneFileUnderItsFullNames) {
  const Artifact artifact = cuda(Capability::sm_87, ArtifactKind::ptx);
  EXPECT_EQ(test::files_below(directory_.path()),
            std::vector<std::string>{"cache/Kernel-" + fingerprint + "/sm_87." + artifact.info.key +
                                     ".ptx"});
  EXPECT_EQ(cache_.path_of(artifact.info), directory_.path() / "cache" / ("Kernel-" + fingerprint) /
                                               ("sm_87." + artifact.info.key + ".ptx"));
}

TEST_F(CacheTest, FindsByExactKeyOnly) {
  const Artifact artifact = cuda(Capability::sm_87, ArtifactKind::ptx);
  const Target target(Capability::sm_87, PtxVersion{8, 2});
  const auto found = cache_.find("Kernel", fingerprint, target, artifact.info.key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, artifact.code);
  EXPECT_FALSE(cache_.find("Kernel", fingerprint, target, std::string(64, '0')));
  EXPECT_FALSE(cache_.find("Other", fingerprint, target, artifact.info.key));
  EXPECT_FALSE(
      Cache(directory_.path() / "none").find("Kernel", fingerprint, target, artifact.info.key));
}

TEST_F(CacheTest, ADamagedArtifactIsRefusedNotSkipped) {
  const Artifact artifact = cuda(Capability::sm_87, ArtifactKind::ptx);
  const fs::path path = cache_.path_of(artifact.info);
  const std::string bytes = read_file(path);
  const Target target(Capability::sm_87, PtxVersion{8, 2});
  for (const std::string& damaged :
       {bytes.substr(0, bytes.size() / 2), "x" + bytes, std::string()}) {
    write_file(path, damaged);
    EXPECT_THROW(static_cast<void>(cache_.find("Kernel", fingerprint, target, artifact.info.key)),
                 Error);
    EXPECT_THROW(
        static_cast<void>(cache_.choose_cuda("Kernel", fingerprint, {Capability::sm_87, {12, 6}})),
        Error);
  }
}

TEST_F(CacheTest, AnArtifactUnderAnothersNameIsRefused) {
  const Artifact one = cuda(Capability::sm_87, ArtifactKind::ptx);
  const Artifact other = cuda(Capability::sm_75, ArtifactKind::ptx);
  fs::rename(cache_.path_of(other.info), cache_.path_of(one.info));
  EXPECT_THROW(
      static_cast<void>(cache_.find("Kernel", fingerprint,
                                    Target(Capability::sm_87, PtxVersion{8, 2}), one.info.key)),
      Error);
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}}), "");
}

TEST_F(CacheTest, ChoosesMachineCodeBeforePtx) {
  const auto exact = cuda(Capability::sm_86, ArtifactKind::cubin);
  const auto lower = cuda(Capability::sm_80, ArtifactKind::cubin);
  const auto ptx = cuda(Capability::sm_86, ArtifactKind::ptx);
  EXPECT_EQ(chosen({Capability::sm_86, {12, 6}}), exact.info.key);
  EXPECT_EQ(chosen({Capability::sm_80, {12, 6}}), lower.info.key);
  EXPECT_EQ(chosen({Capability::sm_89, {12, 6}}), exact.info.key) << "the nearest lower minor";
  EXPECT_EQ(chosen({Capability::sm_90, {12, 6}}), ptx.info.key);
}

TEST_F(CacheTest, WhereMachineCodeFitsExactlyNothingElseIsRead) {
  const auto spoil = [&](const Artifact& artifact) {
    write_file(cache_.path_of(artifact.info), "no artifact");
  };
  const auto ptx = cuda(Capability::sm_86, ArtifactKind::ptx);
  const auto lower = cuda(Capability::sm_80, ArtifactKind::cubin);
  spoil(ptx);
  spoil(cpu("aarch64-linux-gnu", "cortex-a78ae"));
  EXPECT_EQ(chosen({Capability::sm_86, {12, 6}}), "") << "compatible code is not the best there is";
  EXPECT_NE(miss_.find("truncated"), std::string::npos) << miss_;
  std::set<std::string> exact;
  for (const char* note : {"a", "b", "c"}) {
    exact.insert(cuda(Capability::sm_86, ArtifactKind::cubin, {8, 2}, note).info.key);
    EXPECT_EQ(chosen({Capability::sm_86, {12, 6}}), *exact.rbegin()) << "always the same one";
  }
  spoil(lower);
  EXPECT_EQ(chosen({Capability::sm_86, {12, 6}}), "") << "all machine code is read";
}

TEST_F(CacheTest, AnIntegratedChipTakesOnlyItsOwnMachineCode) {
  cuda(Capability::sm_80, ArtifactKind::cubin);
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}, true}), "");
  EXPECT_NE(miss_.find("integrated"), std::string::npos) << miss_;
  const auto ptx = cuda(Capability::sm_80, ArtifactKind::ptx);
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}, true}), ptx.info.key);
  const auto own = cuda(Capability::sm_87, ArtifactKind::cubin);
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}, true}), own.info.key);
}

TEST_F(CacheTest, TakesMachineCodeOfTheDriversMajorAtMost) {
  const auto ptx = cuda(Capability::sm_87, ArtifactKind::ptx, {7, 4});
  const auto by_13 = assembled_by({13, 0, 88});
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}, true}), ptx.info.key);
  const auto by_12 = assembled_by({12, 9, 86});
  const auto by_11 = assembled_by({11, 8, 89});
  EXPECT_EQ(chosen({Capability::sm_87, {11, 4}, true}), by_11.info.key);
  EXPECT_EQ(chosen({Capability::sm_87, {12, 2}, true}), by_12.info.key);
  EXPECT_EQ(chosen({Capability::sm_87, {13, 2}, true}), by_13.info.key);
}

TEST_F(CacheTest, MachineCodeOfAnUnknownAssemblerIsNotLoaded) {
  Artifact artifact = cuda(Capability::sm_87, ArtifactKind::cubin);
  for (const char* name : {"", "clang 19", "ptxas"}) {
    artifact.info.assembler = name;
    cache_.publish(artifact);
    EXPECT_EQ(chosen({Capability::sm_87, {13, 0}, true}), "");
    EXPECT_NE(miss_.find("does not say its assembler"), std::string::npos) << miss_;
  }
}

TEST_F(CacheTest, ChoosesTheHighestPtxThatTheDriverLoads) {
  const auto old = cuda(Capability::sm_75, ArtifactKind::ptx, {6, 3});
  const auto mid = cuda(Capability::sm_87, ArtifactKind::ptx, {7, 4});
  const auto high = cuda(Capability::sm_87, ArtifactKind::ptx, {8, 5});
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}}), high.info.key);
  EXPECT_EQ(chosen({Capability::sm_87, {12, 2}}), mid.info.key);
  EXPECT_EQ(chosen({Capability::sm_86, {12, 6}}), old.info.key);
}

TEST_F(CacheTest, TheMissMessageSaysWhatWasWantedAndWhatIsThere) {
  cuda(Capability::sm_89, ArtifactKind::ptx, {7, 8});
  cpu("aarch64-linux-gnu", "cortex-a78ae");
  EXPECT_EQ(chosen({Capability::sm_87, {11, 4}, true}), "");
  for (const char* word :
       {"Kernel", "sm_87", "11.4", "7.4", "sm_89", "capability", "cpu.", "teeny aot"}) {
    EXPECT_NE(miss_.find(word), std::string::npos) << word << " in " << miss_;
  }
}

TEST_F(CacheTest, TheMissMessageOfAnEmptyCacheNamesThePlace) {
  EXPECT_EQ(chosen({Capability::sm_87, {12, 6}, true}), "");
  EXPECT_NE(miss_.find("nothing in " + (directory_.path() / "cache").string()), std::string::npos)
      << miss_;
}

TEST_F(CacheTest, ChoosesCpuCodeThatThisMachineRuns) {
  cpu("aarch64-linux-gnu", "cortex-a78ae");
  const CpuTarget host{"x86_64-linux-gnu", "x86-64-v3", ""};
  try {
    static_cast<void>(cache_.choose_cpu("Kernel", fingerprint, host));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("aarch64-linux-gnu"), std::string::npos)
        << error.what();
  }
  cpu("x86_64-linux-gnu", "x86-64-v4");
  EXPECT_THROW(static_cast<void>(cache_.choose_cpu("Kernel", fingerprint, host)), Error);
  const auto fits = cpu("x86_64-linux-gnu", "x86-64-v3");
  EXPECT_EQ(cache_.choose_cpu("Kernel", fingerprint, host).info.key, fits.info.key);
}

TEST_F(CacheTest, ListLeavesOutWhatIsNoArtifact) {
  const auto artifact = cuda(Capability::sm_87, ArtifactKind::ptx);
  const fs::path directory = cache_.path_of(artifact.info).parent_path();
  write_file(directory / "kernel.tir", "text");
  write_file(directory / ".x.ptx", "half");
  EXPECT_EQ(cache_.list("Kernel", fingerprint),
            std::vector<fs::path>{cache_.path_of(artifact.info)});
  EXPECT_TRUE(cache_.list("None", fingerprint).empty());
}

TEST_F(CacheTest, KeepsTheKernelsTextBesideItsArtifacts) {
  const ir::Kernel kernel = test::constant_kernel("Kernel", 7);
  cache_.publish_ir(kernel, fingerprint);
  cache_.publish_ir(kernel, fingerprint);
  EXPECT_EQ(read_file(cache_.directory() / ("Kernel-" + fingerprint) / "kernel.tir"),
            ir::print(kernel));
}

TEST_F(CacheTest, SharedCachesStaySharedAndPrivateOnesPrivate) {
  const auto mode = [](const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  fs::create_directory(cache_.directory());
  ::chmod(cache_.directory().c_str(), 02775);
  const mode_t before = ::umask(077);
  const auto artifact = cuda(Capability::sm_87, ArtifactKind::ptx);
  ::umask(before);
  EXPECT_EQ(mode(cache_.path_of(artifact.info)) & 0660, 0660u);
  EXPECT_EQ(mode(cache_.path_of(artifact.info).parent_path()) & 0020, 0020u);
}

}  // namespace
}  // namespace teeny
