// A Schedule transforms a program and records the steps.
//
// Each method is one recorded step. After a step that does not apply, the schedule is inert: methods do
// nothing and return inert handles, in lists that are long enough for any index a module expects. status()
// keeps the first failure, which names the step, what was found, what was wanted, and the caller's source
// line (design D6). So modules are straight-line code, and their caller asks for the status once.
//
// Sampled values are opaque: a Value cannot be turned into a number. A loop whose extent depends on one is
// tainted. ExtentOf a tainted loop makes the schedule inert, with an error that names the module that asked.
// Branch on Choose only.
//
// Not thread safe; copy it to fork (a copy shares the chooser).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "lang/schedule/pipeline_options.h"
#include "lang/schedule/schedule_core.h"
#include "lang/schedule/tile_options.h"

namespace kiln {

class Schedule : public ScheduleCore {
 public:
  using ScheduleCore::ScheduleCore;

  // --- looking up
  Block GetBlock(absl::string_view name, Where where = Where::current());
  // The loops around a block up to the enclosing block, outermost first.
  std::vector<Loop> GetLoops(Block block, Where where = Where::current());
  std::vector<Block> GetProducers(Block block, Where where = Where::current());
  std::vector<Block> GetConsumers(Block block, Where where = Where::current());

  // --- sampling
  using TileOptions = kiln::TileOptions;
  Value SamplePerfectTile(Loop loop, TileOptions options, absl::string_view label = "",
                          Where where = Where::current());
  // A tile that need not divide the extent: for those that divide badly.
  Value SampleTile(Loop loop, TileOptions options, absl::string_view label = "",
                   Where where = Where::current());
  // One of `values`, by weight (all equal if empty).
  Value SampleCategorical(const std::vector<int64_t>& values, const std::vector<double>& weights = {},
                          absl::string_view label = "", Where where = Where::current());
  // Where to compute a block: -2 inline, -1 where it is, else a position among its first consumer's loops.
  Value SampleComputeLocation(Block block, absl::string_view label = "", Where where = Where::current());

  // Arithmetic on sampled values, all numbers of each; the results are opaque too.
  Value Multiply(const std::vector<Factor>& numbers, Where where = Where::current());
  Value Add(const std::vector<Factor>& numbers, Where where = Where::current());
  // One number of a tile; -1 is the last.
  Value Part(Value tile, int index, Where where = Where::current());

  // --- loops
  std::vector<Loop> Split(Loop loop, const std::vector<Factor>& factors, Where where = Where::current());
  template <size_t N>
  std::array<Loop, N> Split(Loop loop, const Factor (&factors)[N], Where where = Where::current()) {
    return First<N>(Split(loop, std::vector<Factor>(factors, factors + N), where));
  }
  Loop Fuse(const std::vector<Loop>& loops, Where where = Where::current());
  void Reorder(const std::vector<Loop>& loops, Where where = Where::current());
  // One loop of two that follow each other, with the children of both.
  Loop Merge(Loop first, Loop second, Where where = Where::current());
  // Two or three loops one after the other; the first of two, or the middle one, keeps what is below.
  std::vector<Loop> LoopPartition(Loop loop, const std::vector<Factor>& sizes,
                                  Where where = Where::current());
  Loop AddUnitLoop(Loop below, Where where = Where::current());
  Loop AddUnitLoop(Block below, Where where = Where::current());
  void Parallel(Loop loop, Where where = Where::current());
  void Vectorize(Loop loop, Where where = Where::current());
  void Unroll(Loop loop, Where where = Where::current());
  void Bind(Loop loop, LoopKind axis, Where where = Where::current());
  // Lets the children of a loop overlap: each runs its iterations in order,
  // a stage ahead of those that wait for it.
  void Pipeline(Loop loop, PipelineOptions options = {}, Where where = Where::current());

  // --- placement
  // `place` below the loop: "first" is right after the last producer, "last" right before the first consumer
  // or at the end, a number before that child. "" is last for compute-at, first for the other.
  void ComputeAt(Block block, Loop loop, absl::string_view place = "", Where where = Where::current());
  void ReverseComputeAt(Block block, Loop loop, absl::string_view place = "", Where where = Where::current());
  void ComputeInline(Block block, Where where = Where::current());
  void ReverseComputeInline(Block block, Where where = Where::current());
  // At a sampled location (SampleComputeLocation).
  void ComputeAtLocation(Block block, Value location, Where where = Where::current());

  // Runs the whole nest of a block, which reads constants only, once per constants, before all others.
  void Prepare(Block block, Where where = Where::current());

