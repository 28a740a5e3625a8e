// The features that the cost model reads of a scheduled program: one row of numbers for each store (each block without
// blocks inside, outside of the prepare phase, including blocks that initialize). They are computed from the Program
// itself, without lowering. An instance that a guard refuses counts as run.
//
// Change the columns if you know a property that decides speed and has no column. Models saved with another
// number of columns are refused. Columns depend on what the program does and on the target, never on names
// or ids.
//
//   FeatureExtractor extractor(target);          // one per thread: it keeps its memory
//   extractor.Extract(nests, set);               // after nests.Read(program)
//   extractor.Append(nests, batch);
//   FeatureSet set = extractor.Extract(program);
//
// A column is log2(1 + x), except flags (0 or 1) and ratios, marked (r), which are plain. Sizes are in
// bytes. A cache line has 64 bytes.
//
//   float_add .. within     operations per kind, times the instances of the block; `fma`: products that a sum
//                           adds
//   vectorized.* unrolled.* parallel.*
//                           count and product of these loops; for the innermost: extent, whether it feeds
//                           spatial or reduction iters, and the iterations inside it
//   nest.*                  instances (the product of the loops), loops of more than one iteration; the
//                           innermost loop that runs (neither unrolled nor vectorized): its extent, whether
//                           it reduces; the operations in the straight line below it, and in all unrolled
//                           code of the block
//   vector.*                lanes, registers per vector, (r) share of these registers that is used
//   tile.*                  accumulators (registers of results in the straight line), (r) registers needed /
//                           available; in the straight line: (r) loads per operation, (r) stores per
//                           operation, vector loads, broadcasts or scalars, lanes loaded one by one; whether
//                           the innermost loop that runs, or an unrolled one, keeps the address of the result
//   masked.*                whether a guard depends on the lanes, on unrolled loops, on the innermost loop
//                           that runs, on others; whether a load under `within` depends on lanes or inner
//                           loops, on others
//   access.*                (r) shares of the accesses that are contiguous, constant or strided along the
//                           lanes
//   store.*                 scope and kind of the block, as flags; bytes of an element
//   parallel_chunks, parallel_imbalance (r)   iterations per core; the busiest core over the mean
//   traffic.l1 ..           bytes from beyond each cache (features/traffic.h)
//   scattered.l1 ..         of these, the bytes of lines that the hardware does not prefetch
//   inside.l1 ..            instances in the largest nest whose data stay in the cache
//   intensity.1 .. 10       operations per byte touched, at equal steps of log2 of the instances run
//   alloc.*                 for the destination after compaction: bytes, bytes times allocations,
//                           allocations, instances per allocation
//   roofline.*              cycles (search/features/roofline.h): for the row with all data in the L1 cache,
//                           for the bytes from beyond it, for both, for the program
//   bufferN.*               the destination, then the buffers read, in order of first use; of more than five
//                           buffers, those that touch most lines:
//     read write                              whether it is read, and written
//     bytes unique_bytes lines unique_lines   touched by all instances; unique: each counted once
//     loop_reuse serial_reuse                 the innermost reuse: by a loop that does not index it, or by
//                                             another block
//     distance_iterations distance_bytes      between a touch and the next touch of the same element
//     reuses                                  iterations of that loop
//     bytes_per_reuse unique_bytes_per_reuse lines_per_reuse unique_lines_per_reuse
//     stride                                  of the lanes, or of the innermost loop, in elements
#pragma once

#include <string>
#include <vector>

#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/target.h"
#include "search/features/feature_set.h"
#include "search/features/footprint.h"

namespace kiln {

// Return the number of columns of a feature row, and their names.
int FeatureDim();
const std::vector<std::string>& FeatureNames();

class FeatureExtractor {
 public:
  explicit FeatureExtractor(const Target& target) : target_(target) {}

  // Extracts the features of the program that `nests` has read. A program without blocks has no rows.
  void Extract(const LoopNestSummary& nests, FeatureSet& features);
  void Append(const LoopNestSummary& nests, FeatureBatch& batch);
  FeatureSet Extract(const Program& program);

 private:
  const Target target_;
  LoopNestSummary nests_;
  Footprints footprints_;
  FeatureSet rows_;
};

}  // namespace kiln
