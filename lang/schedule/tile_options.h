// The options of SamplePerfectTile and SampleTile.
#pragma once

#include <string>
#include <vector>

#include "lang/schedule/handle.h"

namespace kiln {

struct TileOptions {
  int parts = 4;
  int64_t innermost = 64;  // largest last factor; 0: no bound
  // Largest product of the last factors of this tile and of the tiles in `within`; 0: no bound.
  int64_t budget = 0;
  std::vector<Value> within = {};  // tiles that were sampled before
  // The budget is also limited by what the target holds: "registers", "unrolled", "l1", "l2" or "l3", in
  // elements.
  std::string bound = "";
  // If not 0, the budget counts vectors of this many elements, along the last factor of the first tile in
  // `within` (of this tile if there is none), and leaves room for one row of operands. If 0, it counts
  // elements.
  int64_t lanes = 0;
  // The product of the last i+1 factors is at most most[i] and a multiple of multiple[i]; 0: no condition.
  // The numbers of `most` may be sampled or computed; a value of 0 leaves 1.
  std::vector<Factor> most = {};
  std::vector<int64_t> multiple = {};
  std::vector<Factor> each = {};  // factor i, outermost first, is at most each[i]; 0: no bound
  double waste = 0.25;            // SampleTile: largest share of the extent that may be padding
};

}  // namespace kiln
