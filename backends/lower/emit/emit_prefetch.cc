// What is fetched while something else is computed, of buffers larger than the caches of a core.
//
// Streams: a block that computes much of each element that it loads prefetches meanwhile what the next
// iteration around loads, and what others of its nest store to. What the machine prefetches by itself stops
// at the end of a page, and blocks that compute little have no time for it.
//
// Tiles: before the loops that compute a tile in registers, the tile of the result that it is added to.
//
// Panels: what several tiles read one after the other is followed by another panel, of which each tile
// prefetches a part.
#include <algorithm>

#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/written_out.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {
namespace {

constexpr int64_t kMostAhead = 16 << 10, kLine = 64;  // bytes
constexpr int64_t kMostLines = 64;                    // of a panel, before a tile

// Whether a nest has a loop that is neither written out nor lanes.
bool RunsBelow(const Program& p, Id node) {
  if (!p.IsLoop(node)) return false;
  if (!IsWrittenOut(p.loop(node))) return true;
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
    if (RunsBelow(p, child)) return true;
  }
  return false;
}

}  // namespace

// Elements from this iteration to the next of the outermost loop that steps little; 0 if the loops that run
// do not walk through the buffer from its beginning to its end.
int64_t Emitter::NextOnWalk(const IndexValue& at, int64_t most) const {
  if (levels_.size() < 2 || at.terms.size() + 1 != levels_.size()) return 0;
  std::vector<std::pair<int64_t, int64_t>> steps(levels_.size());  // by level: coefficient, extent
  for (const auto& [atom, coefficient] : at.terms)
    steps[atoms_[atom].level] = {coefficient, atoms_[atom].range.max + 1};
  int64_t next = 0, inside = 0;
  for (size_t level = steps.size() - 1; level > 0; --level) {
    const auto [step, extent] = steps[level];
    if (inside > 0 ? step != inside : step < lanes_) return 0;
    if (step <= most) next = step;
    inside = step * extent;
  }
  return next;
}

// Results of as many elements that other blocks of the nest store: these store at a similar place.
std::vector<Id> Emitter::StreamsStoredLater(int64_t elements) const {
  Id nest = instance_;
  while (p_.nodes[nest].parent != kRoot) nest = p_.nodes[nest].parent;
  std::vector<Id> streams;
  for (const Id block : BlocksBelow(p_, nest)) {
    if (AnnotationOf(p_, p_.block(block).annotations, kStream) != 0) continue;  // its results pass the caches
    for (const Access& dest : p_.Accesses(p_.block(block).dests)) {
      const bool stream = plan_.buffers[dest.buffer].elements == elements &&
                          plan_.buffers[dest.buffer].place == Memory::kParameter;
      if (stream && block != instance_) streams.push_back(dest.buffer);
    }
  }
  return streams;
}

void Emitter::Prefetch(Id buffer, const IndexValue& at, bool store, unsigned locality) {
  mlir::memref::PrefetchOp::create(b_, loc_, buffers_[buffer], mlir::ValueRange{Scalar(at)}, store, locality,
                                   /*isDataCache=*/true);
}

void Emitter::PrefetchStream(Id buffer, const IndexValue& at) {
  const int64_t elements = plan_.buffers[buffer].elements, size = SizeOf(p_.buffers[buffer].dtype);
  if (options_.stream_bytes == 0 || elements * size < options_.stream_bytes) return;
  const int64_t next = NextOnWalk(at, kMostAhead / size);
  if (next == 0 || IsCheap(p_, instance_)) return;
  const auto prefetch = [&](Id stream, int64_t distance, bool store) {
    for (int64_t lane = 0; lane < lanes_; lane += kLine / SizeOf(p_.buffers[stream].dtype)) {
      IndexValue ahead = at.Uniform();
      ahead.constant += distance + lane;
      Prefetch(stream, ahead, store);
    }
  };
  prefetch(buffer, next, false);
  for (const Id stream : StreamsStoredLater(elements)) prefetch(stream, 0, true);
}

