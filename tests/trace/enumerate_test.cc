#include "trace/enumerate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/trace/matmul.h"
#include "trace/replay.h"

namespace kiln {
namespace {

using testing::HasSubstr;

const Target kTarget;

Loop LoopOf(Schedule& s, size_t i) { return s.GetLoops(s.GetBlock("matmul"))[i]; }

TEST(Enumerate, GivesASketchForEverySequenceOfChoices) {
  const absl::StatusOr<Enumeration> found = Enumerate(TileMatmul, Matmul(), kTarget);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->complete);
  ASSERT_EQ(found->sketches.size(), 4u);
  std::set<std::pair<int, int>> picked;
  for (const Sketch& sketch : found->sketches) {
    ASSERT_EQ(sketch.trace.choices.size(), 2u);
    EXPECT_EQ(sketch.trace.choices[0].name, "tile/matmul/reuse");
    picked.emplace(sketch.trace.choices[0].picked, sketch.trace.choices[1].picked);
    ASSERT_EQ(sketch.sites.size(), 4u);
    EXPECT_EQ(sketch.sites[0].support, 6);  // 32 = 2^5
    EXPECT_EQ(sketch.sites[1].support, 10);
    EXPECT_TRUE(Replay(sketch.trace, Matmul(), kTarget).ok());
  }
  EXPECT_EQ(picked.size(), 4u);
}

TEST(Enumerate, EndsOnceItIsStopped) {
  std::atomic<bool> stop = false;
  int runs = 0;
  const auto space = [&](Schedule& s) {
    TileMatmul(s);
    stop = ++runs == 2;
  };
  EXPECT_EQ(Enumerate(space, Matmul(), kTarget, {.stop = &stop}).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(runs, 2);
}

TEST(Enumerate, CountsTheDecisionsOfASketch) {
  const auto found = Enumerate(TileMatmul, Matmul(), kTarget);
  ASSERT_TRUE(found.ok()) << found.status();
  for (const Sketch& sketch : found->sketches) {
    double product = 1;
    for (const SketchSite& site : sketch.sites) product *= site.support;
    EXPECT_TRUE(sketch.exact_support);
    EXPECT_NEAR(sketch.log_support, std::log(product), 1e-9);
  }
}

TEST(Enumerate, EstimatesTheDecisionsOfSitesThatDependOnEachOther) {
  // A space of two tiles that share a budget: the innermost factor of the second is at most 32 divided by that of the
  // first. Enumerate estimates the number of its decisions from 2,000 draws.
  const auto space = [](Schedule& s) {
    const auto loops = s.GetLoops(s.GetBlock("matmul"));
    const Value i = s.SamplePerfectTile(loops[0], {.parts = 2, .innermost = 32}, "i");
    const Value j =
        s.SamplePerfectTile(loops[1], {.parts = 2, .innermost = 0, .budget = 32, .within = {i}}, "j");
    s.Split(loops[0], {i});
    s.Split(loops[1], {j});
  };
  const auto found = Enumerate(space, Matmul(), kTarget, {.draws = 2000});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->sketches.size(), 1u);
  double wanted = 0;
  for (const int64_t first : {1, 2, 4, 8, 16, 32})
    wanted += Distribution::PerfectTile(48, 2, 32 / first).SupportSize();
  EXPECT_FALSE(found->sketches[0].exact_support);
  EXPECT_NEAR(std::exp(found->sketches[0].log_support), wanted, wanted * 0.05);
}

TEST(Enumerate, TheSameSeedGivesTheSameSketches) {
  const auto once = Enumerate(TileMatmul, Matmul(), kTarget, {.seed = 3}),
             again = Enumerate(TileMatmul, Matmul(), kTarget, {.seed = 3});
  ASSERT_TRUE(once.ok() && again.ok());
  for (size_t i = 0; i < once->sketches.size(); ++i)
    EXPECT_EQ(once->sketches[i].trace, again->sketches[i].trace);
}

TEST(Enumerate, DropsSequencesThatDoNotApplyAndKeepsTheReason) {
  const auto space = [](Schedule& s) {
    if (s.Choose("kind", 3) == 1) s.Parallel(LoopOf(s, 2));
    s.Unroll(LoopOf(s, 0));
  };
  const absl::StatusOr<Enumeration> found = Enumerate(space, Matmul(), kTarget);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->dropped.size(), 1u);
  EXPECT_EQ(found->dropped[0].choices[0].picked, 1);
  EXPECT_THAT(std::string(found->dropped[0].reason.message()), HasSubstr("feeds a reduction"));
}

