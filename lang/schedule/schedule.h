// A Schedule transforms a program and records the steps.
//
// Each method records one step. After a step that does not apply, the schedule is inert: methods do nothing
// and return inert handles, in lists that are long enough for any index that a module expects. status() keeps
// the first failure, which names the step, what was found, what was wanted, and the caller's source line
// (design D6). Modules are therefore straight-line code, and their caller checks the status once.
//
// Sampled values are opaque: a Value cannot be turned into a number. A loop whose extent depends on one is
// tainted. ExtentOf a tainted loop makes the schedule inert, with an error that names the module that asked.
// Branch on Choose only.
//
// Not thread safe. To fork a schedule, copy it; the copy shares the chooser.
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

  // --- Steps that look up blocks and loops.
  Block GetBlock(absl::string_view name, Where where = Where::current());
  // Returns the loops around a block up to the enclosing block, outermost first.
  std::vector<Loop> GetLoops(Block block, Where where = Where::current());
  std::vector<Block> GetProducers(Block block, Where where = Where::current());
  std::vector<Block> GetConsumers(Block block, Where where = Where::current());

  // --- Steps that sample values, and arithmetic on them.
  using TileOptions = kiln::TileOptions;
  Value SamplePerfectTile(Loop loop, TileOptions options, absl::string_view label = "",
                          Where where = Where::current());
  // Samples a tile whose product may exceed the extent, for extents with few divisors.
  Value SampleTile(Loop loop, TileOptions options, absl::string_view label = "",
                   Where where = Where::current());
  // Samples one of `values` with the given weights (all equal if empty).
  Value SampleCategorical(const std::vector<int64_t>& values, const std::vector<double>& weights = {},
                          absl::string_view label = "", Where where = Where::current());
  // Samples one of the `values` that are at most `most`; the least of them remains if all are greater.
  Value SampleCategoricalUpTo(Factor most, const std::vector<int64_t>& values, absl::string_view label = "",
                              Where where = Where::current());
  // Samples where to compute a block: -2 inline, -1 at its present place, otherwise a position among its first consumer's
  // loops.
  Value SampleComputeLocation(Block block, absl::string_view label = "", Where where = Where::current());

  // Multiply and Add combine all numbers of the sampled values. The results are opaque too, as those of all arithmetic.
  Value Multiply(const std::vector<Factor>& numbers, Where where = Where::current());
  Value Add(const std::vector<Factor>& numbers, Where where = Where::current());
  // Divide returns the quotient, rounded down, and Subtract the difference. Neither is below 0.
  Value Divide(Factor number, Factor by, Where where = Where::current());
  Value Subtract(Factor number, Factor less, Where where = Where::current());
  Value Minimum(const std::vector<Factor>& numbers, Where where = Where::current());
  // Takes one number of a sampled tile; index -1 is the last.
  Value Part(Value tile, int index, Where where = Where::current());

  // --- Steps that change loops.
  std::vector<Loop> Split(Loop loop, const std::vector<Factor>& factors, Where where = Where::current());
  template <size_t N>
  std::array<Loop, N> Split(Loop loop, const Factor (&factors)[N], Where where = Where::current()) {
    return First<N>(Split(loop, std::vector<Factor>(factors, factors + N), where));
  }
  Loop Fuse(const std::vector<Loop>& loops, Where where = Where::current());
  void Reorder(const std::vector<Loop>& loops, Where where = Where::current());
  // Merges two loops that follow each other into one with the children of both.
  Loop Merge(Loop first, Loop second, Where where = Where::current());
  // Cuts a loop into two or three loops, one after the other. The first of two, or the middle of three, keeps
  // the handles of what is below.
  std::vector<Loop> LoopPartition(Loop loop, const std::vector<Factor>& sizes,
                                  Where where = Where::current());
  Loop AddUnitLoop(Loop below, Where where = Where::current());
  Loop AddUnitLoop(Block below, Where where = Where::current());
  void Parallel(Loop loop, Where where = Where::current());
  void Vectorize(Loop loop, Where where = Where::current());
  void Unroll(Loop loop, Where where = Where::current());
  void Bind(Loop loop, LoopKind axis, Where where = Where::current());
  // Lets the children of a loop overlap. Each child runs its iterations in order, a stage ahead of the
  // children that wait for it.
  void Pipeline(Loop loop, PipelineOptions options = {}, Where where = Where::current());

  // --- Steps that move blocks.
  // `place` is a position below the loop: "first" is right after the last producer; "last" is
  // right before the first consumer, or the end; a number is before that child. "" means last for ComputeAt
  // and first for ReverseComputeAt.
  void ComputeAt(Block block, Loop loop, absl::string_view place = "", Where where = Where::current());
  void ReverseComputeAt(Block block, Loop loop, absl::string_view place = "", Where where = Where::current());
  void ComputeInline(Block block, Where where = Where::current());
  void ReverseComputeInline(Block block, Where where = Where::current());
  // Computes the block at a location from SampleComputeLocation.
  void ComputeAtLocation(Block block, Value location, Where where = Where::current());

  // Moves the nest of a block that reads only constants into the prepare phase, which runs once per set of
  // constants.
  void Prepare(Block block, Where where = Where::current());

  // --- Lemmas: their result is the new reference program. They come before all other steps.
  // Reduces in a wider type and rounds once at the end. Returns the block that rounds.
  Block AccumulateIn(Block block, absl::string_view dtype, Where where = Where::current());
  // Lets lowering drop terms of a sum of products in which a factor is zero beyond bounds (padding).
  void AssumeFinite(Block block, Where where = Where::current());
  // Drops terms of a sum of products in which a factor is one of the zeros between elements.
  void SkipZeros(Block block, Where where = Where::current());

  // --- Steps that change buffers.
  // Copies the part of the n-th buffer read (in order of first use) to a new buffer. Returns the
  // copying block.
  Block CacheRead(Block block, int operand, absl::string_view storage = "global",
                  Where where = Where::current());
  // Like CacheRead, and the later blocks in the same scope that read the buffer read the copy too.
  Block CacheReadForAll(Block block, int operand, absl::string_view storage = "global",
                        Where where = Where::current());
  // Lets `block` write to a new buffer, and copies that to the old one. Returns the copying block.
  Block CacheWrite(Block block, absl::string_view storage = "global", Where where = Where::current());
  // Accumulates in a private buffer below `loop` and combines it into the destination. Returns the combining
  // block.
  Block AccumulateAt(Block block, Loop loop, absl::string_view storage = "register",
                     Where where = Where::current());
  // Copies the n-th buffer read (-1: the destination) such that the block's iters alone index it. Returns the
  // copying block.
  Block Reindex(Block block, int n, absl::string_view storage = "global", Where where = Where::current());
  // Pads the iters of a sum of products to multiples. Returns the blocks that pad operands and crop the
  // result.
  std::vector<Block> PadEinsum(Block block, const std::vector<int64_t>& to, Where where = Where::current());
  // Splits a block that pads with a constant in two: one fills, the other stores within bounds. Returns the
  // filling block.
  Block DecomposePadding(Block block, Loop loop, Where where = Where::current());
  // Sets the layout of a buffer of the block (the n-th read, or -1 for its destination). The map is text such
  // as "(i, j) -> (j/16, i, j%16)", in which $0 is the first of `numbers`. A swizzle replaces address bits
  // [to, to + bits) by their XOR with bits [from, from + bits).
  void TransformLayout(Block block, int operand, absl::string_view map, Where where = Where::current());
  void TransformLayout(Block block, int operand, absl::string_view map, const std::vector<Factor>& numbers,
                       Where where = Where::current());
  void TransformLayout(Block block, int operand, absl::string_view map, Swizzle swizzle,
                       Where where = Where::current());
  // The axes of a fragment have kinds "register", "lane" or "warp", as in "lane, lane, register".
  void TransformLayout(Block block, int operand, absl::string_view map, absl::string_view kinds,
                       Where where = Where::current());
  void SetScope(Block block, absl::string_view storage, Where where = Where::current());

  // --- Steps that change reductions.
  // Gives each iteration of `loop` a partial result, in a workspace whose dimension `axis` is
  // the loop. Returns the combining block.
  Block Rfactor(Block block, Loop loop, int axis = 0, absl::string_view storage = "global",
                Where where = Where::current());
  // Moves the initialization of a reduction to a block of its own before `loop`. Returns that block.
  Block DecomposeReduction(Block block, Loop loop, Where where = Where::current());

  // --- Steps for intrinsics: make a block of a loop, make a call of a block or loop, turn a contraction into
  // loops m, n and k.
  Block Blockize(Loop loop, Where where = Where::current());
  void Tensorize(Block tile, absl::string_view intrinsic, Where where = Where::current());
  void Tensorize(Loop loop, absl::string_view intrinsic, Where where = Where::current());
  std::array<Loop, 3> Einsum(Block block, const std::vector<int64_t>& to, Where where = Where::current());

  // --- Steps that set annotations of blocks and loops.
  void Annotate(Block block, absl::string_view key, int64_t value, Where where = Where::current());
  void Annotate(Loop loop, absl::string_view key, int64_t value, Where where = Where::current());

  // --- Late steps: every replay computes their effect from the program at that point.
  // Fuses and parallelizes the outer data parallel loops of every nest, up to `limit` iterations.
  void ParallelizeOuter(Factor limit, Where where = Where::current());
  // Vectorizes the innermost loop of every block if its accesses allow that, with up to `lanes` elements.
  void VectorizeInner(Factor lanes, Where where = Where::current());
  // Gives reductions along contiguous rows up to `lanes` partial results in vector lanes.
  void RfactorLanes(Factor lanes, Where where = Where::current());
  // Distributes a copying block over the threads of its nest; each thread copies `vector` elements at a time.
  void CooperativeFetch(Block block, Factor vector, Where where = Where::current());
  // Binds outer data parallel loops of every nest to thread-x, with up to `threads` threads, unless the nest has threads, and
  // to a block axis that it does not have, with up to `blocks` blocks in all.
  void BindRest(Factor blocks, Factor threads, Where where = Where::current());
  // Lets the innermost loops of a block be calls of an intrinsic: splits and reorders them, lays out
  // fragments that have no layout, and tensorizes.
  void Call(Block block, absl::string_view intrinsic, Where where = Where::current());
  // Lays out the tile that a block writes to shared memory in lines of 128 bytes with swizzled chunks of 16
  // bytes.
  void SwizzleLines(Block block, Where where = Where::current());
  // Unrolls inner loops while the straight-line code has at most `steps` instructions (lang/analysis/cost.h).
  void UnrollUpTo(Factor steps, Where where = Where::current());
};

}  // namespace kiln
