// The loops of a block, split into tiles for every level of a structure, and put in its order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/analysis/bindings.h"
#include "modules/default_modules.h"

namespace kiln {

struct Tiles {
  std::vector<std::vector<Loop>> levels;  // loops of each level of the structure
  Loop last_before_reduction = {}, first_reduction = {}, last_before_inner = {};
  std::vector<Loop> between;  // the first and the last reduction level, from outside

  // By position among the block's loops as they were: whether it is a reduction, what became of it, from
  // outside; the innermost factor of those that are spatial and were split, the factors of other such.
  std::vector<bool> reduces;
  std::vector<std::vector<Loop>> parts;
  std::vector<std::optional<Value>> width, depths;
  int last_window = -1;    // its position
  std::vector<Loop> unit;  // the loops of the tile that an intrinsic computes
};

// The loops that an index over the iters of a block depends on.
std::vector<Id> LoopsOfIndex(const Bindings& bindings, const Sum& index);

// The dimensions of a buffer in the order of the axes that they are the last parts of.
std::vector<size_t> DimsInMemory(const Program& program, Id buffer);

// Puts the loops of a block in the order of the dimensions that they walk along in its result, reductions
// last: the lanes of the innermost are then next to each other.
void OrderByResult(Schedule& s, Block block);

// The position among the loops around it of the last reduction that walks along a spatial loop, as windows of
// convolutions do; -1 if none does.
int LastWindow(const Program& program, Id block, const std::vector<bool>& reduces);

// A spatial loop that may become lanes in place of the last, and its dimension of the result; in_blocks: that
// is the last in memory (channels_in_blocks.cc).
struct Across {
  size_t loop, dim;
  bool in_blocks = false;
};
// Where the last dimension of the result fills no vectors: the last of the others that does.
std::optional<Across> FindAcross(Schedule& s, Block block);
// Makes it the innermost spatial loop, and says where it then is.
void TurnLoops(Schedule& s, Block block, Across& across);
// The sums that a block accumulates for another lie along that dimension.
void LayOutSums(Schedule& s, Block block, size_t dim);

// What combines a tile has a loop for each of its iters: they follow the dimensions that the iters walk along
// in the result, those of lanes across it last. LayOutCombine: of registers, written out; returns the last.
std::vector<Loop> OrderCombine(Schedule& s, Block combine, Loop above, const std::optional<Across>& across);
Loop LayOutCombine(Schedule& s, Block combine, Loop above, const std::optional<Across>& across);

// The part of TileLoops that samples and splits: fills parts and what is by position, levels and unit.
Tiles SampleTiles(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit);

// What an option `structure` may be.
Allowed LevelsOfTiles();

// Samples the tiles (sites R0, S1, .. by the loop's position), splits, reorders, and unrolls the innermost.
// The innermost tile of the last window comes last: what rows beside each other load is then the same.
// columns_first: between the reduction levels, the last spatial loop goes around the others.
// unit: the last three loops are m, n and k of a product of matrices; its innermost tile is one of the
// unit's.
Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options, bool columns_first = false,
                const IntrinsicFamily* unit = nullptr);

// "(d0, d1) -> (AXES)", of the names of dimensions and of axes, for TransformLayout.
std::string LayoutMap(const std::vector<std::string>& names, const std::vector<std::string>& axes);

// The sums that a unit makes are tiles, each one piece of memory (multi_level_tiling_with_intrinsic.cc).
void LayOutUnits(Schedule& s, Block block, const IntrinsicFamily& unit);

// All of multi-level tiling, around an intrinsic if there is a unit.
void TileForReuse(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit = nullptr);

// The innermost `count` of the loops; the last of them is left to become lanes.
void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count);

}  // namespace kiln
