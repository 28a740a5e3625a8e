// Hand-written schedules for GPUs: tiled products with pipelines, a softmax over threads, kernels with shared memory.
#pragma once

#include <vector>

#include "lang/base/check.h"
#include "lang/program/builder.h"
#include "testing/scheduled.h"

namespace kiln {

// Schedules a product of 8 * side by 6 * side elements, with 16 terms each, for GPUs. A block of side * side threads
// computes a tile, each thread 4 by 2 elements of it. All threads copy slices of 4 along k to shared memory.
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

// The tile of a product that a GPU block computes: its threads, the elements of each thread, and the steps along k.
struct SimtTile {
  struct Side {
    int64_t virtual_threads = 1, threads = 4, elements = 2;
    int64_t size() const { return virtual_threads * threads * elements; }
  };
  Side rows, columns;
  int64_t step = 8;    // elements along k that a GPU block has in shared memory at once
  int64_t vector = 1;  // elements that a thread copies at once
  PipelineOptions pipeline = {.depths = {2}};
  int64_t unrolled = 1;     // iterations along k within a step that are unrolled
  bool transposes = false;  // transposes the slices of the left operand
};

// Schedules a product in tiles: each step copies the parts of the operands that it needs to shared memory, then
// multiplies in registers. `copies`: the blocks that copy the operands, if the program has them already.
inline Schedule TiledProduct(Schedule s, Block product, const SimtTile& tile,
                             std::vector<Block> copies = {}) {
  const auto split = [&](Loop loop, const SimtTile::Side& side) {
    return s.Split(loop, {kAuto, side.virtual_threads, side.threads, side.elements});
  };
  auto loops = s.GetLoops(product);
  loops.erase(loops.begin(), loops.end() - 3);
  const auto i = split(loops[0], tile.rows), j = split(loops[1], tile.columns);
  const auto k = s.Split(loops[2], {kAuto, tile.step / tile.unrolled, tile.unrolled});
  s.Reorder({i[0], j[0], k[0], i[2], j[2], k[1], k[2], i[1], j[1], i[3], j[3]});
  const Loop block = s.Fuse({i[0], j[0]}), thread = s.Fuse({i[2], j[2]});
  s.Bind(block, LoopKind::kBlockX);
  for (const int operand : {0, 1}) {
    const bool is_given = copies.size() == 2;
    if (!is_given) copies.push_back(s.CacheRead(product, operand, "shared"));
    s.ComputeAt(copies[operand], k[0]);
    if (is_given) s.SetScope(copies[operand], "shared");
  }
  if (tile.transposes) s.TransformLayout(copies[0], -1, "(i, k) -> (k, i)");
  for (const int operand : {0, 1}) {
    const Block load = s.CacheRead(product, operand, "register");
    const bool is_virtual = tile.rows.virtual_threads > 1 || tile.columns.virtual_threads > 1;
    s.ComputeAt(load, is_virtual ? j[1] : k[2]);  // with virtual threads, each loads what it needs
    const auto of_load = s.GetLoops(load);
    // Chooses the loop to vectorize: a thread's elements are adjacent along columns, or in a transposed copy.
    const SimtTile::Side& side = operand == 0 ? tile.rows : tile.columns;
    const bool vectors = side.elements > 1 && (operand == 1 || tile.transposes);
    const size_t along = of_load.size() - (operand == 0 ? 2 : 1),
                 other = of_load.size() - (operand == 0 ? 1 : 2);
    s.Unroll(of_load[other]);
    vectors ? s.Vectorize(of_load[along]) : s.Unroll(of_load[along]);
  }
  const Block store = s.AccumulateAt(product, block, "register");
  const auto of_store = s.GetLoops(store);
  const auto a = s.Split(of_store[of_store.size() - 2],
                         {tile.rows.virtual_threads, tile.rows.threads, tile.rows.elements}),
             b = s.Split(of_store[of_store.size() - 1],
                         {tile.columns.virtual_threads, tile.columns.threads, tile.columns.elements});
  s.Reorder({a[1], b[1], a[0], b[0], a[2], b[2]});
  s.Bind(s.Fuse({a[1], b[1]}), LoopKind::kThreadX);
  for (const Loop loop : {a[0], b[0], a[2]}) s.Unroll(loop);
  tile.columns.elements > 1 ? s.Vectorize(b[2]) : s.Unroll(b[2]);
  s.Bind(thread, LoopKind::kThreadX);
  for (const Loop loop : {i[1], j[1]}) s.Bind(loop, LoopKind::kVirtualThread);
  for (const Loop loop : {k[2], i[3], j[3]}) s.Unroll(loop);
  for (const Block copy : copies) s.CooperativeFetch(copy, tile.vector);
  s.Pipeline(k[0], tile.pipeline);
  return s;
}
inline Schedule TiledProduct(const Program& program, const SimtTile& tile) {
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  return TiledProduct(std::move(s), product, tile);
}

// The blocks of a softmax, and the kernel that they become: each iteration of `row` computes a row. The row is in
// registers, its maximum and sum in shared memory.
struct SoftmaxRows {
  Loop row;
  Block load, max, exp, sum, div;
  explicit SoftmaxRows(Schedule& s)
      : max(s.GetBlock("max")), exp(s.GetBlock("exp")), sum(s.GetBlock("sum")), div(s.GetBlock("div")) {
    row = s.GetLoops(div)[0];
    for (const Block block : {sum, exp, max}) s.ComputeAt(block, row);
    load = s.CacheRead(max, 0, "register");
    s.SetScope(max, "shared");
    s.SetScope(sum, "shared");
    s.SetScope(exp, "register");
    s.ComputeAt(load, row);
  }
  // Returns true for the two blocks that load a row from memory and store it to memory.
  bool Moves(Block block) const { return block.number == load.number || block.number == div.number; }
};

// Schedules a softmax as one GPU kernel. A block of 8 threads computes a row. Each thread loads an eighth of the row,
// adjacent elements in vectors of four, and reduces them in registers first.
inline Schedule SoftmaxOfRows(const Program& program) {
  Schedule s = Scheduled(program);
  const SoftmaxRows rows(s);
  const auto& [row, load, max, exp, sum, div] = rows;
  for (const Block block : {load, max, exp, sum, div}) {
    const auto parts = s.Split(s.GetLoops(block).back(), {8, kAuto, 4});
    s.Bind(parts[0], LoopKind::kThreadX);
    s.Unroll(parts[1]);
    rows.Moves(block) ? s.Vectorize(parts[2]) : s.Unroll(parts[2]);
    if (block.number == max.number || block.number == sum.number) s.AccumulateAt(block, parts[0], "register");
  }
  s.Bind(row, LoopKind::kBlockX);
  return s;
}

// Returns a kernel of T = A; C[i] = T[i] + T[i + shift]. Each GPU block computes its part of T in shared memory.
inline Program Shifted(int64_t elements, int64_t shift, int64_t threads) {
  Builder b("shifted");
  const Id A = b.Input("A", DType::kF32, {elements + shift}),
           T = b.Temporary("T", DType::kF32, {elements + shift}), C = b.Output("C", DType::kF32, {elements});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", elements + shift}}, {T, {i}}, b.Load(A, {i}));
  b.Compute("use", {{"i", elements}}, {C, {i}},
            b.Add(b.Load(T, {i}), b.Load(T, {i + IndexSum::Constant(shift)})));
  Schedule s = Scheduled(b.Finish());
  const Block make = s.GetBlock("make"), use = s.GetBlock("use");
  const auto parts = s.Split(s.GetLoops(use)[0], {kAuto, 2, threads});
  s.Bind(parts[0], LoopKind::kBlockX);
  s.ComputeAt(make, parts[1]);
  s.SetScope(make, "shared");
  s.Bind(parts[2], LoopKind::kThreadX);
  s.Bind(s.GetLoops(make).back(), LoopKind::kThreadX);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

// Returns a kernel of C[i] = sum over k of A[k, elements - 1 - i]. A pipeline over k copies row k of A to shared memory
// with one thread for each element; then each thread adds an element that another thread copied.
inline Program Copied(int64_t elements, const PipelineOptions& options) {
  Builder b("copied");
  const Id A = b.Input("A", DType::kF32, {12, elements}), S = b.Temporary("S", DType::kF32, {12, elements}),
           C = b.Output("C", DType::kF32, {elements});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Compute("load", {{"k", 12}, {"i", elements}}, {S, {b.Iter(0), b.Iter(1)}},
            b.Load(A, {b.Iter(0), b.Iter(1)}));
  b.Reduce("sum", {{"i", elements}, {"k", 12, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i}},
           b.Load(S, {k, i * -1 + IndexSum::Constant(elements - 1)}));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({loops[1], loops[0]});
  s.ComputeAt(s.GetBlock("load"), loops[1]);
  s.SetScope(s.GetBlock("load"), "shared");
  s.Bind(loops[0], LoopKind::kThreadX);
  s.Bind(s.GetLoops(s.GetBlock("load")).back(), LoopKind::kThreadX);
  s.Pipeline(loops[1], options);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

}  // namespace kiln
