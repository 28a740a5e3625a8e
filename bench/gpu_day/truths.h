// Small programs with schedules for GPUs, whose results the interpreter can compute. Together they use each feature of
// the kernels that Kiln compiles. scripts/gpu-day runs them first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"

namespace kiln {

struct KnownKernel {
  std::string name;
  Program original;
  Schedule schedule;
};

// Schedules a copy in which each thread copies four adjacent elements.
inline Schedule CopyOfVectors(int64_t elements) {
  Builder b("copy");
  const Id X = b.Input("X", DType::kF32, {elements}), Y = b.Output("Y", DType::kF32, {elements});
  b.Compute("copy", {{"i", elements}}, {Y, {b.Iter(0)}}, b.Load(X, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  const auto parts = s.Split(s.GetLoops(s.GetBlock("copy"))[0], {kAuto, 256, 4});
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
  s.Vectorize(parts[2]);
  return s;
}

// Binds the outer loop of each of these blocks to GPU blocks and threads: several kernels, which share a workspace.
inline Schedule KernelForEachBlock(const Program& program, const std::vector<const char*>& blocks) {
  Schedule s = Scheduled(program);
  for (const char* block : blocks) {
    const auto parts = s.Split(s.GetLoops(s.GetBlock(block))[0], {kAuto, 4});
    s.Bind(parts[0], LoopKind::kBlockX);
    s.Bind(parts[1], LoopKind::kThreadX);
  }
  return s;
}

// Schedules a matrix product padded to tiles: the copies of the operands have zeros beyond the operands' bounds, and
// the result is cropped.
inline Schedule PaddedProduct(const Program& program, SimtTile tile) {
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  s.Einsum(product, {32, 16, 8});
  tile.vector = 1;
  const std::vector<Block> copies = {s.GetBlock("A.mk.1"), s.GetBlock("B.kn.1")};
  s = TiledProduct(std::move(s), product, tile, copies);
  s.BindRest(64, 64);
  return s;
}

// Schedules a matrix product whose GPU blocks sum parts of k; another kernel adds the parts.
inline Schedule ProductSplitOverBlocks(const Program& program) {
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto k = s.Split(loops[2], {4, kAuto});
  s.Rfactor(product, k[0], 0);
  s.Reorder({k[0], loops[0], loops[1]});
  s.Bind(k[0], LoopKind::kBlockZ);
  s.BindRest(128, 64);
  return s;
}

// Schedules a softmax as four kernels, in which the threads of a block compute or reduce a row.
inline Schedule RowsOverThreads(const Program& program, int64_t threads) {
  Schedule s = Scheduled(program);
  for (const char* block : {"max", "exp", "sum", "div"}) {
    const auto loops = s.GetLoops(s.GetBlock(block));
    s.Bind(loops[0], LoopKind::kBlockX);
    const auto parts = s.Split(loops[1], {kAuto, threads});
    s.Reorder({parts[1], parts[0]});
    s.Bind(parts[1], LoopKind::kThreadX);
  }
  return s;
}

inline std::vector<KnownKernel> KnownKernels() {
  std::vector<KnownKernel> truths;
  const auto add = [&](const std::string& name, const Program& original, Schedule schedule) {
    truths.push_back({name, original, std::move(schedule)});
  };
  const SimtTile plain{.rows = {1, 8, 4}, .columns = {1, 4, 4}, .step = 8, .vector = 4};
  const auto with = [&](PipelineOptions pipeline) {
    SimtTile tile = plain;
    tile.pipeline = std::move(pipeline);
    return tile;
  };
  add("copy of vectors", CopyOfVectors(4096).program(), CopyOfVectors(4096));
  add("tiles in shared memory, two copies of each", Matmul(32, 24, 16), SimtMatmul(Matmul(32, 24, 16)));
  add("copies of sixteen bytes", Matmul(64, 32, 32), TiledProduct(Matmul(64, 32, 32), plain));
  for (const int depth : {2, 3, 5})
    add(absl::StrCat("a ring of ", depth, " asynchronous copies"), Matmul(64, 32, 48),
        TiledProduct(Matmul(64, 32, 48), with({.depths = {depth}, .transport = "async"})));
  add("a ring that multiplies first", Matmul(32, 16, 32),
      TiledProduct(Matmul(32, 16, 32),
                   with({.stages = {0, 0, 1}, .order = {1, 2, 0}, .depths = {3}, .transport = "async"})));
  add("a ring with one step", Matmul(32, 16, 8),
      TiledProduct(Matmul(32, 16, 8), with({.depths = {2}, .transport = "async"})));
  for (const char* transport : {"sync", "async"})
    add(absl::StrCat("guards and zeros around operands, ", transport), Matmul(50, 27, 20),
        PaddedProduct(Matmul(50, 27, 20), with({.depths = {3}, .transport = transport})));
  SimtTile tile = plain;
  tile.rows.virtual_threads = 2;
  tile.columns = {2, 4, 2};
  tile.unrolled = 4;
  add("virtual threads", Matmul(64, 64, 16), TiledProduct(Matmul(64, 64, 16), tile));
  tile = plain;
  tile.transposes = true;
  add("a transposed operand in shared memory", Matmul(32, 16, 32), TiledProduct(Matmul(32, 16, 32), tile));
  tile = {.rows = {1, 16, 4}, .columns = {1, 16, 4}, .step = 64, .vector = 4};
  add("more than 48 KB of shared memory", Matmul(64, 64, 128), TiledProduct(Matmul(64, 64, 128), tile));
  add("softmax of rows in registers", Softmax(3, 64), SoftmaxOfRows(Softmax(3, 64)));
  for (const int threads : {32, 96, 256})
    add(absl::StrCat("reductions over ", threads, " threads"), Softmax(2, 768),
        RowsOverThreads(Softmax(2, 768), threads));
  add("a reduction that is split over blocks", Matmul(16, 16, 64),
      ProductSplitOverBlocks(Matmul(16, 16, 64)));
  add("kernels that share a workspace", Softmax(5, 33),
      KernelForEachBlock(Softmax(5, 33), {"max", "exp", "sum", "div"}));
  add("threads without work", Matmul(33, 8, 12), KernelForEachBlock(Matmul(33, 8, 12), {"matmul"}));
  return truths;
}

}  // namespace kiln
