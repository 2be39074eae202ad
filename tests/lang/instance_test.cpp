// Kernels as instances: names, members, options, registry, launch arguments.

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/lang/record_support.hpp"

#include "teeny/lang/arguments.hpp"

namespace named {

template <class T, int Block>
struct Clear {
  void operator()(teeny::Ptr<T> p) const { teeny::store(p + teeny::arange<Block>(), 0); }
};
template <class Inner>
struct Outer {
  struct Nested {
    void operator()(teeny::Ptr<float> p) const { teeny::store(p, 0); }
  };
};
enum class Colour { red, green };
enum class Letter : char { high = '\xc8' };
struct Letters {
  char narrow;
  wchar_t wide;
  Letter letter;
  static std::vector<Letters> variants() { return {}; }
  void operator()(teeny::Ptr<int> p) const { teeny::store(p, 0); }
};
template <Colour C>
struct Painted {
  void operator()(teeny::Ptr<int> p) const { teeny::store(p, static_cast<int>(C)); }
};
inline auto local_kernel(int) {
  struct Local {
    void operator()(teeny::Ptr<float> p) const { teeny::store(p, 0); }
  };
  return Local{};
}
struct operator_like_Emphasis2E {
  void operator()(teeny::Ptr<float> p) const { teeny::store(p, 0); }
};

struct Everything {
  bool yes;
  int small;
  teeny::u64 large;
  float single;
  double wide;
  Colour colour;
  teeny::DType dtype;
  std::string word;
  std::array<int, 2> pair;
  std::vector<std::string> words;
  teeny::f16 half;
  struct Sub {
    int a;
    bool b;
  } sub;
  static std::vector<Everything> variants() { return {}; }
  void operator()(teeny::Ptr<float> p) const { teeny::store(p, small); }
};

struct Scale {
  int factor = 1;
  static std::vector<Scale> variants() { return {{3}, {2}, {2}}; }
  void operator()(teeny::Ptr<int> p) const { teeny::store(p, teeny::load(p) * factor); }
};

struct Wide {
  static constexpr teeny::KernelOptions options{.num_warps = 8, .num_stages = 3};
  void operator()(teeny::Ptr<int> p) const { teeny::store(p, 1); }
};
struct Chosen {
  int warps;
  static std::vector<Chosen> variants() { return {{2}}; }
  teeny::KernelOptions options() const { return {.num_warps = warps}; }
  void operator()(teeny::Ptr<int> p) const { teeny::store(p, 1); }
};

struct Dynamic {
  teeny::DType dtype = teeny::DType::f16;
  static std::vector<Dynamic> variants() { return {{}}; }
  std::vector<teeny::ir::Type> signature() const {
    return {teeny::ir::Type::pointer_to(dtype, true), teeny::ir::Type::pointer_to(dtype),
            teeny::ir::Type::scalar(teeny::DType::f32)};
  }
  void operator()(teeny::AnyPtr in, teeny::AnyPtr out, teeny::Scalar<float> by) const {
    teeny::store(out, teeny::load(in) * teeny::cast(by, dtype));
  }
};

struct TwoTypesThreeParameters {
  std::vector<teeny::ir::Type> signature() const { return {teeny::Ptr<float>::type()}; }
  void operator()(teeny::AnyPtr a, teeny::AnyPtr) const { teeny::store(a, 0); }
};

}  // namespace named

