// Tests the static machine: its numbers, its flags, and that races run the emulator.
#include "backends/measure/static_machine.h"

#include <gmock/gmock.h>

#include "backends/cpu/targets.h"
#include "lang/program/builder.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/backends/workers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

StaticMachine Start(int builders = 1) {
  auto machine = StaticMachine::Start(*NamedTarget("h100"), {.builders = builders});
  EXPECT_TRUE(machine.ok()) << machine.status();
  return *std::move(machine);
}

MeasureResult Race(Measurer& machine, const Program& original, const Program& scheduled) {
  return machine.Race({{.original = &original, .scheduled = &scheduled}})[0];
}

// Like Matmul, but adds where that multiplies.
Program Sums(int64_t m, int64_t n, int64_t k) {
  Builder b("matmul");
  const Id A = b.Input("A", DType::kF32, {m, k}), B = b.Input("B", DType::kF32, {k, n});
  const Id C = b.Output("C", DType::kF32, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Add(b.Load(A, {i, l}), b.Load(B, {l, j})));
  return b.Finish();
}

// A thread for each element.
Program Simple(const Program& program, int64_t threads = 32) {
  Schedule s = Scheduled(program);
  s.BindRest(1 << 20, threads);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(StaticMachine, EstimatesEqualNumbersForEqualPrograms) {
  const Program original = Matmul(32, 24, 16), tiled = SimtMatmul(original).program(),
                simple = Simple(original);
  StaticMachine machine = Start(2);
  EXPECT_EQ(machine.target().fingerprint, "static-1 sm_90a h100");
  const std::vector<MeasureRequest> requests = {{.original = &original, .scheduled = &tiled},
                                                {.original = &original, .scheduled = &simple}};
  const auto first = machine.Measure(requests), second = machine.Measure({requests[1], requests[0]});
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
  EXPECT_EQ(machine.Race(requests)[0].samples, first[0].samples);
}

TEST(StaticMachine, RacesVerifyInTheEmulator) {
  const Program original = Matmul(32, 24, 16), tiled = SimtMatmul(original).program();
  StaticMachine machine = Start();
  const MeasureResult result = Race(machine, original, tiled);
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.flags.Print(), "contract static emulated");
}

TEST(StaticMachine, RacesFindWrongPrograms) {
  const Program original = Matmul(32, 24, 16);
  const Program wrong = SimtMatmul(Sums(32, 24, 16)).program();
  StaticMachine machine = Start();
  const MeasureResult result = Race(machine, original, wrong);
  EXPECT_EQ(result.status, "wrong_result");
  EXPECT_THAT(result.error, HasSubstr("wanted"));
}

// 2 * 512 * 512 * 256 operations: five of its blocks run.
TEST(StaticMachine, RunsSomeBlocksOfALargeProgram) {
  const Program original = Matmul(512, 512, 256);
  const Program scheduled = Simple(original, 128), wrong = Simple(Sums(512, 512, 256), 128);
  StaticMachine machine = Start();
  const MeasureResult right = Race(machine, original, scheduled);
  ASSERT_TRUE(right.ok()) << right.error;
  EXPECT_TRUE(right.verified);
  EXPECT_EQ(Race(machine, original, wrong).status, "wrong_result");
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
