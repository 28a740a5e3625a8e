// Lesson 10: for users of Halide or TVM. Expresses a Halide schedule and a TVM rule in Kiln.
#include <iostream>

#include "lang/program/builder.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "modules/module.h"
#include "trace/enumerate.h"

using namespace kiln;

namespace {

// Halide's first example, a blur: the mean of three pixels in a row, then of three rows.
Program Blur() {
  Builder b("blur");
  const DType f32 = DType::kF32;
  const Id in = b.Input("in", f32, {66, 130}), rows = b.Temporary("rows", f32, {66, 128}),
           out = b.Output("out", f32, {64, 128});
  const IndexSum y = Builder::Iter(0), x = Builder::Iter(1);
  const auto mean = [&](Id p, Id q, Id r) { return b.Mul(b.Add(b.Add(p, q), r), b.Float(f32, 1.0 / 3)); };
  b.Compute("blur_x", {{"y", 66}, {"x", 128}}, {rows, {y, x}},
            mean(b.Load(in, {y, x}), b.Load(in, {y, x + IndexSum::Constant(1)}),
                 b.Load(in, {y, x + IndexSum::Constant(2)})));
  b.Compute("blur_y", {{"y", 64}, {"x", 128}}, {out, {y, x}},
            mean(b.Load(rows, {y, x}), b.Load(rows, {y + IndexSum::Constant(1), x}),
                 b.Load(rows, {y + IndexSum::Constant(2), x})));
  return b.Finish();
}

// Halide:  blur_y.tile(x, y, xi, yi, 64, 8).vectorize(xi, 8).parallel(y);
//          blur_x.compute_at(blur_y, x).vectorize(x, 8);
// A tile is a split of each loop and a reorder; compute_at works out what the consumer needs of the producer.
void HalideBlur(Schedule& s) {
  const Block blur_x = s.GetBlock("blur_x"), blur_y = s.GetBlock("blur_y");
  const auto loops = s.GetLoops(blur_y);
  const auto [y, yi] = s.Split<2>(loops[0], {kAuto, 8});
  const auto [x, xo, xi] = s.Split<3>(loops[1], {kAuto, 8, 8});
  s.Reorder({y, x, yi, xo, xi});
  s.Vectorize(xi);
  s.Parallel(y);
  s.ComputeAt(blur_x, x);
  const auto [outer, lanes] = s.Split<2>(s.GetLoops(blur_x).back(), {kAuto, 8});
  s.Vectorize(lanes);
}

Program Dot() {
  Builder b("dot");
  const Id p = b.Input("p", DType::kF32, {4096}), q = b.Input("q", DType::kF32, {4096}),
           sum = b.Output("sum", DType::kF32, {1});
  const IndexSum k = Builder::Iter(0);
  b.Reduce("dot", {{"k", 4096, IterKind::kReduction}}, Monoid::Kind::kSum, {sum, {IndexSum::Constant(0)}},
           b.Mul(b.Load(p, {k}), b.Load(q, {k})));
  return b.Finish();
}

// TVM's ScheduleRule AddRFactor: Apply(sch, block) returns a list of schedules, namely the given one, and for
// each of two loops one with partial sums along it. In Kiln, a choice replaces the list: the module is
// straight-line code, and the search moves between its sketches. FactorizeReduction is `split` by a sampled
// tile, and RFactor is `rfactor`.
void AddRfactor(Schedule& s, Block block) {
  const auto loops = s.GetLoops(block);
  const auto parts =
      s.Split(loops.back(), {s.SamplePerfectTile(loops.back(), {.parts = 2, .innermost = 64})});
  if (const int which = s.Choose("rfactor", 3); which > 0) s.Rfactor(block, parts[which - 1]);
}

}  // namespace

int main() {
  RandomDice dice(Engine{0});
  RandomChooser nobody(dice);
  Schedule s(Blur(), Target(), nobody);
  HalideBlur(s);
  if (!s.ok()) return std::cerr << s.status() << "\n", 1;
  std::cout << ToString(s.program()) << "\n";

  // Checks by symbolic execution that the schedule computes each element as before. Kiln has also checked each step, so
  // its schedules cannot change results, as in Halide.
  const auto wanted = RunSymbolic(Blur());
  if (!wanted.ok()) return std::cerr << wanted.status() << "\n", 1;
  if (const auto same = CheckSymbolic(s.program(), *wanted); !same.ok()) return std::cerr << same << "\n", 1;

  const auto sketches = Enumerate([](Schedule& t) { AddRfactor(t, t.GetBlock("dot")); }, Dot(), Target());
  if (!sketches.ok()) return std::cerr << sketches.status() << "\n", 1;
  for (const Sketch& sketch : sketches->sketches) {
    std::cout << "sketch:\n";
    for (const Step& step : sketch.trace.steps) std::cout << "  " << ToString(step) << "\n";
  }
  return sketches->sketches.size() == 3 ? 0 : 1;
}
