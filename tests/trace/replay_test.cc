#include "trace/replay.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lang/text/text.h"
#include "tests/support/golden.h"
#include "tests/trace/matmul.h"
#include "trace/simplify.h"

namespace kiln {
namespace {

const Target kTarget;

TEST(Replay, ReproducesWhatTheScheduleMade) {
  const Program program = Matmul();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomDice dice(Engine({seed}));
    RandomChooser chooser(dice);
    Schedule s(program, kTarget, chooser);
    TileMatmul(s);
    ASSERT_TRUE(s.ok()) << s.status();
    const Trace trace = Trace::Of(s);
    const absl::StatusOr<Replayed> replayed = Replay(trace, program, kTarget);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(ToString(replayed->program()), ToString(s.program()));
    EXPECT_EQ(WithDecisions(*replayed), trace);
  }
}

TEST(Replay, KeepsEachSiteWithItsDistribution) {
  const Trace trace = Draw(TileMatmul, Matmul(), 3);
  const absl::StatusOr<Replayed> replayed = Replay(trace, Matmul(), kTarget);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  ASSERT_EQ(replayed->sites.size(), 4u);
  EXPECT_EQ(replayed->name(0), "tile/matmul/i");
  EXPECT_EQ(replayed->sites[0].distribution, Distribution::PerfectTile(32, 2, 64));
  EXPECT_EQ(replayed->sites[1].distribution, Distribution::PerfectTile(48, 2, 64));
  EXPECT_EQ(replayed->name(3), "tile/matmul/unroll");
  double sum = 0;
  for (const ReplayedSite& site : replayed->sites) {
    EXPECT_EQ(site.decision, trace.steps[site.step].decision);
    EXPECT_EQ(site.log_prob, site.distribution.LogProb(site.decision));
    sum += site.log_prob;
  }
  EXPECT_EQ(replayed->LogProb(), sum);
}

TEST(Replay, ContinuesAtEverySiteToTheSameProgram) {
  const Trace trace = Draw(TileMatmul, Matmul(), 5);
  const absl::StatusOr<Replayed> whole = Replay(trace, Matmul(), kTarget);
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (int site = 0; site < 4; ++site) {
    RecordedChooser recorded(trace);
    const absl::StatusOr<Replayed> rest = ReplayFrom(*whole, site, recorded);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(ToString(rest->program()), ToString(whole->program()));
    ASSERT_EQ(rest->sites.size(), 4u);
    for (int i = 0; i <= site; ++i)
      EXPECT_EQ(rest->sites[i].before, whole->sites[i].before) << "snapshots are shared";
  }
}

TEST(Replay, SitesWithFewStepsBetweenShareASnapshot) {
  const Trace trace = Parsed(
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\n"
      "v0 = sample-perfect-tile l0 n=2 @i -> 4 8\nv1 = sample-perfect-tile l1 n=2 @j -> 6 8\nv2 = "
      "sample-categorical values=[1] @one -> 1\n"
      "l3, l4 = split l0 v0\nv3 = sample-perfect-tile l2 n=2 @k -> 8 8\nl5, l6 = split l1 v1\nl7, l8 = split "
      "l2 v3\n");
  const absl::StatusOr<Replayed> whole = Replay(trace, Matmul(), kTarget);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->sites[0].before, whole->sites[1].before);
  EXPECT_EQ(whole->sites[2].before, nullptr) << "one value only";
  EXPECT_EQ(whole->sites[3].before, whole->sites[1].before);
  for (const int site : {1, 3}) {
    Trace other = trace;
    other.steps[whole->sites[site].step].decision = {2, site == 1 ? 24 : 32};
    RecordedChooser recorded(other);
    const absl::StatusOr<Replayed> rest = ReplayFrom(*whole, site, recorded);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(ToString(rest->program()), ToString(Replay(other, Matmul(), kTarget)->program()));
    EXPECT_EQ(rest->sites[0].decision, (Decision{4, 8}));
  }
}

TEST(Replay, SitesWithManyStepsBetweenHaveSnapshotsOfTheirOwn) {
  const Trace trace = Draw(TileMatmul, Matmul(), 5);
  const absl::StatusOr<Replayed> whole = Replay(trace, Matmul(), kTarget);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_NE(whole->sites[3].before, whole->sites[2].before);
  EXPECT_EQ(whole->sites[3].before->next_step, whole->sites[3].step);
}

TEST(Replay, WithItsOpeningRunsOnlyWhatFollows) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Trace trace = Draw(TileMatmul, Matmul(), seed);
    const std::shared_ptr<const Snapshot> opening = OpeningOf(trace, Matmul(), kTarget);
    ASSERT_NE(opening, nullptr);
    RecordedChooser recorded(trace);
    const absl::StatusOr<Replayed> whole = Replay(trace, Matmul(), kTarget),
                                   rest = Replay(trace, Matmul(), kTarget, recorded, {.opening = opening});
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(opening->next_step, whole->sites[0].step);
    EXPECT_EQ(rest->sites[0].before, opening);
    EXPECT_EQ(ToString(rest->program()), ToString(whole->program()));
    EXPECT_EQ(WithDecisions(*rest), trace);
  }
}

