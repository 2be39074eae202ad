#include "compiler/nvptx/nvptx.hpp"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "compiler/nvptx/chip.hpp"
#include "compiler/nvptx/instructions.hpp"
#include "compiler/nvptx/layout_plan.hpp"
#include "compiler/passes/axis_analysis.hpp"
#include "compiler/passes/gather_loads.hpp"
#include "compiler/passes/passes.hpp"
#include "tests/compiler/ptx_support.hpp"
#include "tests/ir/random_kernel.hpp"

#include "teeny/base/error.hpp"
#include "teeny/ir/verify.hpp"

namespace teeny::compiler {
namespace {

using nvptx::Family;

int occurrences(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

bool holds(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

std::string ptx_of(const ir::Kernel& kernel, CudaTarget target = {Capability::sm_87}) {
  return compile_ptx(prepare(kernel), target).code;
}

template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "no error");
}

// --- the three bounds of a PTX version ---

TEST(PtxVersionChoice, LowestThatTargetAndInstructionsNeed) {
  const ir::Kernel kernel = sample::vector_add(DType::f32);
  for (const auto& chip : known_capabilities()) {
    const auto families = nvptx::families_of(kernel, chip.capability);
    EXPECT_EQ(nvptx::choose_ptx_version(kernel, chip.capability, families, {}), chip.ptx_floor);
  }
  EXPECT_EQ(nvptx::choose_ptx_version(kernel, Capability::sm_75, {Family::min_nan}, {}),
            (PtxVersion{7, 0}));
}

TEST(PtxVersionChoice, NamesTheTargetsFloor) {
  const ir::Kernel kernel = sample::vector_add(DType::f32);
  const Error error =
      error_of([&] { (void)compile_ptx(prepare(kernel), {Capability::sm_120, PtxVersion{8, 6}}); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_TRUE(holds(error.message(), "vector_add_f32")) << error.what();
  EXPECT_TRUE(holds(error.message(), "8.7 or later, the floor of target sm_120, found 8.6"))
      << error.what();
}

TEST(PtxVersionChoice, NamesTheInstructionsFloor) {
  const ir::Kernel kernel = sample::vector_add(DType::f32);
  const Error error = error_of([&] {
    (void)nvptx::choose_ptx_version(kernel, Capability::sm_75, {Family::warp_reduce},
                                    PtxVersion{6, 4});
  });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_TRUE(holds(error.message(), "PTX 7.0 or later, the floor of its instruction redux.sync"))
      << error.what();
  EXPECT_TRUE(holds(error.message(), "target sm_75 alone needs 6.3")) << error.what();
  EXPECT_FALSE(error.next().empty());
}

TEST(PtxVersionChoice, WritesWhatWasAskedFor) {
  const ir::Kernel kernel = prepare(sample::vector_add(DType::bf16));
  for (const PtxVersion version : {PtxVersion{7, 4}, PtxVersion{8, 2}, PtxVersion{9, 0}}) {
    const Artifact artifact = compile_ptx(kernel, {Capability::sm_87, version});
    EXPECT_TRUE(holds(artifact.code, "\n.version " + version.name() + "\n.target sm_87\n"));
    EXPECT_EQ(artifact.info.ptx_version, version);
    EXPECT_TRUE(assemble({artifact.code}, Capability::sm_87).good);
  }
}

TEST(Families, AreWhatTheKernelNeedsAndTheChipHas) {
  using Families = std::set<Family>;
  const ir::Kernel add = prepare(sample::vector_add(DType::f32));
  EXPECT_EQ(nvptx::families_of(add, Capability::sm_87), Families{Family::shuffle});
  const ir::Kernel rounded = prepare(sample::vector_add(DType::bf16));
  EXPECT_EQ(nvptx::families_of(rounded, Capability::sm_87),
            (Families{Family::shuffle, Family::convert_bf16}));
  EXPECT_EQ(nvptx::families_of(rounded, Capability::sm_75), Families{Family::shuffle});
  const ir::Kernel softmax = prepare(sample::softmax(DType::f32, 256));
  EXPECT_EQ(nvptx::families_of(softmax, Capability::sm_80),
            (Families{Family::shuffle, Family::min_nan, Family::warp_reduce}));
}

TEST(Families, EachChipGetsItsOwnInstructions) {
  const ir::Kernel rounded = sample::vector_add(DType::bf16);
  EXPECT_TRUE(holds(ptx_of(rounded, {Capability::sm_80}), "cvt.rn.bf16.f32"));
  EXPECT_FALSE(holds(ptx_of(rounded, {Capability::sm_75}), "bf16."));
  const ir::Kernel sums = sample::integer_reductions(DType::i32);
  EXPECT_TRUE(holds(ptx_of(sums, {Capability::sm_80}), "redux.sync.add.s32"));
  EXPECT_FALSE(holds(ptx_of(sums, {Capability::sm_75}), "redux"));
}

TEST(Chips, LlvmHasAProcessorForEach) {
  EXPECT_EQ(nvptx::llvm_chip(Capability::sm_87, {8, 2}).cpu, "sm_87");
  EXPECT_EQ(nvptx::llvm_chip(Capability::sm_87, {8, 2}).features, "+ptx82");
  EXPECT_EQ(nvptx::llvm_chip(Capability::sm_75, {6, 3}).features, "+ptx63");
  EXPECT_EQ(nvptx::llvm_chip(Capability::sm_75, {7, 9}).features, "+ptx78");
  EXPECT_EQ(nvptx::llvm_chip(Capability::sm_90a, {8, 0}).cpu, "sm_90a");
  for (const Capability newer : {Capability::sm_100, Capability::sm_110, Capability::sm_121}) {
    EXPECT_EQ(nvptx::llvm_chip(newer, {9, 0}).cpu, "sm_90");
    EXPECT_EQ(nvptx::llvm_chip(newer, {9, 0}).features, "+ptx85");
  }
}

// --- what is written ---

TEST(CompilePtx, DescribesTheLaunch) {
  ir::Kernel kernel = sample::softmax(DType::f16, 256);
  const Artifact artifact = compile_ptx(prepare(kernel), {Capability::sm_110});
  const ArtifactInfo& info = artifact.info;
  EXPECT_EQ(info.kind, ArtifactKind::ptx);
  EXPECT_EQ(info.kernel, kernel.name);
  EXPECT_EQ(info.capability, Capability::sm_110);
  EXPECT_EQ(info.ptx_version, (PtxVersion{9, 0}));
  EXPECT_EQ(Target::parse_canonical(info.target).cuda().ptx_version, (PtxVersion{9, 0}));
  EXPECT_EQ(info.parameters, (std::vector<std::string>{"ptr<const f16>", "ptr<f16>", "i32"}));
  EXPECT_EQ(info.launch_abi, ir::launch_abi);
  EXPECT_EQ(info.threads, 128);
  EXPECT_EQ(info.shared_bytes, 512U);
  EXPECT_TRUE(holds(artifact.code, ".visible .entry " + kernel.name + "("));
  EXPECT_TRUE(holds(artifact.code, ".reqntid 128, 1, 1"));
  EXPECT_TRUE(holds(artifact.code, ".param .u64 " + kernel.name + "_param_0,"));
  EXPECT_TRUE(holds(artifact.code, ".param .u32 " + kernel.name + "_param_2\n"));
}

TEST(CompilePtx, TakesTheOptions) {
  ir::Kernel kernel = sample::vector_add(DType::f32);
  kernel.options.num_warps = 8;
  kernel.options.max_registers = 40;
  EXPECT_TRUE(holds(ptx_of(kernel), ".reqntid 256, 1, 1"));
  EXPECT_TRUE(holds(ptx_of(kernel), ".maxnreg 40"));
  EXPECT_TRUE(
      holds(ptx_of(kernel, {.capability = Capability::sm_87, .max_registers = 32}), ".maxnreg 32"));
  const auto level = [&](int opt_level) {
    return ptx_of(sample::softmax(DType::f32, 64),
                  {.capability = Capability::sm_87, .opt_level = opt_level});
  };
  EXPECT_GT(level(0).size(), level(2).size());
  for (const int opt_level : {0, 1, 2, 3}) {
    EXPECT_TRUE(assemble({level(opt_level)}, Capability::sm_87).good) << opt_level;
  }
  const Error error =
      error_of([&] { (void)ptx_of(kernel, {.capability = Capability::sm_87, .line_info = true}); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
}

TEST(CompilePtx, SameKernelSameBytes) {
  const ir::Kernel first = prepare(sample::matmul(DType::f16, DType::f16, 32, 32, 32));
  const ir::Kernel second = prepare(sample::softmax(DType::f32, 512));
  const std::string a = compile_ptx(first, {Capability::sm_87}).code;
  const std::string b = compile_ptx(second, {Capability::sm_90}).code;
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      found[i] = i % 2 == 0 ? compile_ptx(first, {Capability::sm_87}).code
                            : compile_ptx(second, {Capability::sm_90}).code;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i % 2 == 0 ? a : b);
}

TEST(CompilePtx, AnErrorLeavesTheNextCallAlone) {
  const ir::Kernel good = prepare(sample::vector_add(DType::f32));
  const std::string before = compile_ptx(good, {Capability::sm_87}).code;
  // An operation that the passes should have taken away.
  const Error error = error_of([&] {
    (void)compile_ptx(sample::elementwise("unprepared", DType::f32, DType::f32, 128,
                                          [](ir::Builder& builder, ir::ValueId a, ir::ValueId) {
                                            return builder.unary(ir::Opcode::tanh, a);
                                          }),
                      {Capability::sm_87});
  });
  EXPECT_EQ(error.kind(), ErrorKind::internal);
  EXPECT_TRUE(holds(error.message(), "tanh")) << error.what();
  EXPECT_EQ(compile_ptx(good, {Capability::sm_87}).code, before);
}

TEST(CompilePtx, P29TooMuchSharedMemoryNamesLimitAndKnob) {
  const ir::Kernel kernel = prepare(sample::matmul(DType::f32, DType::f32, 128, 128, 128, 8));
  EXPECT_GT(compile_ptx(kernel, {Capability::sm_87}).info.shared_bytes, 99U * 1024U);
  const Error error = error_of([&] { (void)compile_ptx(kernel, {Capability::sm_86}); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_TRUE(holds(error.message(), kernel.name)) << error.what();
  EXPECT_TRUE(holds(error.message(), "133120 bytes")) << error.what();
  EXPECT_TRUE(holds(error.message(), "sm_86")) << error.what();
  EXPECT_TRUE(holds(error.message(), "101376 at most")) << error.what();
  EXPECT_TRUE(holds(error.next(), "tiles")) << error.what();
}

TEST(CompilePtx, TooLargeATileNamesRegistersAndKnob) {
  ir::Kernel kernel = sample::vector_add(DType::f32, 65536);
  kernel.options.num_warps = 1;
  const Error error = error_of([&] { (void)ptx_of(kernel); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_TRUE(holds(error.message(), "2048 registers")) << error.what();
  EXPECT_TRUE(holds(error.next(), "num_warps")) << error.what();
}

TEST(CompilePtx, NamesOfInstructionsAreNamesOfKernels) {
  for (const std::string name : {"add", "bar", "abs", "texture", "min", "tid", "x", "_1"}) {
    ir::Kernel kernel = sample::softmax(DType::f32, 256);
    kernel.name = name;
    const std::string ptx = ptx_of(kernel);
    EXPECT_TRUE(holds(ptx, ".entry " + name + "("));
    EXPECT_TRUE(assemble({ptx}, Capability::sm_87).good) << name;
  }
  for (const std::string name : {"_", "WARP_SZ"}) {
    ir::Kernel kernel = sample::vector_add(DType::f32);
    kernel.name = name;
    EXPECT_EQ(error_of([&] { (void)ptx_of(kernel); }).kind(), ErrorKind::input);
  }
}

TEST(CompilePtx, EveryOperationIsReached) {
  std::set<ir::Opcode> seen;
  const std::function<void(const ir::Block&)> walk = [&](const ir::Block& block) {
    for (const ir::Op& op : block.ops) {
      seen.insert(op.code);
      for (const ir::Block& region : op.regions) walk(region);
    }
  };
  // What ptxas_test and ptx_run_test compile.
  for (std::uint32_t seed = 0; seed < 40; ++seed) walk(ir::random_kernel(seed).kernel.body);
  for (const SampleKernel& sample : sample_kernels()) walk(sample.kernel.body);
  for (const ir::Opcode code : ir::all_opcodes()) {
    EXPECT_EQ(seen.count(code), 1U) << ir::name(code);
  }
}

// --- how it is written ---

TEST(Lowering, ElementwiseNeedsNeitherBarrierNorShuffle) {
  const std::string ptx = ptx_of(sample::vector_add(DType::f32));
  EXPECT_EQ(occurrences(ptx, "bar.sync"), 0);
  EXPECT_EQ(occurrences(ptx, "shfl"), 0);
  EXPECT_EQ(occurrences(ptx, "ld.global.nc.v4.f32"), 4);
  EXPECT_EQ(occurrences(ptx, "st.global.v4.f32"), 2);
  // For what is not aligned, or masked in the midst of a vector.
  EXPECT_EQ(occurrences(ptx, "ld.global.nc.f32"), 16);
  EXPECT_EQ(occurrences(ptx, "st.global.f32"), 8);
}

TEST(Lowering, IndependentLoadsWaitForOneTest) {
  const std::string ptx = ptx_of(sample::vector_add(DType::f32));
  // Two branches, around the loads and around the stores, and two ways back.
  EXPECT_EQ(occurrences(ptx, "bra"), 4);
  const std::size_t first = ptx.find("ld.global.nc.v4");
  const std::size_t last = ptx.rfind("ld.global.nc.v4");
  EXPECT_EQ(occurrences(ptx.substr(first, last - first), "bra"), 0);
  EXPECT_EQ(occurrences(ptx.substr(first, last - first), "add.rn.f32"), 0);
}

TEST(Lowering, AddressesOfKnownDistanceAreTestedByTheirPointer) {
  // One test of both inputs and one of the output, of what the launch passes.
  const std::string ptx = ptx_of(sample::vector_add(DType::f32));
  EXPECT_EQ(occurrences(ptx, ", 15;"), 2) << ptx;
}

TEST(Lowering, SmallElementsShareWords) {
  const std::string halves = ptx_of(sample::vector_add(DType::f16));
  EXPECT_EQ(occurrences(halves, "ld.global.nc.v4.u32"), 2);
  EXPECT_EQ(occurrences(halves, "st.global.v4.u32"), 1);
  const std::string bytes = ptx_of(sample::vector_add(DType::u8, 2048));
  EXPECT_EQ(occurrences(bytes, "ld.global.nc.v4.u32"), 2);
  const std::string doubles = ptx_of(sample::vector_add(DType::f64, 256));
  EXPECT_EQ(occurrences(doubles, "ld.global.nc.v2.f64"), 2);
}

TEST(GatherLoads, ComeTogetherBehindWhatTheyNeed) {
  using ir::Opcode;
  const ir::Kernel kernel = gather_loads(prepare(sample::vector_add(DType::f32)));
  std::size_t first = 0;
  while (kernel.body.ops[first].code != Opcode::load) ++first;
  EXPECT_EQ(gathered_loads(kernel, kernel.body, first), 2U);
  EXPECT_EQ(gathered_loads(kernel, kernel.body, 0), 0U);
  EXPECT_EQ(kernel.body.ops[first + 1].code, Opcode::load);
}

TEST(GatherLoads, StayBetweenWrites) {
  using ir::Opcode;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const ir::Kernel before = prepare(ir::random_kernel(seed).kernel);
    const ir::Kernel after = gather_loads(before);
    ir::verify(after);
    // Loads by the number of writes and regions before them, in their block.
    const std::function<void(const ir::Block&, std::multiset<std::string>&)> places =
        [&](const ir::Block& block, std::multiset<std::string>& found) {
          std::size_t epoch = 0;
          for (const ir::Op& op : block.ops) {
            if (op.code == Opcode::load) {
              found.insert(std::to_string(op.results[0]) + "@" + std::to_string(epoch));
            }
            epoch += op.code == Opcode::store || !op.regions.empty();
            for (const ir::Block& region : op.regions) places(region, found);
          }
        };
    std::multiset<std::string> old_places;
    std::multiset<std::string> new_places;
    places(before.body, old_places);
    places(after.body, new_places);
    EXPECT_EQ(old_places, new_places) << seed;
  }
}

TEST(GatherLoads, LeaveRegistersForOthers) {
  using ir::Type;
  ir::Builder builder("many", {Type::pointer_to(DType::f32, true), Type::pointer_to(DType::f32)});
  const ir::ValueId index = sample::elements(builder, {1024});
  ir::ValueId total = ir::no_value;
  for (int i = 0; i < 16; ++i) {
    const ir::ValueId far = sample::index_constant(builder, i * 5000, {1024});
    const ir::ValueId x =
        builder.load(sample::pointers(builder, 0, builder.binary(ir::Opcode::add, index, far)));
    total = i == 0 ? x : builder.binary(ir::Opcode::add, total, x);
  }
  builder.store(sample::pointers(builder, 1, index), total);
  const ir::Kernel kernel = gather_loads(prepare(builder.finish()));
  std::size_t most = 0;
  for (std::size_t i = 0; i < kernel.body.ops.size(); ++i) {
    most = std::max(most, gathered_loads(kernel, kernel.body, i));
  }
  EXPECT_EQ(most, 4U);  // of 8 elements each
  const Assembled assembled =
      assemble({compile_ptx(kernel, {Capability::sm_87}).code}, Capability::sm_87);
  EXPECT_TRUE(assembled.good) << assembled.log;
  EXPECT_EQ(assembled.spill_bytes.at("many"), 0);
}

TEST(Lowering, StreamingAccessesSaySo) {
  const auto f = [](ir::Builder& builder, ir::ValueId a, ir::ValueId b) {
    return builder.binary(ir::Opcode::add, a, b);
  };
  const std::string ptx = ptx_of(
      sample::elementwise("streaming", DType::i8, DType::i8, 128, f, false, ir::Cache::streaming));
  EXPECT_EQ(occurrences(ptx, "ld.global.cs.nc.u8"), 2);
  EXPECT_EQ(occurrences(ptx, "st.global.cs.u8"), 1);
}

TEST(Lowering, InPlaceWaitsForAllLoads) {
  // Another thread may still have to read what this one writes: the tile may hold a place twice.
  const auto f = [](ir::Builder& builder, ir::ValueId a, ir::ValueId b) {
    return builder.binary(ir::Opcode::add, a, b);
  };
  const std::string ptx =
      ptx_of(sample::elementwise("in_place", DType::f32, DType::f32, 128, f, true));
  EXPECT_EQ(occurrences(ptx, "bar.sync"), 1);
  EXPECT_LT(ptx.find("ld.global.f32"), ptx.find("bar.sync"));
  EXPECT_LT(ptx.find("bar.sync"), ptx.find("st.global.f32"));
}

TEST(Lowering, ProductsAreFusedOnlyWhereTheKernelSaysSo) {
  const auto f = [](ir::Builder& builder, ir::ValueId a, ir::ValueId b) {
    return builder.binary(ir::Opcode::add, builder.binary(ir::Opcode::mul, a, b), b);
  };
  const std::string apart = ptx_of(sample::elementwise("apart", DType::f32, DType::f32, 128, f));
  EXPECT_EQ(occurrences(apart, "fma."), 0);
  EXPECT_EQ(occurrences(apart, "mul.rn.f32"), 1);
  EXPECT_EQ(occurrences(apart, ".ftz"), 0);
  const auto g = [](ir::Builder& builder, ir::ValueId a, ir::ValueId b) {
    return builder.fma(a, b, b);
  };
  const std::string fused = ptx_of(sample::elementwise("fused", DType::f32, DType::f32, 128, g));
  EXPECT_EQ(occurrences(fused, "fma.rn.f32"), 1);
}

TEST(LayoutPlan, LoadsRunAlongTheContiguousDimension) {
  using ir::Type;
  // A column-major matrix: neighbouring rows are neighbours in memory.
  ir::Builder builder("columns",
                      {Type::pointer_to(DType::f32, true), Type::pointer_to(DType::f32)});
  const auto spread = [&](int axis, std::int64_t step) {
    const ir::ValueId range =
        builder.reshape(builder.arange(0, 32), axis == 0 ? ir::Shape{32, 1} : ir::Shape{1, 32});
    const ir::ValueId wide = builder.broadcast(range, {32, 32});
    if (step == 1) return wide;
    return builder.binary(ir::Opcode::mul, wide, sample::index_constant(builder, step, {32, 32}));
  };
  const ir::ValueId index = builder.binary(ir::Opcode::add, spread(0, 1), spread(1, 100));
  const ir::ValueId from = sample::pointers(builder, 0, index);
  const ir::ValueId loaded = builder.load(from);
  builder.store(sample::pointers(builder, 1, index), loaded);
  const ir::Kernel kernel = builder.finish();
  const AxisAnalysis axes(kernel);
  EXPECT_EQ(axes.memory_order(from), (std::vector<int>{0, 1}));
  const nvptx::LayoutPlan plan = nvptx::plan_layouts(kernel, axes);
  EXPECT_EQ(plan.table[plan.home(loaded)], LinearLayout::blocked({32, 32}, {0, 1}, 2, 2));
}

TEST(LayoutPlan, WhatIsReducedAndBroadcastBackStaysInPlace) {
  // One exchange among warps at most, and no conversion of the tile.
  for (const int axis : {0, 1}) {
    const ir::Kernel kernel = prepare(sample::reduce_and_center(DType::f32, {32, 128}, axis, 4));
    const nvptx::LayoutPlan plan = nvptx::plan_layouts(kernel, AxisAnalysis(kernel));
    for (ir::ValueId value = 0; value < kernel.values.size(); ++value) {
      if (!plan.derived[value] && kernel.type(value).count() == 32 * 128) {
        EXPECT_EQ(plan.layouts[value].size(), 1U);
      }
    }
  }
}

TEST(LayoutPlan, DotLayoutsHoldRectangles) {
  for (int rows = 0; rows <= 8; ++rows) {
    for (int columns = 0; columns <= 8; ++columns) {
      for (int warp_bits = 0; warp_bits <= 5; ++warp_bits) {
        const ir::Shape shape = {std::int64_t{1} << rows, std::int64_t{1} << columns};
        const LinearLayout layout = nvptx::dot_layout(shape, warp_bits);
        EXPECT_EQ(layout.register_bits(), std::max(0, rows + columns - 5 - warp_bits));
        for (const std::uint32_t column : layout.register_columns()) {
          EXPECT_EQ(std::popcount(column), 1);
        }
      }
    }
  }
  const LinearLayout usual = nvptx::dot_layout({64, 64}, 2);
  EXPECT_EQ(to_string(usual), "registers 1 2 512 1024 2048, lanes 4 8 16 32 64, warps 128 256");
}

}  // namespace
}  // namespace teeny::compiler
