// The options of SamplePerfectTile and SampleTile: into how many factors to divide an extent, and bounds of the
// factors.
#pragma once

#include <string>
#include <vector>

#include "lang/schedule/handle.h"

namespace kiln {

struct TileOptions {
  int parts = 4;
  int64_t innermost = 64;  // largest last factor; 0: no bound
  // The largest allowed product of the last factor of this tile and the last factors of the tiles in `within`; 0: no
  // bound.
  int64_t budget = 0;
  std::vector<Value> within = {};  // tiles that were sampled before
  // A limit of the target that also bounds the budget: "registers", "l1", "l2" or "l3", in elements of the widest type
  // that blocks below the loop write, or "unrolled", in instructions; "" for none.
  std::string bound = "";
  // If 0, the budget counts elements. Otherwise it counts vectors of this many elements, which the last factor of the
  // first tile in `within` fills (of this tile if `within` is empty), and includes one row of operands.
  int64_t lanes = 0;
  // For each i: the product of the last i+1 factors is at most most[i] and a multiple of multiple[i]. A plain 0 sets
  // no condition. A number in `most` that is sampled or computed always sets one; below 1, it counts as 1.
  std::vector<Factor> most = {};
  std::vector<int64_t> multiple = {};
  std::vector<Factor> each = {};  // factor i, outermost first, is at most each[i]; 0: no bound
  double waste = 0.25;            // SampleTile: the product exceeds the extent by at most this share of it
};

}  // namespace kiln
