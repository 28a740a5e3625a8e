// Lesson 12, a quiz about blocks and buffers: schedules with a step that Kiln refuses, and the reason.
#include "examples/quiz.h"

using namespace kiln;

namespace {

// T[i] = A[i] * A[i];  S = sum of T;  B[i] = T[i] / S
Program Normalize() {
  Builder b("normalize");
  const DType f32 = DType::kF32;
  const Id a = b.Input("A", f32, {16}), t = b.Temporary("T", f32, {16}), sum = b.Temporary("S", f32, {1}),
           out = b.Output("B", f32, {16});
  const IndexSum i = Builder::Iter(0);
  b.Compute("square", {{"i", 16}}, {t, {i}}, b.Mul(b.Load(a, {i}), b.Load(a, {i})));
  b.Reduce("sum", {{"r", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {sum, {IndexSum::Constant(0)}},
           b.Load(t, {i}));
  b.Compute("scale", {{"i", 16}}, {out, {i}},
            b.Make(Op::kDiv, f32, b.Load(t, {i}), b.Load(sum, {IndexSum::Constant(0)})));
  return b.Finish();
}

}  // namespace

int main() {
  return Ask({
      {"1. The sum where it is used, once for each of its uses.", Normalize(),
       [](Schedule& s) { s.ComputeInline(s.GetBlock("sum")); }, "reduction"},
      {"2. The block that makes the output, inlined.", Normalize(),
       [](Schedule& s) { s.ComputeInline(s.GetBlock("scale")); }, "a result of the program"},
      {"3. A use before its producer: the scaled values below the loop of the sum.", Normalize(),
       [](Schedule& s) { s.ReverseComputeAt(s.GetBlock("scale"), s.GetLoops(s.GetBlock("sum"))[0]); },
       "complete only after it"},
      {"4. The squares below the loop of their first use, though there is a second.", Normalize(),
       [](Schedule& s) { s.ComputeAt(s.GetBlock("square"), s.GetLoops(s.GetBlock("sum"))[0]); },
       "reads it outside of loop r"},
      {"5. Partial sums for a block that does not reduce.", Normalize(),
       [](Schedule& s) {
         const Block square = s.GetBlock("square");
         s.Rfactor(square, s.GetLoops(square)[0]);
       },
       "reduction"},
  });
}
