// What the cost model sees of a scheduled program: one row of numbers for each store (each block, blocks that
// initialize included), read off the Program itself. Nothing is lowered; an instance that a guard refuses
// counts as run.
//
// Change the columns when you know something that decides speed and is not in them; models saved for other
// columns are refused by their number of columns. Columns depend on what the program does and on the target,
// never on names or ids.
//
//   FeatureExtractor extractor(target);          // one per thread: it keeps its memory
//   extractor.Extract(nests, set);               // of nests that have been read
//   extractor.Append(nests, batch);
//   FeatureSet set = extractor.Extract(program);
//
// A column is log2(1 + x), but for flags (0 or 1) and ratios, marked (r), which are plain. Sizes in bytes,
// lines of 64 bytes.
//
//   float_add .. within     operations per kind, times the instances of the block; `fma`: products that a sum takes in
//   vectorized.* unrolled.* parallel.*
//                           count and product of these loops; of the innermost: extent, whether it feeds spatial,
//                           reduction iters, and the iterations inside of it
//   nest.*                  instances (the product of the loops), loops of more than one iteration; the innermost loop
//                           that runs (neither unrolled nor vectorized): its extent, whether it reduces; the operations
//                           in the straight line below it, and in all unrolled code of the block
//   vector.*                lanes, registers per vector, (r) share of these registers that is used
//   tile.*                  accumulators (registers of results in the straight line), (r) registers needed / there are,
//                           in the straight line: (r) loads per operation, (r) stores per operation, vector loads,
//                           broadcasts or scalars, lanes loaded apart; whether the result stands still in the innermost
//                           loop that runs, or in an unrolled one
//   masked.*                whether a guard depends on the lanes, on unrolled loops, on the innermost loop that runs, on
//                           others; whether a load under `within` depends on lanes or inner loops, on others
//   access.*                (r) shares of the accesses that are contiguous, stand still, are strided along the lanes
//   store.*                 scope and kind of the block, as flags; bytes of an element
//   parallel_chunks, parallel_imbalance (r)   iterations per core, and what the busiest core has over the mean
//   traffic.l1 ..           bytes from beyond each cache (features/traffic.h)
//   scattered.l1 ..         of these, the bytes of lines that are not fetched ahead
//   inside.l1 ..            instances in the largest nest that loses nothing of what it touches
//   intensity.1 .. 10       operations per byte touched, at equal steps of log2 of the instances run
//   alloc.*                 of the destination after compaction: bytes, bytes times allocations, allocations, instances
//                           for each
//   roofline.*              cycles (search/features/roofline.h): of the row inside of the nearest cache, of the bytes
//                           from beyond it, of both, of the program
//   bufferN.*               the destination, then what is read in order of first use; of more than five those that
//                           touch most lines:
//     read write                              how it is accessed
//     bytes unique_bytes lines unique_lines   touched, by all instances, or counted once
//     loop_reuse serial_reuse                 the innermost reuse: by a loop that does not index it, or by another block
//     distance_iterations distance_bytes      between a touch and the next one
//     reuses                                  iterations of that loop
//     bytes_per_reuse unique_bytes_per_reuse lines_per_reuse unique_lines_per_reuse
//     stride                                  of the lanes, or of the innermost loop, in elements
#pragma once

#include <string>
#include <vector>

#include "lang/analysis/nests.h"
#include "lang/target/target.h"
#include "search/features/feature_set.h"
#include "search/features/footprint.h"

namespace kiln {

// Columns of a row, and their names.
int FeatureDim();
const std::vector<std::string>& FeatureNames();

class FeatureExtractor {
 public:
  explicit FeatureExtractor(const Target& target) : target_(target) {}

  // The program that `nests` has read. A program without blocks has no rows.
  void Extract(const Nests& nests, FeatureSet& features);
  void Append(const Nests& nests, FeatureBatch& batch);
  FeatureSet Extract(const Program& program);

 private:
  const Target target_;
  Nests nests_;
  Footprints footprints_;
  FeatureSet rows_;
};

}  // namespace kiln
