#include "search/features/footprint.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr int kMaxAxes = 12;

double Reach(const NestTerm& t) {
  return std::abs(static_cast<double>(t.scale)) * static_cast<double>(t.values - 1);
}

}  // namespace

void Footprints::Read(const LoopNestSummary& nests) {
  blocks_.clear();
  touches_.clear();
  bytes_.clear();
  lines_.clear();
  totals_.clear();
  instances_.clear();
  rows_.clear();
  for (const NestBlock& block : nests.blocks()) {
    Footprint footprint;
    footprint.touches.begin = static_cast<int32_t>(touches_.size());
    footprint.first = static_cast<int32_t>(totals_.size());
    AddTouches(nests, block);
    footprint.touches.count = static_cast<int32_t>(touches_.size()) - footprint.touches.begin;
    totals_.resize(footprint.first + block.depth + 1, 0.0);
    instances_.resize(totals_.size(), 1.0);
    const auto path = nests.path(block);
    for (int level = block.depth; level-- > 0;) {
      instances_[footprint.first + level] =
          instances_[footprint.first + level + 1] * static_cast<double>(nests.loops()[path[level]].extent);
    }
    for (int t = 0; t < footprint.touches.count; ++t) {
      Touch& touch = touches_[footprint.touches.begin + t];
      Measure(nests, block, touch);
      for (int level = 0; level <= block.depth; ++level)
        totals_[footprint.first + level] += bytes_[touch.first + level];
    }
    blocks_.push_back(footprint);
  }
}

void Footprints::AddTouches(const LoopNestSummary& nests, const NestBlock& block) {
  const size_t begin = touches_.size();
  for (int a = 0; a < block.accesses.count; ++a) {
    const int32_t number = block.accesses.begin + a;
    const NestAccess& access = nests.accesses()[number];
    size_t t = begin;
    while (t < touches_.size() && touches_[t].buffer != access.buffer) ++t;
    if (t == touches_.size()) {
      Touch touch;
      touch.buffer = access.buffer;
      touch.access = number;
      touch.element_bytes = static_cast<double>(SizeOf(nests.program().buffers[access.buffer].dtype));
      touches_.push_back(touch);
    }
    Touch& touch = touches_[t];
    ++touch.count;
    touch.reads |= access.reads;
    touch.writes |= access.writes;
    touch.indexed |= nests.Indexed(access);
  }
}

// For all accesses of a block to one buffer (a touch): sets reach_ to the largest distance, in elements, that each loop
// moves one of them along each axis. Sets `spread` to the number of elements from the first of them to the last in one
// instance, along each axis.
void Footprints::FindReach(const LoopNestSummary& nests, int depth, int rank, const Touch& touch,
                           double* spread) {
  const auto axes = nests.axes(nests.accesses()[touch.access]);
  double low[kMaxAxes], high[kMaxAxes];
  reach_.assign(static_cast<size_t>(rank) * depth, 0.0);
  for (int x = 0; x < rank; ++x) {
    low[x] = high[x] = static_cast<double>(axes[x].offset);
    for (const NestTerm& t : nests.terms(axes[x])) {
      reach_[x * depth + nests.loops()[t.loop].depth] += Reach(t);
    }
  }
  for (int32_t a = touch.access + 1, left = touch.count - 1; left > 0; ++a) {
    const NestAccess& access = nests.accesses()[a];
    if (access.buffer != touch.buffer) continue;
    --left;
    other_.assign(reach_.size(), 0.0);
    for (int x = 0; x < rank; ++x) {
      const NestAxis& axis = nests.axes(access)[x];
      low[x] = std::min(low[x], static_cast<double>(axis.offset));
      high[x] = std::max(high[x], static_cast<double>(axis.offset));
      for (const NestTerm& t : nests.terms(axis)) {
        other_[x * depth + nests.loops()[t.loop].depth] += Reach(t);
      }
    }
    for (size_t i = 0; i < reach_.size(); ++i) reach_[i] = std::max(reach_[i], other_[i]);
  }
  for (int x = 0; x < rank; ++x) spread[x] = 1 + high[x] - low[x];
}

void Footprints::Measure(const LoopNestSummary& nests, const NestBlock& block, Touch& touch) {
  const int depth = block.depth;
  const auto axes = nests.axes(nests.accesses()[touch.access]);
  const int rank = std::min<int>(kMaxAxes, static_cast<int>(axes.size()));
  double spread[kMaxAxes] = {};
  FindReach(nests, depth, rank, touch, spread);
  touch.first = static_cast<int32_t>(bytes_.size());
  bytes_.resize(bytes_.size() + depth + 1);
  lines_.resize(bytes_.size());
  rows_.resize(bytes_.size());
  for (int level = depth; level >= 0; --level) {
    if (level < depth) {
      bool changed = false;
      for (int x = 0; x < rank; ++x) {
        const double more = reach_[x * depth + level];
        spread[x] += more;
        changed |= more != 0;
      }
      if (!changed) {
        bytes_[touch.first + level] = bytes_[touch.first + level + 1];
        lines_[touch.first + level] = lines_[touch.first + level + 1];
        rows_[touch.first + level] = rows_[touch.first + level + 1];
        continue;
      }
    }
    double elements = 1, span = 1, run = 1, rows = 1;
    Rows apart;
    bool contiguous = true;  // all axes inside this one are touched completely
    for (int x = rank; x-- > 0;) {
      const double size = static_cast<double>(axes[x].size), extent = std::min(spread[x], size);
      elements *= extent;
      span += (extent - 1) * static_cast<double>(axes[x].stride);
      if (!contiguous && extent > 1 && apart.count == 1)
        apart = {.count = extent, .stride = static_cast<double>(axes[x].stride) * touch.element_bytes};
      (contiguous ? run : rows) *= extent;
      contiguous &= extent == size;
    }
    const double bytes = touch.element_bytes;
    apart.run = run * bytes;
    rows_[touch.first + level] = apart;
    bytes_[touch.first + level] = elements * bytes;
    lines_[touch.first + level] =
        std::min(rows * std::ceil(run * bytes / kLineBytes), std::ceil(span * bytes / kLineBytes));
  }
}

}  // namespace kiln