namespace {

using namespace teeny;
using namespace teeny::test;
using testing::HasSubstr;

struct Hidden {
  void operator()(Ptr<float> p) const { store(p, 0); }
};

template <class K>
std::string name_of(const K& kernel) {
  const KernelInstance instance = instance_of(kernel);
  return instance.name + (instance.nameable ? "" : ", no record");
}

TEST(Instance, IsNamedByTheTypesOwnIdentifier) {
  EXPECT_EQ(name_of(named::Clear<float, 64>{}), "Clear");
  EXPECT_EQ(name_of(named::Outer<named::Clear<f16, 8>>::Nested{}), "Nested");
  EXPECT_EQ(name_of(named::Painted<named::Colour::green>{}), "Painted");
  EXPECT_EQ(name_of(named::local_kernel(1)), "Local");
  EXPECT_EQ(name_of(named::operator_like_Emphasis2E{}), "operator_like_Emphasis2E");
  EXPECT_EQ(name_of(Hidden{}), "Hidden, no record");
  EXPECT_EQ(name_of(named::Outer<Hidden>::Nested{}), "Nested, no record");
  EXPECT_EQ(name_of([](Ptr<float> p) { store(p, 0); }), "lambda, no record");
  EXPECT_EQ(instance_of(named::Clear<float, 64>{}).readable, "named::Clear<float, 64>");
}

TEST(Instance, MangledNamesAreUnderstood) {
  const auto parsed = [](const char* mangled) {
    const lang::TypeName type = lang::parse_type_name(mangled);
    return type.name + (type.nameable ? "" : ", no record");
  };
  EXPECT_EQ(parsed("9VectorAddIfLi1024EE"), "VectorAdd");
  EXPECT_EQ(parsed("N2ns5ScaleILin3ELb1EN2ns3TagEEE"), "Scale");
  EXPECT_EQ(parsed("N2ns5OuterIN2ns4PairIiS1_EEE5InnerIJfdEEE"), "Inner");
  EXPECT_EQ(parsed("ZN2ns4makeIfEEviPKcE6Kernel"), "Kernel");
  EXPECT_EQ(parsed("ZL4makevE6Kernel_0"), "Kernel");
  EXPECT_EQ(parsed("Z4mainE6Kernel__12_"), "Kernel");
  EXPECT_EQ(parsed("Z4mainEUlN5teeny3PtrIfJEEEE0_"), "lambda, no record");
  EXPECT_EQ(parsed("5FusedIZ4mainEUlT_E_E"), "Fused, no record");
  EXPECT_EQ(parsed("N12_GLOBAL__N_16KernelE"), "Kernel, no record");
  EXPECT_EQ(parsed("Z4mainEUt_"), "lambda, no record");
  EXPECT_EQ(parsed("Z4mainE3$_1"), "lambda, no record");
  EXPECT_EQ(parsed("5FusedIZ4mainE4$_12E"), "Fused, no record");
  EXPECT_EQ(parsed("7PaintedIL6Colour1EE"), "Painted");
  EXPECT_EQ(parsed("7PaintedILN2ns6ColourE1EE"), "Painted");
  EXPECT_EQ(parsed("N2ns6KernelB5cxx11E"), "Kernel");
  EXPECT_EQ(parsed("8Gef\xc3\xa4llt"), "Gef__llt");
  for (const char* broken :
       {"9Vec", "N2ns", "IE", "E", "Li", "99999999999999999999A", "S", "UlE", "A5"}) {
    EXPECT_EQ(parsed(broken), "kernel, no record") << broken;
  }
}

TEST(Instance, MembersAreTextThatDiffersWhenTheyDo) {
  const named::Everything one{
      true,        -3,    ~u64{0}, 0.5F,      -0.0,      named::Colour::green,
      DType::bf16, "a,b", {1, 2},  {"x", ""}, f16(1.0F), {7, false}};
  EXPECT_EQ(
      instance_of(one).members,
      "{true,-3,18446744073709551615,0x3f000000,0x8000000000000000,1,bf16,3:a,b,[1,2],[1:x,0:],"
      "0x3c00,{7,false}}");
  EXPECT_EQ(instance_of(named::Clear<float, 8>{}).members, "");
  EXPECT_EQ(instance_of(named::Scale{2}).record_key(), instance_of(named::Scale{2}).type + "|{2}");
}

TEST(Instance, MembersReadTheSameWhereCharHasAnotherSign) {
  EXPECT_EQ(instance_of(named::Letters{'\xc8', L'a', named::Letter::high}).members, "{200,97,200}");
}

TEST(Instance, MembersAreTheSameWhenTheirTextIs) {
  const named::Everything one{
      true,        -3,    ~u64{0}, 0.5F,      -0.0,      named::Colour::green,
      DType::bf16, "a,b", {1, 2},  {"x", ""}, f16(1.0F), {7, false}};
  std::vector<named::Everything> all(14, one);
  all[1].yes = false;
  all[2].small = 3;
  all[3].large = 0;
  all[4].single = std::numeric_limits<float>::quiet_NaN();
  all[5].wide = 0.0;  // not the same as -0
  all[6].colour = named::Colour::red;
  all[7].dtype = DType::f16;
  all[8].word = "a,c";
  all[9].pair[1] = 3;
  all[10].words.pop_back();
  all[11].half = f16(2.0F);
  all[12].sub.b = true;
  all[13] = all[4];
  std::set<u64> hashes;
  for (const auto& a : all) hashes.insert(lang::hash_members(a));
  EXPECT_EQ(hashes.size(), all.size() - 1) << "not a must, but what a hash is for";
  for (const auto& a : all) {
    for (const auto& b : all) {
      EXPECT_EQ(lang::same_members(a, b), lang::members_text(a) == lang::members_text(b));
      if (lang::same_members(a, b)) {
        EXPECT_EQ(lang::hash_members(a), lang::hash_members(b));
      }
    }
  }
}

TEST(Instance, SignatureAndOptionsComeFromTheType) {
  const KernelInstance instance = instance_of(named::Wide{});
  EXPECT_EQ(instance.signature, std::vector<ir::Type>{Ptr<int>::type()});
  EXPECT_EQ(instance.trace().options.num_warps, 8);
  EXPECT_EQ(instance.trace().options.num_stages, 3);
  EXPECT_EQ(instance.trace().name, "Wide");
  EXPECT_EQ(instance_of(named::Chosen{2}).trace().options.num_warps, 2);
  const KernelInstance dynamic = instance_of(named::Dynamic{DType::f64});
  EXPECT_EQ(dynamic.signature.at(0), ir::Type::pointer_to(DType::f64, true));
  EXPECT_THAT(ir::print(dynamic.trace()),
              HasSubstr("kernel Dynamic(%0: ptr<const f64>, %1: ptr<f64>, %2: f32)"));
}

TEST(Instance, ASignatureOfAnotherLengthIsRefused) {
  EXPECT_THAT(error_of([] { static_cast<void>(instance_of(named::TwoTypesThreeParameters{})); }),
              HasSubstr("signature() names 1 types, but the kernel's operator() has 2 parameters"));
}

}  // namespace

