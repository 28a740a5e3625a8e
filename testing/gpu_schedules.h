// Schedules for GPUs that are written by hand: a tiled product with a pipeline of two stages, and a softmax
// that reduces over threads.
#pragma once

#include <vector>

#include "testing/scheduled.h"

namespace kiln {

// A block of side * side threads computes a tile, a thread 4 by 2 elements of it. All threads copy slices of 4
// along k to shared memory. The result is 8 * side by 6 * side.
inline Schedule SimtMatmul(const Program& program, int64_t side = 4) {
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto i = s.Split(loops[0], {2, side, 2, 2}), j = s.Split(loops[1], {3, side, 1, 2});
  const auto k = s.Split(loops[2], {4, 4});
  s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2], i[3], j[3]});
  const Loop block = s.Fuse({i[0], j[0]}), thread = s.Fuse({i[1], j[1]});
  s.Bind(block, LoopKind::kBlockX);
  std::vector<Block> copies;
  for (const int operand : {0, 1}) {
    copies.push_back(s.CacheRead(product, operand, "shared"));
    s.ComputeAt(copies.back(), k[0]);
  }
  for (const int operand : {0, 1}) {
    const Block load = s.CacheRead(product, operand, "register");
    s.ComputeAt(load, k[1]);
    const auto of_load = s.GetLoops(load);
    for (size_t l = of_load.size() - 2; l < of_load.size(); ++l) s.Unroll(of_load[l]);
  }
  const Block store = s.AccumulateAt(product, block, "register");
  const auto of_store = s.GetLoops(store);
  const auto a = s.Split(of_store[1], {side, 2, 2}), b = s.Split(of_store[2], {side, 1, 2});
  s.Reorder({a[0], b[0], a[1], b[1], a[2], b[2]});
  s.Bind(s.Fuse({a[0], b[0]}), LoopKind::kThreadX);
  for (const Loop loop : {a[1], b[1], a[2]}) s.Unroll(loop);
  s.Vectorize(b[2]);
  s.Bind(thread, LoopKind::kThreadX);
  for (const Loop loop : {i[2], j[2], i[3], j[3]}) s.Unroll(loop);
  for (const Block copy : copies) s.CooperativeFetch(copy, side > 4 ? 1 : 2);
  s.Pipeline(k[0], {.stages = {0, 0, 1}, .depths = {2, 2}});
  return s;
}

// A block computes a row, a thread 8 adjacent elements, which it reduces in registers first.
inline Schedule SoftmaxOfRows(const Program& program) {
  Schedule s = Scheduled(program);
  const Block max = s.GetBlock("max"), exp = s.GetBlock("exp"), sum = s.GetBlock("sum"),
              div = s.GetBlock("div");
  const Loop row = s.GetLoops(div)[0];
  for (const Block block : {sum, exp, max}) s.ComputeAt(block, row);
  const Block load = s.CacheRead(max, 0, "register");
  s.SetScope(max, "shared");
  s.SetScope(sum, "shared");
  s.SetScope(exp, "register");
  s.ComputeAt(load, row);
  for (const Block block : {load, max, exp, sum, div}) {
    const auto parts = s.Split(s.GetLoops(block).back(), {8, kAuto, 4});
    s.Bind(parts[0], LoopKind::kThreadX);
    s.Unroll(parts[1]);
    const bool moves = block.number == load.number || block.number == div.number;
    moves ? s.Vectorize(parts[2]) : s.Unroll(parts[2]);
    if (block.number == max.number || block.number == sum.number) s.AccumulateAt(block, parts[0], "register");
  }
  s.Bind(row, LoopKind::kBlockX);
  return s;
}

}  // namespace kiln
