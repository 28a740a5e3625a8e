// Uses the installed package without the backends: enumerates the sketches of the default space, and replays a trace.
#include <iostream>

#include "lang/program/builder.h"
#include "modules/space.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

using namespace kiln;

int main() {
  Builder b("twice");
  const Id x = b.Input("X", DType::kF32, {64, 96}), y = b.Output("Y", DType::kF32, {64, 96});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
  const Id value = b.Load(x, {i, j});
  b.Compute("twice", {{"i", 64}, {"j", 96}}, {y, {i, j}}, b.Add(value, value));
  const Program program = b.Finish();
  const Target target;
  const absl::StatusOr<Space> space = ParseSpace(DefaultSpace(target));
  if (!space.ok()) return std::cerr << space.status() << "\n", 1;
  const auto sketches = Enumerate(*space, program, target);
  if (!sketches.ok() || sketches->sketches.empty()) return std::cerr << "no sketch\n", 1;
  const auto trace = ParseTrace(Print(sketches->sketches[0].trace));
  if (!trace.ok()) return std::cerr << trace.status() << "\n", 1;
  const auto replayed = Replay(*trace, program, target);
  if (!replayed.ok()) return std::cerr << replayed.status() << "\n", 1;
  std::cout << sketches->sketches.size() << " sketches\n" << Print(*trace);
}
