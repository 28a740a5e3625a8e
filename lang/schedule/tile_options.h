// The options of SamplePerfectTile and SampleTile.
#pragma once

#include <string>
#include <vector>

#include "lang/schedule/handle.h"

namespace kiln {

struct TileOptions {
  int parts = 4;
  int64_t innermost = 64;  // bound of the last factor; 0: none
  // Bound of the product of the last factors of this tile and of those in `within`; 0: none.
  int64_t budget = 0;
  std::vector<Value> within = {};  // tiles sampled before
  // The budget is also what the target holds in elements: "registers", "unrolled", "l1", "l2" or "l3".
  std::string bound = "";
  // The budget is in vectors of so many elements, which the last factor of the first of `within` (of this
  // tile, if there is none) fills, and holds a row of operands too; 0: in elements.
  int64_t lanes = 0;
  // The product of the last i+1 factors is at most most[i] and a multiple of multiple[i]; 0: any.
  std::vector<int64_t> most = {}, multiple = {};
  double waste = 0.25;  // SampleTile: how much of the extent may be run in vain
};

}  // namespace kiln
