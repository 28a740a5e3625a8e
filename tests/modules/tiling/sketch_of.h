// Programs and sketches for tests of multi-level tiling.
#pragma once

#include "absl/strings/match.h"
#include "lang/base/check.h"
#include "lang/program/builder.h"
#include "modules/default_modules.h"
#include "trace/enumerate.h"

namespace kiln {

// y[c, h] += x[c, h + k] * w[c, k], channels last among the loops.
inline Program Depthwise() {
  Builder b("depthwise");
  const Id x = b.Input("x", DType::kF32, {8, 34}), w = b.Input("w", DType::kF32, {8, 3}),
           y = b.Output("y", DType::kF32, {8, 32});
  const Sum h = Builder::Iter(0), c = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("sum", {{"h", 32}, {"c", 8}, {"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {c, h}},
           b.Mul(b.Load(x, {c, h + k}), b.Load(w, {c, k})));
  return b.Finish();
}

// The sketch of the default space that accumulates in registers and packs what `read_reuse` says.
inline Trace SketchOf(const Program& program, int read_reuse, bool across = false) {
  const auto enumeration = Enumerate(CpuSpace, program, Target());
  KILN_CHECK(enumeration.ok(), enumeration.status().ToString());
  for (const Sketch& sketch : enumeration->sketches) {
    bool wanted = true;
    for (const auto& choice : sketch.trace.choices) {
      if (absl::EndsWith(choice.name, "write-reuse")) wanted &= choice.picked == 1;
      if (absl::EndsWith(choice.name, "lanes-across")) wanted &= (choice.picked == 1) == across;
      if (absl::EndsWith(choice.name, "read-reuse")) wanted &= choice.picked == read_reuse;
    }
    if (wanted) return sketch.trace;
  }
  KILN_CHECK(false, "no such sketch");
}

}  // namespace kiln
