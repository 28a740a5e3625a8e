// A hand-written space of tiled matmuls for tests of the search.
#pragma once

#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "testing/matmul.h"
#include "trace/enumerate.h"

namespace kiln {

// Schedules a matmul: splits i and j into three loops each and k into two, with sampled sizes, orders the loops in one
// of two ways, runs the outermost loop of i in parallel, unrolls inner loops up to a sampled size, and vectorizes
// innermost loops.
inline void TilingSpace(Schedule& s) {
  const Block block = s.GetBlock("matmul");
  const std::vector<Loop> loops = s.GetLoops(block);
  if (!s.ok()) return;
  const auto tile = [&](Loop loop, int parts, int64_t innermost, const char* label) {
    Schedule::TileOptions options;
    options.parts = parts;
    options.innermost = innermost;
    return s.Split(loop, std::vector<Factor>{s.SamplePerfectTile(loop, options, label)});
  };
  const auto i = tile(loops[0], 3, 8, "i"), j = tile(loops[1], 3, 64, "j"), k = tile(loops[2], 2, 16, "k");
  if (!s.ok()) return;
  if (s.Choose("order", 2) == 0) {
    s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2]});
  } else {
    s.Reorder({j[0], i[0], i[1], j[1], k[0], k[1], i[2], j[2]});
  }
  s.Parallel(i[0]);
  s.UnrollUpTo(s.SampleCategorical({1, 16, 64}, {}, "unroll"));
  s.VectorizeInner(8);
}

}  // namespace kiln
