// Lesson 6: a Space is a function over a Schedule that samples random variables. Structure is a random
// variable too.
#include <iostream>

#include "lang/program/builder.h"
#include "modules/module.h"
#include "trace/enumerate.h"

using namespace kiln;

namespace {

Program RowSums() {
  Builder b("row_sums");
  const Id a = b.Input("A", DType::kF32, {64, 96}), sums = b.Output("S", DType::kF32, {64});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
  b.Reduce("sum", {{"i", 64}, {"j", 96, IterKind::kReduction}}, Monoid::Kind::kSum, {sums, {i}},
           b.Load(a, {i, j}));
  return b.Finish();
}

void TiledSums(Schedule& s) {
  const Block sum = s.GetBlock("sum");
  const auto loops = s.GetLoops(sum);
  // Sampled values are opaque: they can be passed to steps, but not tested in C++. C++ may branch on choices
  // only.
  const auto rows = s.Split(
      loops[0], {s.SamplePerfectTile(loops[0], {.parts = 2, .innermost = 8, .budget = 0, .within = {}})});
  if (s.Choose("order", 2) == 1) s.Reorder({loops[1], rows[1]});
}

}  // namespace

int main() {
  // Enumerates the sketches of the space. Each sequence of choices gives a sketch: one straight-line list of steps. The
  // search mutates the sampled values in it.
  const auto enumeration = Enumerate(TiledSums, RowSums(), Target());
  if (!enumeration.ok()) return std::cerr << enumeration.status() << "\n", 1;
  for (const Sketch& sketch : enumeration->sketches) {
    std::cout << "sketch with " << sketch.sites.size() << " site(s)\n";
    for (const SketchSite& site : sketch.sites)
      std::cout << "  " << site.name << ": " << site.support << " decisions\n";
    for (const Step& step : sketch.trace.steps) std::cout << "  " << ToString(step) << "\n";
  }
  return enumeration->sketches.size() == 2 ? 0 : 1;
}
