#include "search/features/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/features/configuration.h"
#include "search/features/context.h"
#include "testing/matmul.h"
#include "trace/enumerate.h"
#include "trace/text.h"

namespace kiln {
namespace {

TEST(FeatureKinds, HaveNames) {
  EXPECT_EQ(FeatureKindOf("context-relation"), FeatureKind::kContextRelation);
  EXPECT_EQ(FeatureKindOf("ansor"), FeatureKind::kAnsor);
  EXPECT_EQ(FeatureKindOf("curve"), std::nullopt);
}

std::vector<float> ContextOf(const Program& program) {
  LoopNestSummary nests;
  nests.Read(program);
  Footprints footprints;
  footprints.Read(nests);
  std::vector<float> rows;
  for (size_t b = 0; b < nests.blocks().size(); ++b) {
    rows.resize(rows.size() + kContextDim, 0.0f);
    FillContextRow(nests, footprints, static_cast<int>(b), &rows[rows.size() - kContextDim]);
  }
  return rows;
}

Program Scheduled(const std::function<void(Schedule&)>& how) {
  RandomDice dice(Engine{1});
  RandomChooser chooser(dice);
  Schedule s(Matmul(64, 64, 64), Target(), chooser);
  how(s);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(ContextRelation, DoesNotDependOnTheWayToAProgram) {
  const Program once =
      Scheduled([](Schedule& s) { s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {4, 2, 8}); });
  const Program twice = Scheduled([](Schedule& s) {
    const std::vector<Loop> parts = s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {8, 8});
    s.Split(parts[0], {4, 2});
  });
  const Program other =
      Scheduled([](Schedule& s) { s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {2, 4, 8}); });
  EXPECT_EQ(ContextOf(once), ContextOf(twice));
  EXPECT_NE(ContextOf(once), ContextOf(other));
}

TEST(ContextRelation, ACurveIsTheMostOfWhatLiesBelowTheThreshold) {
  // The loops i, j and k have 64 iterations each. Their bottom-up products are 64^3, 64^2 and 64, and their lengths 64.
  // A curve has, for each t, the largest length of a loop whose product is below 2^t.
  const std::vector<float> row = ContextOf(Matmul(64, 64, 64));
  const float* const lengths = row.data();                    // largest length where bottom-up < 2^t
  const float* const outside = row.data() + kContextSamples;  // largest length where top-down < 2^t
  EXPECT_EQ(lengths[6], 0);                                   // the smallest bottom-up product is 2^6
  EXPECT_EQ(lengths[7], std::log2(65.0f));
  EXPECT_EQ(outside[0], 0);  // the smallest top-down product is 1, of the outermost loop
  EXPECT_EQ(outside[1], std::log2(65.0f));
  for (int curve = 0; curve < kContextCurves; ++curve) {
    const float* const samples = &row[curve * kContextSamples];
    EXPECT_TRUE(std::is_sorted(samples, samples + kContextSamples)) << curve;
  }
}

// Generates a space with two sketches that share one site. Each has another site of its own.
void TwoSketches(Schedule& s) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("matmul"));
  const auto tile = [&](Loop loop, const char* label) {
    s.Split(loop, std::vector<Factor>{s.SamplePerfectTile(loop, {.parts = 2}, label)});
  };
  tile(loops[0], "shared");
  s.Choose("which", 2) == 0 ? tile(loops[1], "one") : tile(loops[2], "two");
}

TEST(Configuration, SketchesShareTheColumnsOfTheSitesThatTheyShare) {
  const Program program = Matmul(16, 16, 16);
  const Enumeration sketches = *Enumerate(TwoSketches, program, Target());
  ASSERT_EQ(sketches.sketches.size(), 2u);
  const auto columns = [&](int sketch, std::vector<int64_t> first, std::vector<int64_t> second) {
    Trace trace = sketches.sketches[sketch].trace;
    std::vector<Step*> sites;
    for (Step& step : trace.steps) {
      if (step.primitive->sampling) sites.push_back(&step);
    }
    sites.at(0)->decision.assign(first.begin(), first.end());
    sites.at(1)->decision.assign(second.begin(), second.end());
    const Replayed replayed = Replay(trace, program, Target()).value();
    return KindExtractor(Target(), FeatureKind::kConfiguration).Extract(replayed).values;
  };
  const auto differing = [](const std::vector<float>& a, const std::vector<float>& b) {
    std::vector<int> at;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) at.push_back(static_cast<int>(i));
    }
    return at;
  };
  const auto one = columns(0, {4, 4}, {4, 4}), other = columns(1, {4, 4}, {4, 4});
  EXPECT_EQ(differing(one, columns(0, {2, 8}, {4, 4})), differing(other, columns(1, {2, 8}, {4, 4})));
  EXPECT_EQ(differing(one, columns(0, {2, 8}, {4, 4})).size(), 2u);
  EXPECT_EQ(differing(one, other).size(), 6u);  // each sketch has two numbers and a choice of its own
}

}  // namespace
}  // namespace kiln
