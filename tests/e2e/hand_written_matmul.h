// A schedule by hand for the matrix product of examples/matmul.mlir, and the scheduled program.
#pragma once

#include "backends/measure/measurer.h"
#include "lang/choices/chooser.h"
#include "lang/schedule/schedule.h"

namespace kiln {

// Tiles a matrix product: tiles of 32 x 64 elements, steps of 64 along k, and register tiles of 4 x 16 with unrolled
// rows and vectorized columns. Accumulates the sums of a register tile in a buffer, and copies the right operand of
// each step to a packed buffer.
inline void TileAndPackMatmul(Schedule& s) {
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split<3>(loops[0], {kAuto, 8, 4});
  const auto j = s.Split<3>(loops[1], {kAuto, 4, 16});
  const auto k = s.Split<2>(loops[2], {kAuto, 64});
  s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2]});
  const auto out = s.GetLoops(s.AccumulateAt(matmul, j[1]));
  s.Vectorize(out[out.size() - 1]);
  s.Unroll(out[out.size() - 2]);
  const Block pack = s.CacheRead(matmul, 1);
  s.ComputeAt(pack, k[0]);
  s.Unroll(i[2]);
  s.Vectorize(j[2]);
}

inline Program HandWritten(const Program& original, const Target& target) {
  RandomDice dice(Engine({1, 1}));
  RandomChooser chooser(dice);
  Schedule schedule(original, target, chooser);
  TileAndPackMatmul(schedule);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.program();
}

}  // namespace kiln
