// Draws random traces of a space and counts how many of the scheduled programs are proven equal to the original
// (validator/proof/proof.h).
#pragma once

#include "absl/strings/str_cat.h"
#include "backends/prove/presburger.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "modules/space.h"
#include "search/propose/prefilter.h"
#include "search/sampler/chain.h"
#include "trace/enumerate.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln {

struct ProvenTraces {
  int traces = 0;   // traces that may be measured
  int proven = 0;   // those of them that are proven; the others are too hard to prove
  int refused = 0;  // drawn traces that the validator refused
};

// Draws `wanted` traces of the space `text` (fewer if 20 * wanted draws do not give so many valid ones) and tries to
// prove each. A program that is too hard to prove is executed symbolically if it and the original have at most
// most_instances instances together (two million take half a minute). Expects that each is proven, or is too hard to
// prove and passes this execution. If most_instances is 0, nothing is executed, and any program may be too hard.
inline ProvenTraces ProveTraces(const std::string& what, const std::string& text, const Program& program,
                                const Target& target, int wanted, proof::Prover& prover,
                                int64_t most_instances) {
  ProvenTraces proven;
  SearchSpace space;
  space.original = program;
  space.target = target;
  space.make_prefilter = [&] { return MakePrefilter(space.target); };
  const auto sketches = Enumerate(ParseSpace(text).value(), space.original, space.target);
  EXPECT_TRUE(sketches.ok()) << what << ": " << sketches.status();
  if (!sketches.ok()) return proven;
  for (const Sketch& sketch : sketches->sketches) space.sketches.push_back(sketch.trace);
  const Prefilter prefilter = space.make_prefilter();
  RandomDice dice(Engine({7}));
  for (int draws = 0; proven.traces < wanted && draws < 20 * wanted; ++draws) {
    const absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
    if (!point.ok()) {
      ++proven.refused;
      continue;
    }
    const Proof proof =
        Prove(space.original, point->replayed,
              {.prover = &prover, .limit = absl::Seconds(60), .most_instances = most_instances});
    const bool is_proven = proof.verdict == Proof::Verdict::kProven;
    EXPECT_TRUE(is_proven ||
                (proof.verdict == Proof::Verdict::kTooHard && (proof.by_run || most_instances == 0)))
        << what << ": " << proof.reason << "\n"
        << Print(*point->replayed.trace);
    if (!is_proven && proven.traces == proven.proven) fmt::print("{}: {}\n", what, proof.reason);
    proven.proven += is_proven;
    ++proven.traces;
  }
  return proven;
}

}  // namespace kiln
