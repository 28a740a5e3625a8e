// Tests the features of the kind `gpu`, and how well cost models order programs by these features.
#include "search/features/gpu_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/cost/analytic.h"
#include "search/cost/models.h"
#include "search/cost/rank.h"
#include "search/features/cycle_estimate.h"
#include "search/features/kinds.h"
#include "search/propose/measured_history.h"
#include "search/propose/prefilter.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "trace/enumerate.h"

namespace kiln {
namespace {

Target GpuTarget(absl::string_view name) {
  Target target;
  target.name = "cuda";
  target.gpu = FindGpu(name);
  return target;
}

FeatureSet FeaturesOf(const Program& program, FeatureKind kind = FeatureKind::kGpu) {
  LoopNestSummary nests;
  nests.Read(program);
  FeatureSet features;
  KindExtractor(GpuTarget("h100"), kind).Extract(nests, {}, features);
  return features;
}

TEST(GpuFeatures, AreTheKindOfGpus) {
  EXPECT_EQ(KindFor(GpuTarget("l4"), FeatureKind::kAnsor), FeatureKind::kGpu);
  EXPECT_EQ(KindFor(Target(), FeatureKind::kGpu), FeatureKind::kAnsor);
  EXPECT_EQ(KindFor(GpuTarget("l4"), FeatureKind::kContextRelation), FeatureKind::kContextRelation);
  EXPECT_EQ(FeaturesOf(Matmul(32, 24, 16), FeatureKind::kAnsor).dim, kGpuFeatureDim);
}

TEST(GpuFeatures, HaveARowForEachStatementAndFiniteNumbers) {
  const FeatureSet product = FeaturesOf(SimtMatmul(Matmul(32, 24, 16)).program());
  const FeatureSet softmax = FeaturesOf(SoftmaxOfRows(Softmax(3, 64)).program());
  EXPECT_GE(product.rows(), 5);  // two copies to shared memory, two to registers, the product
  EXPECT_GE(softmax.rows(), 5);
  for (const FeatureSet* set : {&product, &softmax})
    for (const float value : set->values) ASSERT_TRUE(std::isfinite(value));
}

TEST(GpuFeatures, HoldTheCyclesOfTheProgram) {
  const Program program = SimtMatmul(Matmul(32, 24, 16)).program();
  LoopNestSummary nests;
  nests.Read(program);
  const double cycles = GpuRoofline(*FindGpu("h100")).Cycles(nests);
  const FeatureSet features = FeaturesOf(program);
  EXPECT_NEAR(AnalyticScore(features.values, FeatureKind::kGpu), -std::log(1 + cycles), 1e-4);
  EXPECT_EQ(CycleEstimate(GpuTarget("h100")).Cycles(nests), cycles);
}

// A space that tiles a matmul for a GPU: each thread computes a tile. The sizes of tiles and the number of threads are
// sampled.
void Tiles(Schedule& s) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("matmul"));
  if (!s.ok()) return;
  const auto tile = [&](Loop loop, const char* label) {
    Schedule::TileOptions options;
    options.parts = 3;
    options.innermost = 8;
    return s.Split(loop, std::vector<Factor>{s.SamplePerfectTile(loop, options, label)});
  };
  const auto i = tile(loops[0], "i"), j = tile(loops[1], "j");
  s.Reorder({i[0], j[0], i[1], j[1], loops[2], i[2], j[2]});
  s.Unroll(i[2]);
  s.Unroll(j[2]);
  s.Bind(s.Fuse({i[0], j[0]}), LoopKind::kBlockX);
  s.Bind(s.Fuse({i[1], j[1]}), LoopKind::kThreadX);
}

struct Drawn {
  FeatureBatch features;
  std::vector<double> truth;
  std::vector<TrainingLabel> labels;
};

// Draws up to `count` programs for the h100, with features and throughputs. Their times are estimates for another GPU
// (rtx3090), with factors for the kernel's tail and registers.
Drawn Draw(int count, uint64_t seed) {
  const Target target = GpuTarget("h100");
  const Program program = Matmul(256, 256, 256);
  SearchSpace space{program, target, {}, [&] { return MakePrefilter(target); }};
  const Enumeration sketches = Enumerate(Tiles, program, target).value();
  for (const Sketch& sketch : sketches.sketches) space.sketches.push_back(sketch.trace);
  const Prefilter prefilter = space.make_prefilter();
  RandomDice dice(Engine{seed});
  Drawn drawn;
  GpuRoofline other(*FindGpu("rtx3090"));
  std::vector<double> seconds;
  for (int tries = 0; drawn.features.programs() < count && tries < 20 * count; ++tries) {
    const absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
    if (!point.ok()) continue;
    drawn.features.Append(point->features);
    LoopNestSummary nests;
    nests.Read(point->replayed.program());
    const double cycles = other.Cycles(nests);
    const KernelCycles& kernel = other.kernels()[0];
    seconds.push_back(cycles * (1 + kernel.tail) * (1 + 100 / kernel.registers));
  }
  for (const double throughput : Throughputs(seconds)) {
    drawn.truth.push_back(throughput);
    drawn.labels.push_back({.throughput = throughput});
  }
  return drawn;
}

TEST(GpuFeatures, ModelsOrderProgramsBeforeAndAfterTheyLearn) {
  const Drawn known = Draw(150, 1), unseen = Draw(150, 2);
  ASSERT_EQ(unseen.features.programs(), 150);
  const auto accuracy = [&](const CostModel& model) {
    return *RankAccuracy(*model.Predict(unseen.features), unseen.truth);
  };
  const auto trees = MakeCostModel("trees", {.features = FeatureKind::kGpu}).value();
  const double before = accuracy(*trees);
  EXPECT_EQ(accuracy(AnalyticModel(FeatureKind::kGpu)), before);
  EXPECT_GT(before, 0.6);
  ASSERT_EQ(trees->Update(known.features, known.labels), absl::OkStatus());
  EXPECT_GT(accuracy(*trees), std::max(0.8, before));
}

}  // namespace
}  // namespace kiln