// A loop that runs, before a later sibling without loops that run combines what it made.
void Emitter::PrefetchTiles(Id loop) {
  if (options_.stream_bytes == 0 || slow_ || lanes_ > 0 || !RunsBelow(p_, loop)) return;
  for (Id next = p_.nodes[loop].next; next != kNone; next = p_.nodes[next].next) {
    if (!RunsBelow(p_, next)) PrefetchResults(next);
  }
  PrefetchPanels(loop);
}

// A part of the next panel of each large operand before each tile that reads the same panel again: together
// they fetch all of it while the tiles are computed.
void Emitter::PrefetchPanels(Id loop) {
  Id around = p_.nodes[loop].parent;
  while (p_.IsLoop(around) && loops_.at(around).is_constant()) around = p_.nodes[around].parent;
  if (!p_.IsLoop(around)) return;
  for (const Id block : BlocksBelow(p_, loop)) {
    if (p_.block(block).monoid == kNone) continue;
    for (const Id load : Loads(p_, block))
      PrefetchPanel(p_.exprs[load].a, plan_.blocks.at(block).addresses.at(load), loops_.at(around));
  }
}

void Emitter::PrefetchPanel(Id buffer, const Sum& address, const IndexValue& tile) {
  const int64_t size = SizeOf(p_.buffers[buffer].dtype), line = kLine / size;
  if (plan_.buffers[buffer].elements * size < options_.stream_bytes) return;
  Sum outside = Sum::Constant(address.offset);
  int64_t span = 1, elements = 1;
  for (const Split& split : address.splits) {
    if (split.source.kind != Source::Kind::kLoop) return;
    if (loops_.contains(split.source.id)) {
      outside.splits.push_back(split);
    } else {
      const int64_t values = SplitRange(split, Extents(p_)), reach = split.scale * (values - 1);
      outside.offset += std::min<int64_t>(reach, 0);
      span += std::abs(reach);
      elements *= values;
    }
  }
  const IndexValue at = Eval(outside);
  std::vector<int64_t> steps(levels_.size(), 0);
  for (const auto& [atom, coefficient] : at.terms) steps[atoms_[atom].level] = coefficient;
  const auto next = std::find_if(steps.rbegin(), steps.rend(), [](int64_t step) { return step != 0; });
  if (next == steps.rbegin() || next == steps.rend() || *next < span || elements < span) return;
  const int64_t tiles = RangeOf(tile).max + 1, lines = (span + line - 1) / line,
                part = (lines + tiles - 1) / tiles;
  if (part > kMostLines) return;
  for (int64_t i = 0; i < part; ++i) {
    IndexValue ahead = at;
    ahead.constant += *next + i * line;
    ahead.Add(tile, part * line);
    Prefetch(buffer, ahead, /*store=*/false, /*locality=*/2);
  }
}

void Emitter::PrefetchResults(Id node) {
  if (p_.IsLoop(node)) {
    const LoopNode& loop = p_.loop(node);
    const bool lanes = loop.kind == LoopKind::kVectorized && loop.extent.Known() > 1;
    for (int64_t i = 0; i < (lanes ? 1 : loop.extent.Known()); ++i) {
      loops_[node] = lanes ? IndexValue::Lanes(loop.extent.Known()) : IndexValue::Constant(i);
      for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next)
        PrefetchResults(child);
    }
    loops_.erase(node);
    return;
  }
  const auto dests = p_.Accesses(p_.block(node).dests);
  if (p_.block(node).monoid == kNone) return;
  for (size_t r = 0; r < dests.size(); ++r) {
    const Id buffer = dests[r].buffer;
    const int64_t size = SizeOf(p_.buffers[buffer].dtype);
    if (plan_.buffers[buffer].elements * size < options_.stream_bytes) continue;
    const IndexValue at = Eval(plan_.blocks.at(node).dests[r]);
    if (at.stride() != 1) continue;
    for (size_t lane = 0; lane < at.lanes.size(); lane += static_cast<size_t>(kLine / size)) {
      Prefetch(buffer, LaneValue(at, lane), /*store=*/true);
    }
  }
}

}  // namespace kiln
