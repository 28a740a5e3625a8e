// Computes how many bytes and cache lines of each buffer a block touches while some of its loops run. Features of cost
// models are computed from these numbers.
//
// Level L of a block with n loops: the loops at depth L and deeper run, the others stand still. Level n is
// one instance, level 0 is the whole block. Sizes are those of boxes: the bounds along each axis, clipped to
// the buffer.
//
// Not thread safe. An object reuses its memory for each program.
#pragma once

#include <vector>

#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/cost_table.h"

namespace kiln {

inline constexpr double kLineBytes = CostTable{}.line_bytes;

// All accesses of one block to one buffer, taken together: whether they read or write, and which loops index the
// buffer.
struct Touch {
  Id buffer = kNone;
  int32_t access = 0;  // index of the first access in LoopNestSummary::accesses()
  int32_t count = 0;
  bool reads = false, writes = false;
  double element_bytes = 4;
  uint64_t indexed = 0;  // loops that index the buffer: LoopNestSummary::Bit of their depths
  int32_t first = 0;     // index of the values of its first level
};

struct Footprint {
  Range touches;
  int32_t first = 0;  // index of the values of its first level
};

// The gaps in what a block touches of a buffer: `count` runs of `run` bytes each, `stride` bytes apart, along the
// innermost axis that leaves gaps. Count 1: there are no gaps.
struct Rows {
  double run = 0, count = 1, stride = 0;
};

class Footprints {
 public:
  void Read(const LoopNestSummary& nests);

  absl::Span<const Touch> touches(int block) const {
    const Range r = blocks_[block].touches;
    return {touches_.data() + r.begin, static_cast<size_t>(r.count)};
  }
  double Bytes(const Touch& touch, int level) const { return bytes_[touch.first + level]; }
  double Lines(const Touch& touch, int level) const { return lines_[touch.first + level]; }
  const Rows& At(const Touch& touch, int level) const { return rows_[touch.first + level]; }
  // Returns the bytes of all buffers that a block touches while its loops at depth `level` and deeper run.
  double Bytes(int block, int level) const { return totals_[blocks_[block].first + level]; }
  // Returns the number of a block's instances while its loops at depth `level` and deeper run.
  double Instances(int block, int level) const { return instances_[blocks_[block].first + level]; }

 private:
  void AddTouches(const LoopNestSummary& nests, const NestBlock& block);
  void Measure(const LoopNestSummary& nests, const NestBlock& block, Touch& touch);
  void FindReach(const LoopNestSummary& nests, int depth, int rank, const Touch& touch, double* spread);

  std::vector<Footprint> blocks_;
  std::vector<Touch> touches_;
  std::vector<double> bytes_, lines_, totals_, instances_;
  std::vector<Rows> rows_;
  std::vector<double> reach_, other_;  // scratch memory by axis and depth
};

}  // namespace kiln