// Never called: to be compiled is enough to be registered.
void launches();
void launches() {
  teeny::ensure_registered<named::Scale>();
  teeny::ensure_registered<named::Clear<teeny::i8, 16>>();
  teeny::ensure_registered<named::Dynamic>();
}

namespace {

TEST(Registry, HoldsWhatTheProgramMayLaunchWithItsVariants) {
  std::vector<std::string> keys;
  for (const KernelInstance* kernel : Registry::instance().kernels())
    keys.push_back(kernel->record_key());
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(std::count(keys.begin(), keys.end(), "N5named5ScaleE|{2}"), 1);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), "N5named5ScaleE|{3}"), 1);
  EXPECT_EQ(std::count(keys.begin(), keys.end(), "N5named5ClearIaLi16EEE"), 1);
  ASSERT_NE(Registry::instance().find("N5named5ScaleE|{3}"), nullptr);
  EXPECT_EQ(Registry::instance().find("N5named5ScaleE|{3}")->members, "{3}");
  EXPECT_EQ(Registry::instance().find("N5named5ScaleE|{4}"), nullptr);
}

TEST(Registry, KeepsTypesApartThatShareANameInUnnamedNamespaces) {
  const auto twin = [](int factor) {
    KernelInstance kernel = instance_of(named::Scale{factor});
    kernel.type = "N12_GLOBAL__N_14TwinE";
    kernel.members.clear();
    kernel.nameable = false;
    return kernel;
  };
  for (const int factor : {5, 6}) {
    Registry::instance().add("N12_GLOBAL__N_14TwinE",
                             [=] { return std::vector<KernelInstance>{twin(factor)}; });
  }
  std::set<std::string> bodies;
  for (const KernelInstance* kernel : Registry::instance().kernels()) {
    if (kernel->type == "N12_GLOBAL__N_14TwinE") bodies.insert(ir::print(kernel->trace()));
  }
  EXPECT_EQ(bodies.size(), 2U);
}

