// What the default space makes of the programs of tests/inputs/ops: random traces, each proven to compute
// what the original computes, or run on terms (validator/proof.h).
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "backends/prove/presburger.h"
#include "gtest/gtest.h"
#include "modules/space.h"
#include "search/chain.h"
#include "search/judge.h"
#include "test_paths.h"
#include "trace/enumerate.h"
#include "trace/text.h"
#include "validator/proof.h"

namespace kiln {
namespace {

constexpr int kTraces = 48;  // of each program; 2,000 in all

TEST(DefaultSpace, ComputesWhatTheInputsCompute) {
  int total = 0;
  proof::PresburgerProver prover({.limit = absl::Seconds(20)});
  const std::string folder = absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto imported = ImportFile(file.path().string());
    if (!imported.ok()) continue;
    SearchSpace space;
    space.original = imported->program;
    space.target.cores = 4;
    space.make_judge = [&] { return MakeJudge(space.target); };
    const auto sketches =
        Enumerate(ParseSpace(DefaultSpace(space.target)).value(), space.original, space.target);
    ASSERT_TRUE(sketches.ok()) << sketches.status();
    for (const Sketch& sketch : sketches->sketches) space.sketches.push_back(sketch.trace);
    const Judge judge = space.make_judge();
    RandomDice dice(Engine({7}));
    int traces = 0;
    for (int draws = 0; traces < kTraces && draws < 20 * kTraces; ++draws) {
      const absl::StatusOr<Point> point = DrawPoint(space, judge, dice);
      if (!point.ok()) continue;
      const Proof proof =
          Prove(space.original, point->replayed.program(), {.prover = &prover, .limit = absl::Seconds(60)});
      const bool by_run = proof.verdict == Proof::Verdict::kTooHard && proof.by_run;
      EXPECT_TRUE(proof.verdict == Proof::Verdict::kProven || by_run)
          << file.path() << ": " << ToString(proof.verdict) << ": " << proof.reason << "\n"
          << Print(*point->replayed.trace);
      ++traces;
    }
    total += traces;
  }
  EXPECT_GE(total, 2000);
}

}  // namespace
}  // namespace kiln
