// Estimates the bytes that a block fetches from beyond a cache. The model is a set-associative cache that keeps the
// lines used last.
//
// A loop that does not index a buffer touches the same lines again. They hit the cache unless one iteration of the loop
// touches more lines than the ways of the sets that these lines fall into. Rows that are a power of two apart share few
// sets.
#pragma once

#include "search/features/footprint.h"

namespace kiln {

struct Cache {
  double bytes = 0, way_bytes = 0;  // size of the cache, and of one way over all sets
  double streamed_bytes = 0;        // length of a run from which on the hardware prefetches it
};

struct Traffic {
  double streamed = 0;   // bytes of runs of lines, which the hardware prefetches
  double scattered = 0;  // bytes of scattered lines
  int inside = 0;        // the outermost level at which all reused lines still hit
};

// Returns the bytes that a block, given by its number and depth, fetches from beyond a cache.
Traffic TrafficBeyond(const Footprints& feet, int block, int depth, const Cache& cache);

}  // namespace kiln