// As a shared object that is loaded while the program runs registers its kernels.
void register_late(const std::string& type, int count) {
  Registry::instance().add(type, [=] {
    std::vector<KernelInstance> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(instance_of(named::Scale{i}));
      all.back().type = type;
    }
    return all;
  });
}

TEST(Registry, WhatItGaveOutStaysWhenMoreKernelsAreRegistered) {
  const std::vector<const KernelInstance*> before = Registry::instance().kernels();
  const KernelInstance* scale = Registry::instance().find("N5named5ScaleE|{3}");
  ASSERT_NE(scale, nullptr);
  register_late("1AFirst", 1000);
  register_late("9ZLastOne", 1000);
  std::size_t seen = 0;
  for (const KernelInstance* kernel : before) {
    // One more that is asked for in the middle of a walk.
    if (seen++ == 0) {
      EXPECT_EQ(Registry::instance().kernels().size(), before.size() + 2000);
    }
    EXPECT_FALSE(kernel->type.empty());
  }
  EXPECT_EQ(seen, before.size());
  EXPECT_EQ(Registry::instance().find("N5named5ScaleE|{3}"), scale);
  EXPECT_EQ(scale->members, "{3}");
}

TEST(Registry, IsAskedFromSeveralThreadsWhileMoreKernelsAreRegistered) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (int i = 0; i < 20; ++i) {
        register_late("5Late" + std::to_string(thread) + std::to_string(i), 3);
        for (const KernelInstance* kernel : Registry::instance().kernels()) {
          EXPECT_FALSE(kernel->name.empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Registry, ForgetsNoKernelBecauseAnotherCannotSayItsVariants) {
  bool works = false;
  Registry::instance().add("7Unready", [&works]() -> std::vector<KernelInstance> {
    if (!works) throw Error(ErrorKind::input, "no variants yet");
    return {};
  });
  register_late("8Innocent", 1);
  EXPECT_THROW(static_cast<void>(Registry::instance().kernels()), Error);
  EXPECT_THROW(static_cast<void>(Registry::instance().kernels()), Error) << "told again";
  works = true;
  EXPECT_NE(Registry::instance().find("8Innocent|{0}"), nullptr);
}

TEST(Registry, RecordsOnSeveralThreadsAtOnce) {
  const std::string expected = ir::print(instance_of(named::Scale{5}).trace());
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& text : found) {
    threads.emplace_back([&text] {
      for (int i = 0; i < 50; ++i) text = ir::print(instance_of(named::Scale{5}).trace());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, std::vector<std::string>(4, expected));
}

struct AllScalars {
  void operator()(Ptr<float>, Scalar<i8>, Scalar<u8>, Scalar<u64>, Scalar<f16>, Scalar<f64>,
                  Scalar<bool>) const {}
};

TEST(Arguments, AreCheckedByType) {
  static_assert(argument_matches<Ptr<const float>, DevicePtr<float>>);
  static_assert(argument_matches<Ptr<const float>, DevicePtr<const float>&>);
  static_assert(!argument_matches<Ptr<float>, DevicePtr<const float>>);
  static_assert(!argument_matches<Ptr<float>, DevicePtr<double>>);
  static_assert(!argument_matches<Ptr<float>, int>);
  static_assert(!argument_matches<Int, DevicePtr<int>>);
  static_assert(argument_matches<Int, u64> && argument_matches<Int, char>);
  static_assert(!argument_matches<Int, float> && !argument_matches<Int, bool>);
  static_assert(argument_matches<Scalar<float>, int> && argument_matches<Scalar<f16>, double>);
  static_assert(argument_matches<Scalar<bool>, bool> && !argument_matches<Scalar<bool>, int>);
  static_assert(argument_matches<AnyTile, int> && argument_matches<AnyTile, DevicePtr<f16>>);
  check_arguments<AllScalars, DevicePtr<float>, int, int, int, float, float, bool>();
}

template <class K, class... Args>
std::vector<u64> packed(const K& kernel, const Args&... args) {
  const PackedArguments<K, Args...> all(instance_of(kernel), args...);
  std::vector<u64> slots;
  for (std::size_t i = 0; i < sizeof...(Args); ++i) {
    slots.push_back(all.slot(i));
    EXPECT_EQ(all.values()[i], &all.slot(i));
  }
  return slots;
}

TEST(Arguments, ArePackedIntoEightBytesEach) {
  EXPECT_EQ(
      packed(AllScalars{}, DevicePtr<float>{0x123456789abc}, -1, 200, ~u64{0}, 1.0, 0.5F, true),
      (std::vector<u64>{0x123456789abc, 0xff, 200, ~u64{0}, 0x3c00, 0x3fe0000000000000, 1}));
  EXPECT_EQ(packed(AllScalars{}, DevicePtr<float>{0}, i8{-128}, u64{255}, 'a', f16(-2.0F), infinity,
                   false),
            (std::vector<u64>{0, 0x80, 255, 97, 0xc000, 0x7ff0000000000000, 0}));
  EXPECT_EQ(packed(AllScalars{}, DevicePtr<float>{0}, 1, 1, 1, 3, -3, false),
            (std::vector<u64>{0, 1, 1, 1, 0x4200, 0xc008000000000000, 0}));
}

TEST(Arguments, OutOfRangeNamesKernelAndNumber) {
  const auto with = [&](auto small, auto large) {
    return error_of([&] {
      static_cast<void>(packed(AllScalars{}, DevicePtr<float>{1}, small, 0, large, 0, 0, false));
    });
  };
  EXPECT_THAT(with(200, 0), HasSubstr("launch of AllScalars, argument 2: wanted i8"));
  EXPECT_THAT(with(0, -1), HasSubstr("argument 4: wanted u64, found the number -1"));
  EXPECT_EQ(with(-128, 0), "");
  EXPECT_THAT(with(u64{1} << 40, 0), HasSubstr("found the number 1099511627776"));
  EXPECT_THAT(with(0, -1L), HasSubstr("is outside the range of u64"));
}

TEST(Arguments, OfAnyTileParametersAreCheckedWhenLaunched) {
  const auto with = [&](auto in, auto out, auto by) {
    return error_of([&] { static_cast<void>(packed(named::Dynamic{DType::f16}, in, out, by)); });
  };
  EXPECT_EQ(with(DevicePtr<const f16>{1}, DevicePtr<f16>{2}, 1), "");
  EXPECT_THAT(with(DevicePtr<const f16>{1}, DevicePtr<const f16>{2}, 1),
              HasSubstr("argument 2: wanted ptr<f16>, found ptr<const f16>"));
  EXPECT_THAT(with(DevicePtr<float>{1}, DevicePtr<f16>{2}, 1),
              HasSubstr("argument 1: wanted ptr<const f16>, found ptr<f32>"));
  EXPECT_THAT(with(3, DevicePtr<f16>{2}, 1), HasSubstr("found the number 3"));
}

}  // namespace