  // --- lemmas: what they make is the new reference; they come first
  // Reduces in a wider type, and rounds once at the end; the block that rounds.
  Block AccumulateIn(Block block, absl::string_view dtype, Where where = Where::current());
  // Lets lowering leave out the terms of a sum of products whose factor is a zero beyond bounds.
  void AssumeFinite(Block block, Where where = Where::current());
  // Leaves out the terms of a sum of products whose factor is a zero between elements.
  void SkipZeros(Block block, Where where = Where::current());

  // --- buffers
  // Copies what `block` reads of its n-th buffer (in order of first use) to a new buffer; the copying block.
  Block CacheRead(Block block, int operand, absl::string_view storage = "global",
                  Where where = Where::current());
  // Lets `block` write to a new buffer that another block copies to the old one; the copying block.
  Block CacheWrite(Block block, absl::string_view storage = "global", Where where = Where::current());
  // Partial sums in a private buffer below `loop`, combined into the destination; the combining block.
  Block AccumulateAt(Block block, Loop loop, absl::string_view storage = "register",
                     Where where = Where::current());
  // Lets `block` read its n-th buffer (-1: write its destination) by its iters alone; the copying block.
  Block Reindex(Block block, int n, absl::string_view storage = "global", Where where = Where::current());
  // Pads the iters of a sum of products to multiples; the blocks that pad its operands and crop its result.
  std::vector<Block> PadEinsum(Block block, const std::vector<int64_t>& to, Where where = Where::current());
  // A block that pads with a constant fills first, and then stores within the bounds only; the filling block.
  Block DecomposePadding(Block block, Loop loop, Where where = Where::current());
  // Sets the layout of a buffer of the block (operand n-th read, or -1 its destination) from a map in text,
  // "(i, j) -> (j/16, i, j%16)", in which $0 is the first of `numbers`; address bits [to, to + bits) become
  // their XOR with bits [from, from + bits).
  void TransformLayout(Block block, int operand, absl::string_view map, Where where = Where::current());
  void TransformLayout(Block block, int operand, absl::string_view map, const std::vector<Factor>& numbers,
                       Where where = Where::current());
  void TransformLayout(Block block, int operand, absl::string_view map, Swizzle swizzle,
                       Where where = Where::current());
  // The axes of a fragment are of kinds "register", "lane" and "warp": "lane, lane, register".
  void TransformLayout(Block block, int operand, absl::string_view map, absl::string_view kinds,
                       Where where = Where::current());
  void SetScope(Block block, absl::string_view storage, Where where = Where::current());

  // --- reductions
  // Partial results of each iteration of `loop`, a workspace's dimension `axis`; the block that combines.
  Block Rfactor(Block block, Loop loop, int axis = 0, absl::string_view storage = "global",
                Where where = Where::current());
  // Initialization as a block of its own, before `loop`; that block.
  Block DecomposeReduction(Block block, Loop loop, Where where = Where::current());

  // --- intrinsics: what is below a loop as a block; that as a call; a contraction as loops m, n and k
  Block Blockize(Loop loop, Where where = Where::current());
  void Tensorize(Block tile, absl::string_view intrinsic, Where where = Where::current());
  void Tensorize(Loop loop, absl::string_view intrinsic, Where where = Where::current());
  std::array<Loop, 3> Einsum(Block block, const std::vector<int64_t>& to, Where where = Where::current());

  // --- annotations
  void Annotate(Block block, absl::string_view key, int64_t value, Where where = Where::current());
  void Annotate(Loop loop, absl::string_view key, int64_t value, Where where = Where::current());

  // --- late steps: what they do is computed at every replay from the program as it then stands
  // Fuses and parallelizes the outer data parallel loops of every nest, up to `limit` iterations.
  void ParallelizeOuter(Factor limit, Where where = Where::current());
  // Vectorizes the innermost loop of every block where its accesses allow, up to `lanes` elements.
  void VectorizeInner(Factor lanes, Where where = Where::current());
  // Lets reductions along their innermost loop keep up to `lanes` partial results in vectors.
  void RfactorRows(Factor lanes, Where where = Where::current());
  // Spreads a block that copies over the threads of its nest, each of them `vector` elements at a time.
  void CooperativeFetch(Block block, Factor vector, Where where = Where::current());
  // Binds the outer data parallel loops of every nest that no axis has yet to `blocks` blocks, of `threads`.
  void BindRest(Factor blocks, Factor threads, Where where = Where::current());
  // Unrolls inner loops while a nest's straight line stays within `steps` instances.
  void UnrollUpTo(Factor steps, Where where = Where::current());
};

}  // namespace kiln
