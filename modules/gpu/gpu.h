// Functions that modules for GPUs share: they sample tiles that fit a GPU, copy operands to shared memory, and compute
// epilogues where sums are stored.
//
//   const ThreadTiles tiles = SampleThreadTiles(s, block, 2);
//   const Block copy = StageOperand(s, block, 0, tiles.step);
//   FoldConsumers(s, s.AccumulateAt(block, tiles.block, "register"));
//
// All are called on a schedule that is ok; a step that does not apply makes it inert.
#pragma once

#include <optional>
#include <vector>

#include "lang/schedule/schedule.h"

namespace kiln {

inline constexpr int64_t kLineBytes = 128;  // a line of shared memory: a 4-byte word of each of 32 banks

// The tile of one spatial loop in three parts: virtual threads, whose elements lie apart, then threads, then adjacent
// elements of a thread.
struct ThreadTile {
  Value apart, threads, elements;
};

struct ThreadTiles {
  Loop block;                                       // on block-x; its iterations are tiles
  Loop step;                                        // serial: slices of the reduction
  Loop thread;                                      // on thread-x
  std::vector<std::optional<ThreadTile>> of_iters;  // by spatial iter; none for a loop that is not cut
  std::vector<Loop> slices;                         // by loop: of a reduction loop, its part in one step
};

// Cuts the loops of an unscheduled reduction into tiles for which a block of the target has threads, a thread has
// registers for its sums and the elements that it multiplies at a time, and there is shared memory for `copies` copies
// of a slice of the operands. Spatial loops of extent 1 or of a sampled extent are not cut, and are fused into the
// block loop. Orders the loops: block, step, thread, those of a slice, the elements of a thread (unrolled).
ThreadTiles SampleThreadTiles(Schedule& s, Block block, Factor copies);

// Fuses the loops over the thread blocks of a kernel to one loop and returns it. The last loop runs over columns of
// tiles, and the loop before it over rows. The fused loop visits the tiles in groups of up to 16 rows, column by column
// within a group. The number of rows in a group is sampled and divides the rows. Returns a single loop as it is, and an
// inert loop if `blocks` is empty.
Loop FuseBlocks(Schedule& s, std::vector<Loop> blocks);

// True if a plain copy, maybe with zeros beyond bounds, brings each operand of the block to shared memory: such copies
// may be asynchronous.
bool MovesPlainly(Schedule& s, Block block);

// Copies what one iteration of `step` reads of an operand to shared memory, and returns the copying block. The copying
// block is the one that writes the operand, moved to `step`, if it can move there and does little more than copy or
// pad, and if nothing else reads its result. Otherwise it is a new block.
Block StageOperand(Schedule& s, Block block, int operand, Loop step);

// Returns, for each operand of an unscheduled block, the position of the reduction loop along which its neighbours in
// memory lie. Returns -1 if they lie along a spatial loop, several loops or none, or if the operand has fewer than two
// dimensions.
std::vector<int> LoopsAlongRows(const Program& program, Id block);

// Draws the layout of the tile that `copy` writes to shared memory. The tile lies there in panels of columns. With one
// panel it is row-major, with panels of one column it is column-major. In narrow panels, threads that read the same
// column of different rows use different banks. `slice` is the loop along a row.
void LayOutTile(Schedule& s, Block copy, Loop slice);

// Lets the tile that `copy` writes lie in panels of lines, in which the words of line n are permuted by n: threads that
// read a row use different banks of shared memory, and so do threads that read a column.
void LayOutLines(Schedule& s, Block copy);

// Lets all threads of a thread block share the copying of a tile. Samples how many elements a thread moves at once: a
// power of two, up to the widest access of the target.
void FetchTile(Schedule& s, Block copy);

// Inlines the elementwise consumers of a block that combines accumulators into this block, one after the other, so that
// it stores their results. Stops if the block has no or several consumers, or if the consumer is a reduction or cannot
// be inlined into it.
void FoldConsumers(Schedule& s, Block combine);

// Cuts the longest reduction loop into up to `most` chunks with partial results of their own, which another block
// combines. Samples the number of chunks. The loop over the chunks comes first.
void SplitReduction(Schedule& s, Block block, int64_t most);

}  // namespace kiln
