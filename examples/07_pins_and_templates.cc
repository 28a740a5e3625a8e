// Lesson 7: how much of a space is open. Without random variables, it is a plain schedule. If all random
// variables are sampled first, it is a template with knobs. Pins by a user give anything between the two.
#include <iostream>

#include "lang/program/builder.h"
#include "modules/space.h"
#include "trace/enumerate.h"

using namespace kiln;

namespace {

Program Matmul() {
  Builder b("matmul");
  const Id x = b.Input("A", DType::kF32, {64, 64}), y = b.Input("B", DType::kF32, {64, 64}),
           z = b.Output("C", DType::kF32, {64, 64});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("matmul", {{"i", 64}, {"j", 64}, {"k", 64, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(y, {k, j})));
  return b.Finish();
}

// A space without random variables: one sketch, one program.
void ByHand(Schedule& s) {
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split(loops[0], {kAuto, 4}), j = s.Split(loops[1], {kAuto, 16});
  s.Reorder({i[0], j[0], loops[2], i[1], j[1]});
  s.Unroll(i[1]);
  s.Vectorize(j[1]);
}

// A template: samples all knobs first, and then schedules with them.
void Template(Schedule& s) {
  const Value rows = s.SampleCategorical({1, 2, 4, 8}, {}, "rows"),
              columns = s.SampleCategorical({8, 16, 32}, {}, "columns"),
              unroll = s.SampleCategorical({0, 16}, {}, "unroll");
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split(loops[0], {kAuto, rows}), j = s.Split(loops[1], {kAuto, columns});
  s.Reorder({i[0], j[0], loops[2], i[1], j[1]});
  s.Unroll(i[1]);
  s.Vectorize(j[1]);
  s.UnrollUpTo(unroll);
}

// Returns the number of combinations of decisions in a space: the sum over its sketches of the product of their sites'
// supports. If the space cannot be enumerated, prints the error and returns -1.
double Size(const Space& space) {
  const auto enumeration = Enumerate(space, Matmul(), Target());
  if (!enumeration.ok()) return std::cerr << enumeration.status() << "\n", -1;
  double size = 0;
  for (const Sketch& sketch : enumeration->sketches) {
    double support = 1;
    for (const SketchSite& site : sketch.sites) support *= site.support;
    size += support;
  }
  return size;
}

}  // namespace

int main() {
  const double by_hand = Size(ByHand), knobs = Size(Template);
  std::cout << "by hand " << by_hand << ", a template " << knobs << "\n";

  // Restricts a space by pins, which stand before the modules that they restrict. A pin fixes a decision, a part of a
  // support, or an alternative.
  const auto pinned = ParseSpace(
      "pin site=matmul/read-reuse to=2 | pin site=matmul/write-reuse to=1 |"
      " pin site=S1 to=1,2,2,16,2,2,1,16 | pin site=R2 to=1,64 | cpu");
  if (!pinned.ok()) return std::cerr << pinned.status() << "\n", 1;
  const double part = Size(*pinned), whole = Size(ParseSpace("cpu").value());
  std::cout << "pinned " << part << ", whole " << whole << "\n";

  // Pins a site of the template to two of its three values, from C++.
  const double knob = Size([](Schedule& s) {
    s.Pin("columns", {16, 32});
    Template(s);
  });
  std::cout << "a template without one of its values " << knob << "\n";
  return by_hand == 1 && knobs == 24 && knob == 16 && part < whole / 100 ? 0 : 1;
}
