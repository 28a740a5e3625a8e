// Tests StaticMachine, which estimates the time of GPU programs without a GPU: equal programs get equal estimates,
// better programs lower ones, and races find wrong programs with the emulator.
#include "backends/measure/static_machine.h"

#include <gmock/gmock.h>

#include "backends/cpu/targets.h"
#include "lang/program/builder.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/gpu/on_gpu.h"
#include "tests/support/gpu_pairs.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<StaticMachine> Start(const GpuMachineOptions& options = {}) {
  auto machine = StaticMachine::Start(*NamedTarget("h100"), options);
  EXPECT_TRUE(machine.ok()) << machine.status();
  return *std::move(machine);
}

MeasureResult Race(Measurer& machine, const Program& original, const Program& scheduled) {
  return machine.Race({{.original = &original, .scheduled = &scheduled}})[0];
}

// Returns the program C[i, j] sum= A[i, k] + B[k, j]: Matmul with an addition in place of the multiplication.
Program Sums(int64_t m, int64_t n, int64_t k) {
  Builder b("matmul");
  const Id A = b.Input("A", DType::kF32, {m, k}), B = b.Input("B", DType::kF32, {k, n});
  const Id C = b.Output("C", DType::kF32, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Add(b.Load(A, {i, l}), b.Load(B, {l, j})));
  return b.Finish();
}

// Returns the program scheduled with BindRest: a GPU thread computes an element of each result.
Program Simple(const Program& program, int64_t threads = 32) {
  Schedule s = Scheduled(program);
  s.BindRest(1 << 20, threads);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(StaticMachine, EstimatesEqualNumbersForEqualPrograms) {
  const Program original = Matmul(32, 24, 16), tiled = SimtMatmul(original).program(),
                simple = Simple(original);
  const auto machine = Start({.builders = 2});
  EXPECT_EQ(machine->target().fingerprint, "static-1 sm_90a h100");
  const std::vector<MeasureRequest> requests = {{.original = &original, .scheduled = &tiled},
                                                {.original = &original, .scheduled = &simple}};
  const auto first = machine->Measure(requests), second = machine->Measure({requests[1], requests[0]});
  for (const MeasureResult& result : first) {
    ASSERT_TRUE(result.ok()) << result.error;
    EXPECT_EQ(result.samples.size(), 1);
    EXPECT_FALSE(result.verified);
    EXPECT_EQ(result.flags.Print(), "contract static");
    EXPECT_THAT(result.facts, HasSubstr("\"registers\":"));
  }
  EXPECT_EQ(first[0].samples, second[1].samples);
  EXPECT_EQ(first[1].samples, second[0].samples);
  EXPECT_NE(first[0].samples, first[1].samples);
  EXPECT_EQ(machine->Race(requests)[0].samples, first[0].samples);
}

TEST(StaticMachine, RacesVerifyInTheEmulator) {
  const Program original = Matmul(32, 24, 16), tiled = SimtMatmul(original).program();
  const auto machine = Start();
  const MeasureResult result = Race(*machine, original, tiled);
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.flags.Print(), "contract static emulated");
}

TEST(StaticMachine, RacesFindWrongPrograms) {
  const Program original = Matmul(32, 24, 16);
  const Program wrong = SimtMatmul(Sums(32, 24, 16)).program();
  const auto machine = Start();
  const MeasureResult result = Race(*machine, original, wrong);
  EXPECT_EQ(result.status, "wrong_result");
  EXPECT_THAT(result.error, HasSubstr("wanted"));
}

// A product of 2048 thread blocks with 65,664 memory accesses each: the emulator runs only some of the blocks. Tests
// that the right program passes, and that a wrong one is found.
TEST(StaticMachine, RunsSomeBlocksOfALargeProgram) {
  const Program original = Matmul(512, 512, 256);
  const Program scheduled = Simple(original, 128), wrong = Simple(Sums(512, 512, 256), 128);
  const auto machine = Start();
  const MeasureResult right = Race(*machine, original, scheduled);
  ASSERT_TRUE(right.ok()) << right.error;
  EXPECT_TRUE(right.verified);
  EXPECT_EQ(Race(*machine, original, wrong).status, "wrong_result");
}

