// Pairs of GPU programs of which one is better, to test estimates of time: a copy along rows or along columns, a
// product with or without tiles, a transposition in shared memory with or without bank conflicts.
#pragma once

#include <utility>
#include <vector>

#include "lang/base/check.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {

inline Program Copy(int64_t rows, int64_t columns) {
  Builder b("copy");
  const Id A = b.Input("A", DType::kF32, {rows, columns}), B = b.Output("B", DType::kF32, {rows, columns});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("copy", {{"i", rows}, {"j", columns}}, {B, {i, j}}, b.Load(A, {i, j}));
  return b.Finish();
}

// Returns a copy of a matrix of size x size elements with a thread block for each row (`rows`) or column, of size / 4
// threads. A thread copies `vector` neighbors of its row or column at a time, as a vector if `vector` > 1.
inline Program CopyAlong(bool rows, int64_t vector, int64_t size = 1024) {
  Schedule s = Scheduled(Copy(size, size));
  auto loops = s.GetLoops(s.GetBlock("copy"));
  if (!rows) s.Reorder({loops[1], loops[0]}), std::swap(loops[0], loops[1]);
  const auto parts = s.Split(loops[1], {kAuto, size / 4, vector});
  s.Bind(loops[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
  if (vector > 1) s.Vectorize(parts[2]);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

// Returns a copy of a matrix by a single block of 256 threads, which loop over the rows and over chunks of 256 elements
// of a row.
inline Program CopyInOneBlock(int64_t rows, int64_t columns) {
  Schedule s = Scheduled(Copy(rows, columns));
  s.Bind(s.Split(s.GetLoops(s.GetBlock("copy"))[1], {kAuto, 256})[1], LoopKind::kThreadX);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

// Returns a matrix product on a GPU in which each thread computes one element from global memory, in blocks of
// `threads`.
inline Program ProductWithoutTiles(int64_t m, int64_t n, int64_t k, int64_t threads) {
  Schedule s = Scheduled(Matmul(m, n, k));
  auto loops = s.GetLoops(s.GetBlock("matmul"));
  loops.resize(2);
  const auto parts = s.Split(s.Fuse(loops), {kAuto, threads});
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

// Returns a matrix product on a GPU by a single block of 1024 threads, each of which computes one element at a time.
inline Program ProductInOneBlock(int64_t m, int64_t n, int64_t k) {
  Schedule s = Scheduled(Matmul(m, n, k));
  const auto loops = s.GetLoops(s.GetBlock("matmul"));
  s.Bind(s.Split(s.Fuse({loops[0], loops[1]}), {kAuto, 1024})[1], LoopKind::kThreadX);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

// Returns a matrix product on a GPU in which a block of 256 threads computes a tile of 16 * per by 16 * per elements,
// and a thread per by per of them. Each step copies `step` columns of A and rows of B to shared memory.
inline Program ProductByTiles(int64_t size, int64_t per, int64_t step = 16) {
  Schedule s = Scheduled(Matmul(size, size, size));
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto i = s.Split(loops[0], {kAuto, 16, per}), j = s.Split(loops[1], {kAuto, 16, per});
  const auto k = s.Split(loops[2], {kAuto, step});
  s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1], i[2], j[2]});
  const Loop block = s.Fuse({i[0], j[0]}), thread = s.Fuse({i[1], j[1]});
  s.Bind(block, LoopKind::kBlockX);
  std::vector<Block> copies;
  for (const int operand : {0, 1}) {
    copies.push_back(s.CacheRead(product, operand, "shared"));
    s.ComputeAt(copies.back(), k[0]);
  }
  const Block store = s.AccumulateAt(product, block, "register");
  const auto of_store = s.GetLoops(store);
  const auto a = s.Split(of_store[1], {16, per}), b = s.Split(of_store[2], {16, per});
  s.Reorder({a[0], b[0], a[1], b[1]});
  s.Bind(s.Fuse({a[0], b[0]}), LoopKind::kThreadX);
  for (const Loop loop : {a[1], b[1], i[2], j[2]}) s.Unroll(loop);
  s.Bind(thread, LoopKind::kThreadX);
  for (const Block copy : copies) s.CooperativeFetch(copy, 4);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

// Returns the program y[n, i, j] = x[n, j, i] + z[n, i, j], without a schedule.
inline Program TransposedSum(int64_t batch, int64_t rows, int64_t columns, DType dtype = DType::kF32) {
  Builder b("transposed");
  const Id x = b.Input("x", dtype, {batch, columns, rows}), z = b.Input("z", dtype, {batch, rows, columns}),
           y = b.Output("y", dtype, {batch, rows, columns});
  const IndexSum n = Builder::Iter(0), i = Builder::Iter(1), j = Builder::Iter(2);
  b.Compute("sum", {{"n", batch}, {"i", rows}, {"j", columns}}, {y, {n, i, j}},
            b.Add(b.Load(x, {n, j, i}), b.Load(z, {n, i, j})));
  return b.Finish();
}

// Returns y[i, j] = x[j, i] + z[i, j] scheduled in tiles of 32 by 32 elements for a GPU. Threads copy a tile of x to
// shared memory by rows, in vectors of four, and read it by columns. With `permuted`, a swizzle of the tile avoids bank
// conflicts.
inline Program TurnedTiles(int64_t size, bool permuted) {
  Schedule s = Scheduled(TransposedSum(1, size, size));
  const Block sum = s.GetBlock("sum");
  const auto loops = s.GetLoops(sum);
  const auto i = s.Split(loops[1], {kAuto, 32}), j = s.Split(loops[2], {kAuto, 32});
  s.Reorder({i[0], j[0], i[1], j[1]});
  const Loop block = s.Fuse({i[0], j[0]});
  s.Bind(block, LoopKind::kBlockX);
  s.Bind(s.Fuse({i[1], j[1]}), LoopKind::kThreadX);
  const Block copy = s.CacheRead(sum, 0, "shared");
  s.ComputeAt(copy, block);
  if (permuted) {
    s.TransformLayout(copy, -1, "(n, j, i) -> (i/32, n, j, i%32)", Swizzle{.from = 5, .to = 0, .bits = 5});
  }
  s.CooperativeFetch(copy, 4);
  KILN_CHECK(s.ok(), s.status().message());
  return s.program();
}

}  // namespace kiln
