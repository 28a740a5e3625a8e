// A Schedule transforms a program and records the steps.
//
// Each method records one step. After a step that does not apply, the schedule is inert: methods do nothing and return
// inert handles, or lists of 64 of them. status() keeps the first failure. Its message names the step, the found and
// the wanted value, and the caller's source line (design D6). Modules are therefore straight-line code, and their
// caller checks the status once.
//
// Sampled values are opaque: a Value cannot be turned into a number. A loop whose extent depends on one is
// tainted. ExtentOf a tainted loop makes the schedule inert, with an error that names the module that asked.
// Branch on Choose only. lang/schedule/sampling_schedule.h has the steps that sample values.
//
// Not thread safe. To fork a schedule, copy it; the copy shares the chooser.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "lang/schedule/pipeline_options.h"
#include "lang/schedule/sampling_schedule.h"

namespace kiln {

class Schedule : public SamplingSchedule {
 public:
  using SamplingSchedule::SamplingSchedule;

  // --- Steps that look up blocks and loops: by a block's name, around a block, and along the buffers that it uses.
  Block GetBlock(absl::string_view name, Where where = Where::current());
  // Returns the loops around a block up to the enclosing block, outermost first.
  std::vector<Loop> GetLoops(Block block, Where where = Where::current());
  std::vector<Block> GetProducers(Block block, Where where = Where::current());
  std::vector<Block> GetConsumers(Block block, Where where = Where::current());

  // --- Steps that change loops. Split divides a loop into a nest of loops with these factors, outermost first.
  std::vector<Loop> Split(Loop loop, const std::vector<Factor>& factors, Where where = Where::current());
  template <size_t N>
  std::array<Loop, N> Split(Loop loop, const Factor (&factors)[N], Where where = Where::current()) {
    return First<N>(Split(loop, std::vector<Factor>(factors, factors + N), where));
  }
  Loop Fuse(const std::vector<Loop>& loops, Where where = Where::current());
  void Reorder(const std::vector<Loop>& loops, Where where = Where::current());
  // Merges two serial loops of equal extent that follow each other into one loop with the children of both.
  Loop Merge(Loop first, Loop second, Where where = Where::current());
  // Cuts a loop into two or three loops, one after the other, each with a copy of the body. The first of two, or the
  // middle of three, keeps the blocks and loops in the body, so their handles name that copy.
  std::vector<Loop> LoopPartition(Loop loop, const std::vector<Factor>& sizes,
                                  Where where = Where::current());
  Loop AddUnitLoop(Loop below, Where where = Where::current());
  Loop AddUnitLoop(Block below, Where where = Where::current());
  void Parallel(Loop loop, Where where = Where::current());
  void Vectorize(Loop loop, Where where = Where::current());
  void Unroll(Loop loop, Where where = Where::current());
  void Bind(Loop loop, LoopKind axis, Where where = Where::current());
  // Pipelines a loop: its children overlap. Each child runs its iterations in order, by default a stage ahead of the
  // children that read its results.
  void Pipeline(Loop loop, PipelineOptions options = {}, Where where = Where::current());

  // --- Steps that move blocks.
  // `place` is a position among the children of the loop. "first" is right after the last producer of the block. "last"
  // is right before its first consumer (ComputeAt) or at the end of the loop (ReverseComputeAt). A number is before the
  // child with this number, from 0. "" means "last" for ComputeAt and "first" for ReverseComputeAt.
  void ComputeAt(Block block, Loop loop, absl::string_view place = "", Where where = Where::current());
  void ReverseComputeAt(Block block, Loop loop, absl::string_view place = "", Where where = Where::current());
  void ComputeInline(Block block, Where where = Where::current());
  void ReverseComputeInline(Block block, Where where = Where::current());
  // Computes the block at the location that SampleComputeLocation returned: -2 inlines the block, -1 changes nothing,
  // and i >= 0 moves it below the i-th loop around its first consumer.
  void ComputeAtLocation(Block block, Value location, Where where = Where::current());

  // Moves the nest of a block that reads only constants and prepared buffers into the prepare phase, which runs once
  // per set of constants.
  void Prepare(Block block, Where where = Where::current());

  // --- Lemmas: steps that change what is computed, within bounds that they state. Later steps must preserve the
  // changed program. Lemmas come before all steps that transform the program.
  // Reduces in a wider type and rounds once at the end. Returns the block that rounds.
  Block AccumulateIn(Block block, absl::string_view dtype, Where where = Where::current());
  // Lets lowering leave out the terms of a sum of products in which one factor is a zero beyond the bounds of what it
  // reads (padding). Assumes that the other factors are finite.
  void AssumeFinite(Block block, Where where = Where::current());
  // Leaves out the terms of a sum of products in which one factor is a zero between elements, as in a transposed
  // convolution. Assumes that the other factors are finite.
  void SkipZeros(Block block, Where where = Where::current());

