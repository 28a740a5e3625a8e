// Lesson 11, a quiz about loops: schedules with a step that Kiln refuses, and the reason.
#include "examples/quiz.h"

using namespace kiln;

namespace {

// for i < 12: for r < 9: S[i] += A[i, r]
Program RowSums() {
  Builder b("row_sums");
  const Id a = b.Input("A", DType::kF32, {12, 9}), sums = b.Output("S", DType::kF32, {12});
  const IndexSum i = Builder::Iter(0), r = Builder::Iter(1);
  b.Reduce("sum", {{"i", 12}, {"r", 9, IterKind::kReduction}}, Monoid::Kind::kSum, {sums, {i}},
           b.Load(a, {i, r}));
  return b.Finish();
}

// for i < 8: B[i] = A[i] + A[i];  for i < 8: C[i] = B[i]
Program TwoNests() {
  Builder b("two");
  const Id a = b.Input("A", DType::kF32, {8}), t = b.Temporary("B", DType::kF32, {8}),
           c = b.Output("C", DType::kF32, {8});
  const IndexSum i = Builder::Iter(0);
  b.Compute("first", {{"i", 8}}, {t, {i}}, b.Add(b.Load(a, {i}), b.Load(a, {i})));
  b.Compute("second", {{"j", 8}}, {c, {i}}, b.Load(t, {i}));
  return b.Finish();
}

}  // namespace

int main() {
  return Ask({
      {"1. The factors 4 and 2 of a loop with 9 iterations.", RowSums(),
       [](Schedule& s) { s.Split(s.GetLoops(s.GetBlock("sum"))[1], {4, 2}); }, "give 8"},
      {"2. The loop of a reduction in parallel.", RowSums(),
       [](Schedule& s) { s.Parallel(s.GetLoops(s.GetBlock("sum"))[1]); }, "feeds a reduction"},
      {"3. Loops of two nests in one order.", TwoNests(),
       [](Schedule& s) {
         s.Reorder({s.GetLoops(s.GetBlock("first"))[0], s.GetLoops(s.GetBlock("second"))[0]});
       },
       "not on one chain"},
      {"4. Outer before inner, but the inner one holds a second block.", TwoNests(),
       [](Schedule& s) {
         const auto outer = s.Split(s.GetLoops(s.GetBlock("second"))[0], {2, 4});
         s.ComputeAt(s.GetBlock("first"), outer[0]);
         s.Fuse({outer[0], outer[1]});
       },
       "is not the only child"},
      {"5. A loop that was split is gone; its handle is not another loop's.", RowSums(),
       [](Schedule& s) {
         const Loop i = s.GetLoops(s.GetBlock("sum"))[0];
         s.Split(i, {3, 4});
         s.Vectorize(i);
       },
       "was used up by step 2"},
  });
}
