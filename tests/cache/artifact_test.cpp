#include "teeny/cache/artifact.hpp"

#include <gtest/gtest.h>

#include "teeny/base/error.hpp"
#include "teeny/target/assembler.hpp"

namespace teeny {
namespace {

const std::string elf = std::string(
    "\x7f"
    "ELF\x02\x01\x01\0 image",
    14);

ArtifactInfo ptx_info() {
  ArtifactInfo info;
  info.kind = ArtifactKind::ptx;
  info.kernel = "VectorAdd";
  info.fingerprint = std::string(64, '1');
  info.target = Target(Capability::sm_87, PtxVersion{8, 2}).canonical();
  info.compiler = std::string(64, 'c');
  info.key = artifact_key(info.fingerprint, Target(Capability::sm_87, PtxVersion{8, 2}),
                          info.compiler, "");
  info.capability = Capability::sm_87;
  info.ptx_version = PtxVersion{8, 2};
  info.parameters = {"ptr<const f32>", "i32"};
  info.launch_abi = 1;
  info.threads = 128;
  info.shared_bytes = 1024;
  return info;
}

ArtifactInfo cpu_info() {
  ArtifactInfo info = ptx_info();
  info.kind = ArtifactKind::shared_object;
  info.target = Target(CpuTarget{"aarch64-linux-gnu", "cortex-a78ae", ""}).canonical();
  info.capability.reset();
  info.ptx_version.reset();
  info.scratch_bytes = 4096;
  return info;
}

std::string message_of(const std::string& bytes) {
  try {
    static_cast<void>(Artifact::unpack(bytes, "/somewhere/file"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.message().find("/somewhere/file"), std::string::npos) << error.message();
    EXPECT_FALSE(error.next().empty());
    return error.message();
  }
  return {};
}

TEST(Artifact, PtxComesBackWhole) {
  for (const std::string code :
       {".version 8.2\n", ".version 8.2", "", "\n\n", "//teeny-sha256 x\n"}) {
    const Artifact artifact{ptx_info(), code};
    const Artifact back = Artifact::unpack(artifact.pack(), "file");
    EXPECT_EQ(back.code, code);
    EXPECT_EQ(back.info.kernel, "VectorAdd");
    EXPECT_EQ(back.info.key, artifact.info.key);
    EXPECT_EQ(back.info.capability, Capability::sm_87);
    EXPECT_EQ(back.info.ptx_version, (PtxVersion{8, 2}));
    EXPECT_EQ(back.info.parameters, artifact.info.parameters);
    EXPECT_EQ(back.info.shared_bytes, 1024u);
  }
}

TEST(Artifact, PtxStaysPtx) {
  const std::string packed = Artifact{ptx_info(), ".version 8.2"}.pack();
  EXPECT_EQ(packed.compare(0, 13, ".version 8.2\n"), 0);
  std::size_t start = 13;
  while (start < packed.size()) {
    EXPECT_EQ(packed.compare(start, 7, "//teeny"), 0) << packed.substr(start);
    start = packed.find('\n', start) + 1;
  }
}

TEST(Artifact, ElfComesBackWholeBehindItsImage) {
  const Artifact artifact{cpu_info(), elf};
  const std::string packed = artifact.pack();
  EXPECT_EQ(packed.compare(0, elf.size(), elf), 0);
  const Artifact back = Artifact::unpack(packed, "file");
  EXPECT_EQ(back.code, elf);
  EXPECT_EQ(back.info.kind, ArtifactKind::shared_object);
  EXPECT_EQ(back.info.scratch_bytes, 4096u);
}

TEST(Artifact, TimesAreNotInTheBytes) {
  Artifact one{ptx_info(), "code"};
  Artifact other = one;
  other.info.compile_ms = 17.5;
  EXPECT_EQ(one.pack(), other.pack());
}

TEST(Artifact, EveryTruncationIsRefused) {
  for (const std::string& packed : {Artifact{ptx_info(), ".version 8.2\n.target sm_87\n"}.pack(),
                                    Artifact{cpu_info(), elf}.pack()}) {
    for (std::size_t length = 0; length < packed.size(); ++length) {
      EXPECT_FALSE(message_of(packed.substr(0, length)).empty()) << length;
    }
    EXPECT_NE(message_of(packed.substr(0, packed.size() / 2)).find("truncated"), std::string::npos);
  }
}

TEST(Artifact, EveryAlteredByteIsRefused) {
  for (const std::string& packed :
       {Artifact{ptx_info(), ".version 8.2\n"}.pack(), Artifact{cpu_info(), elf}.pack()}) {
    for (std::size_t at = 0; at < packed.size(); ++at) {
      std::string altered = packed;
      altered[at] = static_cast<char>(altered[at] ^ 1);
      EXPECT_FALSE(message_of(altered).empty()) << at;
    }
    std::string altered = packed;
    altered[packed.size() / 3] = '#';
    EXPECT_NE(message_of(altered).find("altered"), std::string::npos);
    EXPECT_FALSE(message_of(packed + "x").empty());
    EXPECT_FALSE(message_of(packed + "\n").empty());
  }
}

TEST(Artifact, WhatIsNoArtifactIsRefused) {
  EXPECT_NE(message_of(".version 8.2\n.target sm_87\n").find("truncated"), std::string::npos);
  EXPECT_FALSE(message_of("\n").empty());
  EXPECT_FALSE(message_of(std::string(1000, '\0')).empty());
  EXPECT_FALSE(message_of(elf).empty());
}

TEST(Artifact, CodeOfAnotherKindIsRefused) {
  EXPECT_NE(message_of(Artifact{cpu_info(), "text"}.pack()), "");
  EXPECT_NE(message_of(Artifact{ptx_info(), elf}.pack()), "");
}

TEST(Artifact, KeyCoversEveryField) {
  const std::string fingerprint(64, '1');
  const std::string compiler(64, 'c');
  const std::string key = artifact_key(fingerprint, Target(Capability::sm_87), compiler, "");
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(key, artifact_key(fingerprint, Target(Capability::sm_87), compiler, ""));
  EXPECT_NE(key, artifact_key(std::string(64, '2'), Target(Capability::sm_87), compiler, ""));
  EXPECT_NE(key, artifact_key(fingerprint, Target(Capability::sm_86), compiler, ""));
  EXPECT_NE(key, artifact_key(fingerprint, Target(Capability::sm_87, {8, 2}), compiler, ""));
  EXPECT_NE(key, artifact_key(fingerprint, Target(Capability::sm_87), std::string(64, 'd'), ""));
  EXPECT_NE(key, artifact_key(fingerprint, Target(Capability::sm_87), compiler, "ptxas 13.0"));
  CudaTarget slow{Capability::sm_87};
  slow.opt_level = 0;
  EXPECT_NE(key, artifact_key(fingerprint, Target(slow), compiler, ""));
}

TEST(Artifact, MachineCodeComesBackWithItsResources) {
  Artifact artifact{ptx_info(), elf};
  artifact.info.kind = ArtifactKind::cubin;
  artifact.info.assembler = assembler_name({12, 9, 86});
  artifact.info.elf_abi = 7;
  artifact.info.registers = 24;
  artifact.info.spill_bytes = 0;
  artifact.info.static_shared_bytes = 48;
  const ArtifactInfo back = Artifact::unpack(artifact.pack(), "file").info;
  EXPECT_EQ(back.assembler, "ptxas 12.9.86");
  EXPECT_EQ(back.elf_abi, 7);
  EXPECT_EQ(back.registers, 24);
  EXPECT_EQ(back.spill_bytes, 0);
  EXPECT_EQ(back.shared_bytes, 1024U);
  EXPECT_EQ(back.static_shared_bytes, 48U);
  // What is unknown is not 0.
  const ArtifactInfo plain = Artifact::unpack(Artifact{ptx_info(), "x"}.pack(), "file").info;
  EXPECT_EQ(plain.elf_abi, std::nullopt);
  EXPECT_EQ(plain.registers, -1);
  EXPECT_EQ(plain.spill_bytes, -1);
}

TEST(Artifact, SaysWhatItRunsOn) {
  ArtifactInfo info = ptx_info();
  EXPECT_EQ(runs_on(info), "sm_87 and later");
  info.capability = Capability::sm_90a;
  EXPECT_EQ(runs_on(info), "sm_90a only");
  info.kind = ArtifactKind::cubin;
  EXPECT_EQ(runs_on(info), "sm_90a only");
  info.capability = Capability::sm_87;
  EXPECT_EQ(runs_on(info), "sm_87 only");
  info.capability = Capability::sm_80;
  EXPECT_EQ(runs_on(info), "sm_80, sm_86, sm_89");
  info.capability = Capability::sm_90;
  EXPECT_EQ(runs_on(info), "sm_90 only");
  EXPECT_EQ(runs_on(cpu_info()), "aarch64-linux-gnu cortex-a78ae");
}

}  // namespace
}  // namespace teeny
