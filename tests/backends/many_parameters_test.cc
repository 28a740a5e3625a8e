// Tests programs with more than 64 parameters: they are built with an entry point that takes a table of pointers,
// NAME_by_table, and measured and raced with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "backends/measure/kernel.h"
#include "backends/measure/measurer.h"
#include "tests/backends/with_loops.h"
#include "tests/backends/workers.h"
#include "tests/runner/kernels.h"

namespace kiln {
namespace {

// Returns the program W = 3 * X1;  Y = W + X0 + .. + X98 with 100 parameters: 50 inputs, 49 constants and the output.
// With `prepare`, W is computed in the prepare phase.
Program Sum(bool prepare = false) {
  constexpr int64_t kSize = 32;
  Builder b("sum");
  std::vector<Id> inputs;
  for (int i = 0; i < 99; ++i) {
    inputs.push_back(i % 2 == 0 ? b.Input(absl::StrCat("X", i), DType::kF32, {kSize})
                                : b.Constant(absl::StrCat("X", i), DType::kF32, {kSize}));
  }
  const Id Y = b.Output("Y", DType::kF32, {kSize}), W = b.Temporary("W", DType::kF32, {kSize});
  const IndexSum i = b.Iter(0);
  const Id pack =
      b.Compute("pack", {{"i", kSize}}, {W, {i}}, b.Mul(b.Float(DType::kF32, 3), b.Load(inputs[1], {i})));
  Id sum = b.Load(W, {i});
  for (const Id input : inputs) sum = b.Add(sum, b.Load(input, {i}));
  b.Compute("sum", {{"i", kSize}}, {Y, {i}}, sum);
  Program p = b.Finish();
  Id top = pack;
  while (p.nodes[top].parent != kRoot) top = p.nodes[top].parent;
  p.nodes[top].prepare = prepare;
  return p;
}

TEST(ManyParameters, AreBuiltWithATable) {
  const auto pool = StartBuilders();
  const BuildResult built = pool->Submit(RequestFor(Sum(true))).get();
  ASSERT_TRUE(built.ok()) << built.error;
  EXPECT_TRUE(built.has_table);
  const KernelObject kernel = KernelOf(Sum(true), built, "kernel", TolerancesOf(Sum()));
  EXPECT_TRUE(kernel.takes_table);
  EXPECT_EQ(kernel.symbol, "kernel_by_table");
  EXPECT_EQ(kernel.prepare_symbol, "kernel_prepare_by_table");
  EXPECT_EQ(kernel.params.size(), 101u);
}

TEST(FewParameters, AreBuiltWithATableIfTheRequestAsks) {
  const auto pool = StartBuilders();
  BuildRequest request = RequestFor(Affine(1000), {BuildOutput::kSharedObject, BuildOutput::kLlvm});
  const BuildResult plain = pool->Submit(request).get();
  EXPECT_FALSE(plain.has_table);
  EXPECT_THAT(plain.outputs.at(1), testing::Not(testing::HasSubstr("kernel_by_table")));
  request.table_above = 0;
  const BuildResult built = pool->Submit(request).get();
  ASSERT_TRUE(built.has_table);
  EXPECT_THAT(built.outputs.at(1), testing::HasSubstr("define i32 @kernel_by_table(ptr"));
  RunRequest run{.kernel = KernelOf(Affine(1000), built, "kernel", TolerancesOf(Affine(1000)))};
  const RunResult ran = RunOne(run);
  EXPECT_EQ(Name(ran), "ok") << ran.detail;
}

TEST(ManyParameters, AreMeasuredAndRaced) {
  CpuMeasurer measurer = CpuMeasurer::Start({.run_seconds = 3,
                                             .builder_path = ProgramPath("kiln-builder"),
                                             .runner_path = ProgramPath("kiln-runner")})
                             .value();
  const Program original = Sum(), scheduled = WithLoops(Sum(true), LoopKind::kUnrolled);
  const std::vector<MeasureRequest> requests = {{.original = &original, .scheduled = &original},
                                                {.original = &original, .scheduled = &scheduled}};
  for (const MeasureResult& result : measurer.Measure(requests)) {
    EXPECT_EQ(result.status, outcome::kOk) << result.error;
    EXPECT_TRUE(result.verified);
    EXPECT_FALSE(result.samples.empty());
  }
  for (const MeasureResult& result : measurer.Race(requests))
    EXPECT_EQ(result.status, outcome::kOk) << result.error;
}

TEST(ManyParameters, AreComparedToo) {
  CpuMeasurer measurer = CpuMeasurer::Start({.run_seconds = 3,
                                             .builder_path = ProgramPath("kiln-builder"),
                                             .runner_path = ProgramPath("kiln-runner"),
                                             .before_run =
                                                 [](const MeasureRequest&, KernelObject* kernel) {
                                                   kernel->shared_object = CompileC(
                                                       "int kernel_by_table(void* const* p) { return 0; }");
                                                 }})
                             .value();
  const Program original = Sum();
  const MeasureResult result = measurer.Measure({{.original = &original, .scheduled = &original}}).front();
  EXPECT_EQ(result.status, outcome::kWrongResult);
  EXPECT_THAT(result.error, testing::HasSubstr("32 of 32 elements differ too much"));
}

}  // namespace
}  // namespace kiln
