// Lesson 2: a Schedule transforms a program and records the steps.
#include <iostream>

#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"

using namespace kiln;

namespace {

Program Matmul() {
  Builder b("matmul");
  const Id x = b.Input("A", DType::kF32, {128, 128}), y = b.Input("B", DType::kF32, {128, 128});
  const Id z = b.Output("C", DType::kF32, {128, 128});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("matmul", {{"i", 128}, {"j", 128}, {"k", 128, IterKind::kReduction}}, Monoid::Kind::kSum,
           {z, {i, j}}, b.Mul(b.Load(x, {i, k}), b.Load(y, {k, j})));
  return b.Finish();
}

}  // namespace

int main() {
  RandomDice dice(Engine{0});
  RandomChooser nobody(dice);  // this lesson draws nothing
  Schedule s(Matmul(), Target(), nobody);

  // Makes a register tile of 4 x 16, whose accumulators stay in registers while k runs.
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto [io, ii] = s.Split<2>(loops[0], {kAuto, 4});
  const auto [jo, ji] = s.Split<2>(loops[1], {kAuto, 16});
  s.Reorder({io, jo, loops[2], ii, ji});
  s.AccumulateAt(matmul, jo, "register");
  s.Unroll(ii);
  s.Vectorize(ji);
  if (!s.ok()) return std::cerr << s.status() << "\n", 1;
  for (const Step& step : s.steps()) std::cout << ToString(step) << "\n";
  std::cout << "\n" << ToString(s.program()) << "\n";

  // Tries to split a loop by factors that do not fit. A step that does not apply leaves the program unchanged. From
  // then on the schedule is inert, and its status has the reason.
  s.Split(io, {4, 7});
  std::cout << "refused: " << s.status().message() << "\n";
  return s.status().code() == absl::StatusCode::kFailedPrecondition ? 0 : 1;
}
