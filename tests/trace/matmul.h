// The program and the space of the tests in this folder: a matmul whose three loops are each split into two by sampled
// tiles. Structural choices add an accumulator and a copy of A. The innermost loop is vectorized, and the limit of
// unrolling, in instructions, is sampled.
#pragma once

#include <string>
#include <vector>

#include "lang/base/check.h"
#include "lang/program/builder.h"
#include "trace/text.h"

namespace kiln {

inline Program Matmul(int64_t m = 32, int64_t n = 48, int64_t k = 64) {
  Builder b("matmul");
  const Id A = b.Input("A", DType::kF32, {m, k}), B = b.Input("B", DType::kF32, {k, n});
  const Id C = b.Output("C", DType::kF32, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, l}), b.Load(B, {l, j})));
  return b.Finish();
}

inline void TileMatmul(Schedule& s) {
  const Schedule::Section module(s, "tile"), where(s, "matmul");
  const Block block = s.GetBlock("matmul");
  const std::vector<Loop> loops = s.GetLoops(block);
  const auto i = s.Split(loops[0], {s.SamplePerfectTile(loops[0], {.parts = 2}, "i")});
  const auto j = s.Split(loops[1], {s.SamplePerfectTile(loops[1], {.parts = 2}, "j")});
  const auto k = s.Split(loops[2], {s.SamplePerfectTile(loops[2], {.parts = 2}, "k")});
  s.Reorder({i[0], j[0], k[0], i[1], k[1], j[1]});
  if (s.Choose("reuse", 2) == 1) s.AccumulateAt(block, k[0]);
  if (s.Choose("copy", 2) == 1) s.ComputeAt(s.CacheRead(block, 0), k[0]);
  s.Vectorize(j[1]);
  s.UnrollUpTo(s.SampleCategorical({0, 16, 64}, {1, 2, 1}, "unroll"));
}

// A chooser that picks the alternative with the number `pick` (or the last one) at every structural choice, and draws
// decisions from the prior.
class PickChooser : public Chooser {
 public:
  PickChooser(int pick, Dice& dice) : pick_(pick), dice_(dice) {}
  Decision Choose(const Site& site) override { return site.distribution.Sample(dice_); }
  int ChooseStructure(absl::string_view, int n) override { return pick_ < n ? pick_ : n - 1; }

 private:
  int pick_;
  Dice& dice_;
};

inline Trace Draw(void (*space)(Schedule&), const Program& program, uint64_t seed, int pick = 1) {
  RandomDice dice(Engine({seed}));
  PickChooser chooser(pick, dice);
  const Target target;
  Schedule s(program, target, chooser);
  space(s);
  KILN_CHECK(s.ok(), s.status().ToString());
  return Trace::Of(s);
}

inline Trace Parsed(absl::string_view lines) {
  absl::StatusOr<Trace> trace = ParseTrace(absl::StrCat("kiln.trace v2\n", lines));
  KILN_CHECK(trace.ok(), trace.status().ToString());
  return *std::move(trace);
}

}  // namespace kiln