  // --- Steps that change buffers.
  // Copies what a block reads of a buffer to a new buffer, from which the block then reads. `operand` numbers the
  // buffers that the block reads, in the order of first use. Returns the copying block.
  Block CacheRead(Block block, int operand, absl::string_view storage = "global",
                  Where where = Where::current());
  // Copies what a block reads of a buffer to a new buffer, as CacheRead does. The later blocks in the same scope that
  // read the old buffer read the copy too.
  Block CacheReadForAll(Block block, int operand, absl::string_view storage = "global",
                        Where where = Where::current());
  // Lets `block` write to a new buffer, and adds a block that copies the new buffer to the old one. Returns the copying
  // block.
  Block CacheWrite(Block block, absl::string_view storage = "global", Where where = Where::current());
  // Gives each iteration of `loop` a private buffer for its partial sums, and a new block at the end of the iteration
  // that combines them into the destination. Returns the new block.
  Block AccumulateAt(Block block, Loop loop, absl::string_view storage = "register",
                     Where where = Where::current());
  // Copies the n-th buffer that the block reads (-1: the one that it writes) from or to a new buffer, which the block
  // indexes by its iters directly: A.reindex[i, k] instead of A[k, i + 1]. Returns the copying block.
  Block Reindex(Block block, int n, absl::string_view storage = "global", Where where = Where::current());
  // Pads the extents of the iters of a sum of products to multiples of the numbers `to`, one for each iter. Returns the
  // blocks that pad operands with zeros and crop the result, without those that would change nothing.
  std::vector<Block> PadEinsum(Block block, const std::vector<int64_t>& to, Where where = Where::current());
  // Splits a block that stores a value within bounds and a constant elsewhere. A new block, in a nest before `loop`,
  // stores the constant everywhere; the old one then stores only within the bounds. Returns the new block.
  Block DecomposePadding(Block block, Loop loop, Where where = Where::current());
  // Sets the memory layout of a temporary: of the n-th buffer that the block reads, or (-1) of the one that it writes.
  // `map` is a text such as "(i, j) -> (j/16, i, j%16)", in which $0 is the first of `numbers`. A swizzle replaces
  // address bits [to, to + bits) by their XOR with bits [from, from + bits).
  void TransformLayout(Block block, int operand, absl::string_view map, Where where = Where::current());
  void TransformLayout(Block block, int operand, absl::string_view map, const std::vector<Factor>& numbers,
                       Where where = Where::current());
  void TransformLayout(Block block, int operand, absl::string_view map, Swizzle swizzle,
                       Where where = Where::current());
  // Sets the layout of a fragment, a buffer in registers of a warp or warpgroup. `kinds` has the kind of each axis of
  // the map: "register", "lane" or "warp", as in "lane, lane, register".
  void TransformLayout(Block block, int operand, absl::string_view map, absl::string_view kinds,
                       Where where = Where::current());
  void SetScope(Block block, absl::string_view storage, Where where = Where::current());

  // --- Steps that change reductions.
  // Gives each iteration of `loop`, which feeds a reduction, a partial result. A workspace holds the partial results;
  // the loop is its dimension `axis` (0 is the first, -1 the last). A new block combines them. Returns the new block.
  Block Rfactor(Block block, Loop loop, int axis = 0, absl::string_view storage = "global",
                Where where = Where::current());
  // Moves the initialization of a reduction to a block of its own before `loop`. Returns that block.
  Block DecomposeReduction(Block block, Loop loop, Where where = Where::current());

  // --- Steps for intrinsics: Blockize makes a block of a loop and all below it, Tensorize turns a block or loop into a
  // call of an intrinsic, and Einsum turns a contraction into a matrix product with the loops m, n and k.
  Block Blockize(Loop loop, Where where = Where::current());
  void Tensorize(Block tile, absl::string_view intrinsic, Where where = Where::current());
  void Tensorize(Loop loop, absl::string_view intrinsic, Where where = Where::current());
  std::array<Loop, 3> Einsum(Block block, const std::vector<int64_t>& to, Where where = Where::current());

  // --- Steps that set annotations, which are named numbers, of blocks and loops.
  void Annotate(Block block, absl::string_view key, int64_t value, Where where = Where::current());
  void Annotate(Loop loop, absl::string_view key, int64_t value, Where where = Where::current());

  // --- Late steps: replay computes their effect from the program as it is when the step runs.
  // Fuses the outer data parallel loops of every nest until they have `limit` iterations, and runs these in parallel.
  void ParallelizeOuter(Factor limit, Where where = Where::current());
  // Vectorizes the innermost loop of every block whose accesses take small steps along it, with up to `lanes` elements.
  // On CPUs, a block that transposes gets a tile of two loops in registers instead, if the target's policies allow it.
  void VectorizeInner(Factor lanes, Where where = Where::current());
  // Splits the innermost loop of every reduction whose loads move by 0 to 4 elements along it into up to `lanes`
  // partial results, which are lanes of vectors in registers. They are combined at the end of that loop.
  void RfactorLanes(Factor lanes, Where where = Where::current());
  // Distributes a copying block over the threads of its nest; each thread copies `vector` elements at a time, or one if
  // `vector` does not divide the copy.
  void CooperativeFetch(Block block, Factor vector, Where where = Where::current());
  // In every nest, fuses the outer independent serial loops, and binds the result to thread-x with up to `threads`
  // threads, unless the nest has threads already, and to a block axis that the nest does not use, so that it has up to
  // `blocks` blocks.
  void BindRest(Factor blocks, Factor threads, Where where = Where::current());
  // Turns the innermost loops of a block into calls of an intrinsic: splits them by the sizes of the intrinsic, moves
  // the inner parts inside, lays out fragments that have no layout, and tensorizes.
  void Call(Block block, absl::string_view intrinsic, Where where = Where::current());
  // Lays out the tile that a block writes to shared memory in lines of 128 bytes whose chunks of 16 bytes are swizzled,
  // so that the chunks of a column lie in different banks.
  void SwizzleLines(Block block, Where where = Where::current());
  // Unrolls inner loops while the resulting straight-line code has at most `steps` instructions (lang/analysis/cost.h).
  // A longer loop is marked to unroll as many iterations together as fit and divide it.
  void UnrollUpTo(Factor steps, Where where = Where::current());
};

}  // namespace kiln