TEST(Enumerate, MergesEqualSketches) {
  const auto space = [](Schedule& s) {
    if (s.Choose("kind", 3) == 1) s.Parallel(LoopOf(s, 1));
    s.Unroll(LoopOf(s, 0));
  };
  const absl::StatusOr<Enumeration> found = Enumerate(space, Matmul(), kTarget);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->sketches.size(), 2u);
  EXPECT_EQ(found->sketches[0].sequences, 2);
  EXPECT_EQ(found->sketches[1].sequences, 1);
}

TEST(Enumerate, RefusesASpaceThatBranchesOnADraw) {
  const auto space = [](Schedule& s) {
    const Loop i = LoopOf(s, 0);
    const auto tile = s.Split(i, {s.SamplePerfectTile(i, {.parts = 2}, "i")});
    if (s.program().loop(s.node(tile[1])).extent.Known() > 4) s.Unroll(tile[1]);  // reads a sampled extent
    s.Parallel(tile[0]);
  };
  const absl::StatusOr<Enumeration> found =
      Enumerate(space, Matmul(), kTarget, {.space = "peeking", .draws = 8});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("\"peeking\" branches on a draw, but may do so on Choose only: step 4 is"));
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("tests/trace/enumerate_test.cc:"));
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("\"parallel l3\""));
}

TEST(Enumerate, RefusesAChoiceThatDependsOnADraw) {
  const auto space = [](Schedule& s) {
    const Loop i = LoopOf(s, 0);
    const auto tile = s.Split(i, {s.SamplePerfectTile(i, {.parts = 2}, "i")});
    s.Choose("kind", static_cast<int>(2 + s.program().loop(s.node(tile[1])).extent.Known()));
  };
  const absl::StatusOr<Enumeration> found = Enumerate(space, Matmul(), kTarget, {.draws = 8});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("it chooses \"kind\" of "));
}

TEST(Enumerate, ReportsAskingForATaintedExtent) {
  const auto space = [](Schedule& s) {
    const Schedule::Section section(s, "my-module");
    const Loop i = LoopOf(s, 0);
    const auto tile = s.Split(i, {s.SamplePerfectTile(i, {.parts = 2}, "i")});
    if (s.ExtentOf(tile[1]) > 4) s.Unroll(tile[1]);
  };
  const absl::StatusOr<Enumeration> found = Enumerate(space, Matmul(), kTarget);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(found.status().message()), HasSubstr("my-module"));
}

TEST(Enumerate, DoesNotMultiplyTheChoicesOfBlocksBeyondTheLimit) {
  // Enumerates a space with 6^4 sequences of choices up to a limit of 100. The sketches have every alternative of every
  // block, though not with each other. The first alternative of block b does not apply.
  const auto space = [](Schedule& s) {
    for (const char* block : {"a", "b", "c", "d"}) {
      const Schedule::Section module(s, "module"), section(s, block);
      const int first = s.Choose("first", 3), second = s.Choose("second", 2);
      if (*block == 'b' && first == 0) s.Fail(absl::FailedPreconditionError("b needs one"));
      s.Annotate(s.GetBlock("matmul"), block, 2 * first + second);
    }
  };
  const absl::StatusOr<Enumeration> found = Enumerate(space, Matmul(), kTarget, {.limit = 100});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->complete);
  EXPECT_LE(found->sketches.size() + found->dropped.size(), 100u);
  for (const char block : {'a', 'b', 'c', 'd'}) {
    std::set<std::string> alternatives;
    for (const Sketch& sketch : found->sketches) {
      std::string key;
      for (const Schedule::Choice& choice : sketch.trace.choices) {
        if (choice.name[7] == block) key += static_cast<char>('0' + choice.picked);
      }
      alternatives.insert(key);
    }
    EXPECT_EQ(alternatives.size(), block == 'b' ? 4u : 6u) << block;
  }
}

TEST(Enumerate, RemovesDeadSteps) {
  const auto space = [](Schedule& s) {
    s.SampleCategorical({1, 2, 3}, {}, "unused");
    s.Unroll(LoopOf(s, 0));
  };
  const absl::StatusOr<Enumeration> found = Enumerate(space, Matmul(), kTarget);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->sketches[0].sites.empty());
  EXPECT_EQ(found->sketches[0].trace.steps.size(), 3u);
}

}  // namespace
}  // namespace kiln
