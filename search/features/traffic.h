// What crosses from beyond a cache while a block runs: bytes, by access and loop, where a cache of sets and
// ways keeps what was touched last.
//
// A loop brings again what it does not index, unless one of its iterations touches more than the sets hold
// that it falls into: rows a power of two apart meet in few of them.
#pragma once

#include "search/features/footprint.h"

namespace kiln {

struct Cache {
  double bytes = 0, way_bytes = 0;  // one way of all sets
};

struct Traffic {
  double streamed = 0;   // bytes of runs of lines, which are fetched ahead
  double scattered = 0;  // bytes of lines by themselves
  int inside = 0;        // the outermost level at which nothing is lost before it comes again
};

// Of the block with this number and depth.
Traffic TrafficBeyond(const Footprints& feet, int block, int depth, const Cache& cache);

}  // namespace kiln