TEST(Replay, HasNoOpeningWhereAStepBeforeItDoesNotApply) {
  EXPECT_EQ(OpeningOf(Parsed("b0 = get-block \"other\"\n"), Matmul(), kTarget), nullptr);
}

TEST(Replay, CanDoWithoutSnapshots) {
  const Trace trace = Draw(TileMatmul, Matmul(), 5);
  const absl::StatusOr<Replayed> replayed = Replay(trace, Matmul(), kTarget, {.snapshots = false});
  ASSERT_TRUE(replayed.ok());
  for (const ReplayedSite& site : replayed->sites) EXPECT_EQ(site.before, nullptr);
}

TEST(Replay, SaysWhyAStepDoesNotApply) {
  const std::string tiled =
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\nv0 = sample-perfect-tile l0 n=2 @tile/matmul/i "
      "-> 4 8\n";
  const std::vector<std::string> traces = {
      absl::StrReplaceAll(tiled, {{"4 8", "4 7"}}),
      absl::StrReplaceAll(tiled, {{" -> 4 8", ""}}),
      "b0 = get-block \"conv\"\n",
      "b0 = get-block \"matmul\"\nl0, l1 = get-loops b0\n",
      tiled + "l3, l4 = split l0 v0\nl5, l6 = split l0 v0\n",
      tiled + "l3, l4 = split l1 v0\n",
      tiled + "parallel l2\n",
      tiled + "v1 = sample-categorical values=[-2 8] @factor -> -2\nl3, l4 = split l0 -1 v1\n",
  };
  std::string messages;
  for (const std::string& lines : traces) {
    const Trace trace = Parsed(lines);
    const absl::StatusOr<Replayed> replayed = Replay(trace, Matmul(), kTarget);
    ASSERT_FALSE(replayed.ok()) << lines;
    EXPECT_EQ(replayed.status().code(), absl::StatusCode::kFailedPrecondition) << lines;
    absl::StrAppend(&messages, lines, "=> ", replayed.status().message(), "\n\n");
  }
  ExpectGolden("trace/replay_errors.txt", messages);
}

TEST(Replay, RefusesANumberWhereATileIsNamed) {
  const Trace trace = Parsed(
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\n"
      "v0 = sample-perfect-tile l0 3 n=2 budget=8 @tile -> 4 8\n");
  EXPECT_EQ(Replay(trace, Matmul(), kTarget).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Replay, OfAnotherShapeReportsDecisionsOutOfSupportOrDrawsThemAnew) {
  const Trace trace = Parsed(
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\n"
      "v0 = sample-perfect-tile l0 n=2 @i -> 4 8\nv1 = sample-perfect-tile l1 n=2 @j -> 6 8\n");
  const Program other = Matmul(36, 48, 64);
  EXPECT_FALSE(Replay(trace, other, kTarget).ok());
  RandomDice dice(Engine({1}));
  RandomChooser drawn(dice);
  RecordedChooser recorded(trace, &drawn);
  const absl::StatusOr<Replayed> replayed = Replay(trace, other, kTarget, recorded);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_TRUE(Distribution::PerfectTile(36, 2, 64).Contains(replayed->sites[0].decision));
  EXPECT_EQ(replayed->sites[1].decision, (Decision{6, 8}));
}

TEST(Replay, GoesOnByHandAsASchedule) {
  const Trace trace = Draw(TileMatmul, Matmul(), 9);
  RandomDice dice(Engine({1}));
  RandomChooser chooser(dice);
  Schedule s = ToSchedule(trace, Matmul(), kTarget, chooser);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(Trace::Of(s), trace);
  s.GetLoops(s.GetBlock("matmul"));
  EXPECT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s.steps().size(), trace.steps.size() + 2);
}

TEST(Simplify, RemovesDeadStepsAndKeepsTheProgram) {
  const Trace trace = Parsed(
      "b0 = get-block \"matmul\"\nb1 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\n"
      "v0 = sample-perfect-tile l1 n=2 @unused -> 6 8\nl3, l4, l5 = get-loops b1\nv1 = sample-perfect-tile "
      "l3 n=2 @i -> 4 8\n"
      "l6, l7 = split l3 v1\nunroll l7\n");
  const Trace simple = Simplify(trace);
  EXPECT_EQ(
      Print(simple),
      Print(Parsed(
          "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\nv0 = sample-perfect-tile l0 n=2 @i -> 4 8\n"
          "l3, l4 = split l0 v0\nunroll l4\n")));
  EXPECT_EQ(ToString(Replay(simple, Matmul(), kTarget)->program()),
            ToString(Replay(trace, Matmul(), kTarget)->program()));
  EXPECT_EQ(Simplify(simple), simple);
}

}  // namespace
}  // namespace kiln
