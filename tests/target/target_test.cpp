#include "teeny/target/target.hpp"

#include <gtest/gtest.h>

#include "src/target/host_cpu.hpp"

#include "teeny/base/error.hpp"

namespace teeny {
namespace {

CudaTarget full_cuda() {
  CudaTarget target{Capability::sm_90a};
  target.ptx_version = PtxVersion{8, 2};
  target.driver = DriverVersion{12, 6};
  target.max_registers = 128;
  target.line_info = true;
  target.opt_level = 3;
  return target;
}

TEST(Target, ShortNames) {
  EXPECT_EQ(Target(Capability::sm_87).short_name(), "sm_87");
  EXPECT_EQ(Target(Capability::sm_90a).short_name(), "sm_90a");
  EXPECT_EQ(Target(CpuTarget{"aarch64-linux-gnu", "cortex-a78ae", ""}).short_name(), "cpu");
}

TEST(Target, CanonicalText) {
  EXPECT_EQ(Target(Capability::sm_87).canonical(),
            "device=cuda;capability=sm_87;ptx-version=;driver=;max-registers=;line-info=no;"
            "opt-level=2;");
  EXPECT_EQ(Target(full_cuda()).canonical(),
            "device=cuda;capability=sm_90a;ptx-version=8.2;driver=12.6;max-registers=128;"
            "line-info=yes;opt-level=3;");
  EXPECT_EQ(
      Target(CpuTarget{"aarch64-linux-gnu", "cortex-a78ae", "+dotprod+fp16fml", 1}).canonical(),
      "device=cpu;triple=aarch64-linux-gnu;cpu=cortex-a78ae;features=+dotprod+fp16fml;"
      "opt-level=1;");
}

TEST(Target, CanonicalTextIsReadBack) {
  for (const Target& target :
       {Target(Capability::sm_87), Target(Capability::sm_121, PtxVersion{8, 8}),
        Target(full_cuda()), Target(CpuTarget{"x86_64-linux-gnu", "x86-64-v3", ""}),
        Target(CpuTarget{"aarch64-linux-gnu", "carmel", "+a+-b", 0})}) {
    const auto again = Target::parse_canonical(target.canonical());
    EXPECT_EQ(again.canonical(), target.canonical());
    EXPECT_EQ(again.is_cuda(), target.is_cuda());
  }
}

TEST(Target, EveryOtherTextIsRefused) {
  for (const Target& target : {Target(full_cuda()), Target(CpuTarget{"t", "c", "f"})}) {
    const std::string text = target.canonical();
    for (std::size_t length = 0; length < text.size(); ++length) {
      EXPECT_THROW(static_cast<void>(Target::parse_canonical(text.substr(0, length))), Error);
    }
    EXPECT_THROW(static_cast<void>(Target::parse_canonical(text + "x=;")), Error);
  }
  for (
      const char* text :
      {"device=rocm;",
       "device=cuda;capability=;ptx-version=;driver=;max-registers=;line-info=no;opt-level=2;",
       "device=cuda;capability=sm_8x;ptx-version=;driver=;max-registers=;line-info=no;opt-level=2;",
       "device=cuda;capability=sm_87;ptx-version=x;driver=;max-registers=;line-info=no;opt-level="
       "2;",
       "device=cuda;capability=sm_87;ptx-version=;driver=12;max-registers=;line-info=no;opt-level="
       "2;",
       "device=cuda;capability=sm_87;ptx-version=;driver=;max-registers=-1;line-info=no;opt-level="
       "2;",
       "device=cuda;capability=sm_87;ptx-version=;driver=;max-registers=;line-info=;opt-level=2;",
       "device=cuda;capability=sm_87;driver=;ptx-version=;max-registers=;line-info=no;opt-level=2;",
       "device=cpu;triple=t;cpu=c;features=;opt-level=;"}) {
    try {
      static_cast<void>(Target::parse_canonical(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
    }
  }
}

TEST(Features, TakenApart) {
  using List = std::vector<std::string>;
  EXPECT_EQ(feature_list(""), List{});
  EXPECT_EQ(feature_list("+dotprod+fp16fml"), (List{"+dotprod", "+fp16fml"}));
  EXPECT_EQ(feature_list("dotprod+-sve"), (List{"+dotprod", "-sve"}));
  EXPECT_EQ(feature_list("-sve"), (List{"-sve"}));
  EXPECT_EQ(feature_list("+-sve2-aes+v8.2a"), (List{"-sve2-aes", "+v8.2a"}));
  for (const char* text :
       {"+", "++a", "a++b", "a+", "-", "+A", "a b", "a;b", "--a", "+1a", "a=b"}) {
    EXPECT_THROW(static_cast<void>(feature_list(text)), Error) << text;
  }
}

TEST(Triples, Normalised) {
  EXPECT_EQ(normal_triple("aarch64-linux-gnu"), "aarch64-linux-gnu");
  EXPECT_EQ(normal_triple("aarch64-unknown-linux-gnu"), "aarch64-linux-gnu");
  EXPECT_EQ(normal_triple("x86_64-unknown-linux-gnu"), "x86_64-linux-gnu");
  for (const char* text : {"", "x86_64", "arm-linux-gnueabihf", "x86_64-linux-musl",
                           "x86_64-pc-linux-gnu", "aarch64-linux-gnu "}) {
    EXPECT_EQ(normal_triple(text), std::nullopt) << text;
  }
}

TEST(HostCpu, IsAKnownOne) {
  CpuTarget host;
  try {
    host = host_cpu_target();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
    GTEST_SKIP() << error.what();
  }
  bool known = false;
  for (const KnownCpu& cpu : known_cpus()) {
    known = known || (cpu.name == host.cpu && cpu.triple == host.triple);
  }
  EXPECT_TRUE(known) << host.cpu;
}

TEST(HostCpu, LevelsOfX86) {
  detail::X86Features has;
  EXPECT_EQ(detail::x86_level(has), "");
  has = {true, true, true, true, true, true, true, false};
  EXPECT_EQ(detail::x86_level(has), "x86-64-v3");
  has.avx512 = true;
  EXPECT_EQ(detail::x86_level(has), "x86-64-v4");
  for (bool detail::X86Features::* one :
       {&detail::X86Features::avx2, &detail::X86Features::fma, &detail::X86Features::bmi,
        &detail::X86Features::bmi2, &detail::X86Features::f16c, &detail::X86Features::lzcnt,
        &detail::X86Features::movbe}) {
    auto less = has;
    less.*one = false;
    EXPECT_EQ(detail::x86_level(less), "");
  }
}

std::string core(const char* implementer, const char* part) {
  return std::string("processor\t: 0\nBogoMIPS\t: 62.50\nCPU implementer\t: ") + implementer +
         "\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: " + part +
         "\nCPU revision\t: 1\n\n";
}

TEST(HostCpu, PartsOfArm) {
  EXPECT_EQ(detail::arm_cpu(core("0x41", "0xd42") + core("0x41", "0xd42")), "cortex-a78ae");
  EXPECT_EQ(detail::arm_cpu(core("0x4e", "0x004")), "carmel");
  EXPECT_EQ(detail::arm_cpu(core("0x41", "0xd83")), "neoverse-v3ae");
  EXPECT_EQ(detail::arm_cpu(core("0x41", "0xD0C")), "neoverse-n1");
  EXPECT_EQ(detail::arm_cpu(core("0x48", "0xd42")), "generic");
  EXPECT_EQ(detail::arm_cpu(core("0x41", "0xfff")), "generic");
  EXPECT_EQ(detail::arm_cpu(core("0x41", "0xd08") + core("0x41", "0xd07")), "generic");
  EXPECT_EQ(detail::arm_cpu(""), "generic");
  EXPECT_EQ(detail::arm_cpu("vendor_id : GenuineIntel\n"), "generic");
}

}  // namespace
}  // namespace teeny