// Returns a program for two kernels: S = A * B if `right`, otherwise a sum of A + B; then C = S + 1.
Program TwoKernels(bool right, int64_t n = 256) {
  Builder b("two");
  const Id A = b.Input("A", DType::kF32, {n, n}), B = b.Input("B", DType::kF32, {n, n}),
           S = b.Temporary("S", DType::kF32, {n, n}), C = b.Output("C", DType::kF32, {n, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  const Id left = b.Load(A, {i, k}), other = b.Load(B, {k, j});
  b.Reduce("product", {{"i", n}, {"j", n}, {"k", n, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {i, j}},
           right ? b.Mul(left, other) : b.Add(left, other));
  b.Compute("more", {{"i", n}, {"j", n}}, {C, {i, j}}, b.Add(b.Load(S, {i, j}), b.Float(DType::kF32, 1)));
  return b.Finish();
}

TEST(StaticMachine, HasSchedulesThatAreRight) {
  for (const Program& small :
       {Matmul(32, 24, 16), Sums(32, 24, 16), TwoKernels(true, 24), TwoKernels(false, 24)})
    ExpectSameOnGpu(small, Simple(small));
}

// A product of many thread blocks, and a second kernel that adds 1. The emulator checks only some blocks, but runs all
// blocks of the first kernel, as the second reads their results. Tests that a right and a wrong program are told apart.
TEST(StaticMachine, RunsWhatLaterKernelsNeed) {
  const Program original = TwoKernels(true);
  const auto machine = Start();
  const MeasureResult right = Race(*machine, original, Simple(original, 128));
  ASSERT_TRUE(right.ok()) << right.error;
  EXPECT_TRUE(right.verified);
  EXPECT_THAT(right.facts, HasSubstr("\"blocks\":512,\"threads\":128"));
  EXPECT_EQ(Race(*machine, original, Simple(TwoKernels(false), 128)).status, "wrong_result");
}

// The untransformed program gets too little time on the CPU to compute all outputs. Tests that elements that the
// emulated blocks wrote are compared with the interpreter, and that a wrong program is still found.
TEST(StaticMachine, ComparesElementsOfAnOriginalThatTakesTooLong) {
  const Program original = Matmul(512, 512, 256);
  const auto machine = Start({.reference_seconds = 0.001});
  const MeasureResult right = Race(*machine, original, Simple(original, 128));
  ASSERT_TRUE(right.ok()) << right.error;
  EXPECT_TRUE(right.verified);
  EXPECT_EQ(right.flags.Print(), "contract spot-checked static emulated");
  const MeasureResult wrong = Race(*machine, original, Simple(Sums(512, 512, 256), 128));
  EXPECT_EQ(wrong.status, "wrong_result");
  EXPECT_THAT(wrong.error, HasSubstr("but the interpreter says"));
}

TEST(StaticMachine, TakesNothingThatTheEmulatorDoesNotFinish) {
  const Program original = Matmul(512, 512, 256);
  const auto machine = Start({.emulation_seconds = 0.02});
  const MeasureResult result = Race(*machine, original, Simple(original, 128));
  EXPECT_EQ(result.status, "timed_out");
  EXPECT_THAT(result.error, StartsWith("the emulator: not done after 0.02 s"));
}

// Tests that the estimate is lower for the better one of two programs, where one is better on any GPU, such as a copy
// along rows and one along columns. A program that spills registers fails to build.
TEST(StaticMachine, OrdersCompiledPrograms) {
  const Program any = Matmul(8, 8, 8);
  const auto machine = Start({.builders = 2});
  const auto seconds = [&](const Program& scheduled) {
    const MeasureResult result = machine->Measure({{.original = &any, .scheduled = &scheduled}})[0];
    EXPECT_TRUE(result.ok()) << result.error;
    return result.ok() ? result.samples[0] : 0;
  };
  const double copy = seconds(CopyAlong(true, 1));
  EXPECT_LT(2 * copy, seconds(CopyAlong(false, 1)));  // lanes beside each other before strides
  EXPECT_LT(seconds(CopyAlong(true, 4)), copy);       // vectors before scalars
  const double tiles = seconds(ProductByTiles(1024, 4));
  EXPECT_LT(tiles, seconds(ProductWithoutTiles(1024, 1024, 1024, 256)));  // reuse before none
  EXPECT_LT(4 * copy, seconds(CopyInOneBlock(1024, 1024)));               // more blocks than SMs before one
  EXPECT_LT(tiles, seconds(ProductByTiles(1024, 4, 256)));  // 16 KiB of shared memory before 128 KiB
  const Program spills = ProductByTiles(1024, 16);          // 256 sums of a thread
  EXPECT_EQ(machine->Measure({{.original = &any, .scheduled = &spills}})[0].status, "build_failed");
}

// Tests that estimates prefer large tiles for a large product, since these read less memory, and small tiles for a
// small product, since these make more thread blocks.
TEST(StaticMachine, OrdersTilesOfCompiledProducts) {
  const auto machine = Start({.builders = 2});
  const auto seconds = [&](const Program& product, const SimtTile& tile) {
    const Schedule s = TiledProduct(product, tile);
    EXPECT_TRUE(s.ok()) << s.status();
    const MeasureResult result = machine->Measure({{.original = &product, .scheduled = &s.program()}})[0];
    EXPECT_TRUE(result.ok()) << result.error;
    return result.ok() ? result.samples[0] : 0;
  };
  const auto square = [](int64_t elements) {
    return SimtTile{.rows = {1, 16, elements}, .columns = {1, 16, elements}, .vector = 4};
  };
  const Program large = Matmul(8192, 8192, 8192), small = Matmul(256, 256, 1024);
  EXPECT_LT(seconds(large, square(8)), seconds(large, square(4)));  // 128 by 128 before 64 by 64
  EXPECT_LT(seconds(large, square(4)), seconds(large, square(2)));
  EXPECT_LT(seconds(small, square(4)), seconds(small, square(8)));  // 16 blocks before 4, for 132 SMs
  const auto flat = [](int64_t columns) {
    return SimtTile{.rows = {1, 4, 4}, .columns = {1, columns / 4, 4}, .vector = 4};
  };
  const Program few_rows = Matmul(16, 4096, 4096);
  EXPECT_LT(seconds(few_rows, flat(64)), seconds(few_rows, flat(256)));  // 64 blocks before 16
  EXPECT_LT(seconds(few_rows, flat(64)), seconds(few_rows, flat(16)));   // 2 warps before half of one
}

TEST(StaticMachine, WithoutPtxasSaysWhereItLooked) {
  setenv("KILN_PTXAS", "/nowhere/ptxas", 1);
  const absl::Status status = StaticMachine::Start(*NamedTarget("h100")).status();
  unsetenv("KILN_PTXAS");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), StartsWith("no ptxas: install "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("looked for /nowhere/ptxas"));
}

}  // namespace
}  // namespace kiln
