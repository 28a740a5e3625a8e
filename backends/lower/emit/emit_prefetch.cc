#include "backends/lower/emit/emit_prefetch.h"

#include <algorithm>

#include "backends/lower/passes/unrolled.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {
namespace {

// True if a nest contains a loop that is neither unrolled nor vectorized.
bool RunsBelow(const Program& p, Id node) {
  if (!p.IsLoop(node)) return false;
  if (!IsFullyUnrolled(p.loop(node))) return true;
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
    if (RunsBelow(p, child)) return true;
  }
  return false;
}

}  // namespace

// The number of elements from this iteration to the next one of the outermost loop with a step of at most
// `most`; 0 if the loops that run do not traverse the buffer in memory order.
int64_t Prefetcher::NextOnWalk(const IndexValue& at, int64_t most) const {
  if (e_.levels_.size() < 2 || at.terms.size() + 1 != e_.levels_.size()) return 0;
  std::vector<std::pair<int64_t, int64_t>> steps(e_.levels_.size());  // by level: coefficient, extent
  for (const auto& [atom, coefficient] : at.terms)
    steps[e_.atoms_[atom].level] = {coefficient, e_.atoms_[atom].range.max + 1};
  int64_t next = 0, inside = 0;
  for (size_t level = steps.size() - 1; level > 0; --level) {
    const auto [step, extent] = steps[level];
    if (inside > 0 ? step != inside : step < e_.lanes_) return 0;
    if (step <= most) next = step;
    inside = step * extent;
  }
  return next;
}

// Results with `elements` elements that other blocks of the nest store: they will be stored at the same
// position.
std::vector<Id> Prefetcher::StreamsStoredLater(int64_t elements) const {
  Id nest = e_.instance_;
  while (e_.p_.nodes[nest].parent != kRoot) nest = e_.p_.nodes[nest].parent;
  std::vector<Id> streams;
  for (const Id block : BlocksBelow(e_.p_, nest)) {
    if (AnnotationOf(e_.p_, e_.p_.block(block).annotations, kNonTemporal) != 0)
      continue;  // its stores bypass the caches
    for (const Access& dest : e_.p_.Accesses(e_.p_.block(block).dests)) {
      const bool stream = e_.plan_.buffers[dest.buffer].elements == elements &&
                          e_.plan_.buffers[dest.buffer].place == Memory::kParameter;
      if (stream && block != e_.instance_) streams.push_back(dest.buffer);
    }
  }
  return streams;
}

void Prefetcher::Line(Id buffer, const IndexValue& at, bool store, unsigned locality) {
  mlir::memref::PrefetchOp::create(e_.b_, e_.loc_, e_.buffers_[buffer], mlir::ValueRange{e_.Scalar(at)},
                                   store, locality,
                                   /*isDataCache=*/true);
}

void Prefetcher::Stream(Id buffer, const IndexValue& at) {
  const int64_t elements = e_.plan_.buffers[buffer].elements, size = SizeOf(e_.p_.buffers[buffer].dtype);
  if (!e_.options_.policies.Has(Policy::kPrefetchStreams) || e_.options_.stream_bytes == 0 ||
      elements * size < e_.options_.stream_bytes)
    return;
  const int64_t next = NextOnWalk(at, e_.options_.costs.prefetch_bytes / size);
  if (next == 0 || IsCheap(e_.p_, e_.instance_)) return;
  const auto prefetch = [&](Id stream, int64_t distance, bool store) {
    for (int64_t lane = 0; lane < e_.lanes_;
         lane += e_.options_.costs.line_bytes / SizeOf(e_.p_.buffers[stream].dtype)) {
      IndexValue ahead = at.Uniform();
      ahead.constant += distance + lane;
      Line(stream, ahead, store);
    }
  };
  prefetch(buffer, next, false);
  for (const Id stream : StreamsStoredLater(elements)) prefetch(stream, 0, true);
}

// For a loop that runs: prefetches the tiles to which later siblings without running loops add its results.
void Prefetcher::Tiles(Id loop) {
  const Policies& policies = e_.options_.policies;
  if (e_.options_.stream_bytes == 0 || e_.in_remainder_ || e_.lanes_ > 0 || !RunsBelow(e_.p_, loop)) return;
  for (Id next = e_.p_.nodes[loop].next; next != kNone; next = e_.p_.nodes[next].next) {
    if (policies.Has(Policy::kPrefetchResults) && !RunsBelow(e_.p_, next)) Results(next);
  }
  if (policies.Has(Policy::kPrefetchPanels)) Panels(loop);
}

// Before a tile: prefetches a part of the next panel of each large operand whose present panel several tiles
// read. Together the tiles fetch the whole next panel.
void Prefetcher::Panels(Id loop) {
  Id around = e_.p_.nodes[loop].parent;
  while (e_.p_.IsLoop(around) && e_.loops_.at(around).is_constant()) around = e_.p_.nodes[around].parent;
  if (!e_.p_.IsLoop(around)) return;
  for (const Id block : BlocksBelow(e_.p_, loop)) {
    if (e_.p_.block(block).monoid == kNone) continue;
    for (const Id load : Loads(e_.p_, block))
      Panel(e_.p_.exprs[load].AsLoad().buffer, e_.plan_.blocks.at(block).addresses.at(load),
            e_.loops_.at(around));
  }
}

void Prefetcher::Panel(Id buffer, const IndexSum& address, const IndexValue& tile) {
  const int64_t size = SizeOf(e_.p_.buffers[buffer].dtype), line = e_.options_.costs.line_bytes / size;
  if (e_.plan_.buffers[buffer].elements * size < e_.options_.stream_bytes) return;
  IndexSum outside = IndexSum::Constant(address.offset);
  int64_t span = 1, elements = 1;
  for (const IndexSplit& split : address.splits) {
    if (split.source.kind != Source::Kind::kLoop) return;
    if (e_.loops_.contains(split.source.id)) {
      outside.splits.push_back(split);
    } else {
      const int64_t values = SplitRange(split, Extents(e_.p_)), reach = split.scale * (values - 1);
      outside.offset += std::min<int64_t>(reach, 0);
      span += std::abs(reach);
      elements *= values;
    }
  }
  const IndexValue at = e_.Eval(outside);
  std::vector<int64_t> steps(e_.levels_.size(), 0);
  for (const auto& [atom, coefficient] : at.terms) steps[e_.atoms_[atom].level] = coefficient;
  const auto next = std::find_if(steps.rbegin(), steps.rend(), [](int64_t step) { return step != 0; });
  if (next == steps.rbegin() || next == steps.rend() || *next < span || elements < span) return;
  const int64_t tiles = e_.RangeOf(tile).max + 1, lines = (span + line - 1) / line,
                part = (lines + tiles - 1) / tiles;
  if (part > e_.options_.costs.prefetch_lines) return;
  for (int64_t i = 0; i < part; ++i) {
    IndexValue ahead = at;
    ahead.constant += *next + i * line;
    ahead.Add(tile, part * line);
    Line(buffer, ahead, /*store=*/false, /*locality=*/2);
  }
}

void Prefetcher::Results(Id node) {
  if (e_.p_.IsLoop(node)) {
    const LoopNode& loop = e_.p_.loop(node);
    const bool lanes = loop.kind == LoopKind::kVectorized && loop.extent.Known() > 1;
    for (int64_t i = 0; i < (lanes ? 1 : loop.extent.Known()); ++i) {
      e_.loops_[node] = lanes ? IndexValue::Lanes(loop.extent.Known()) : IndexValue::Constant(i);
      for (Id child = e_.p_.nodes[node].first; child != kNone; child = e_.p_.nodes[child].next)
        Results(child);
    }
    e_.loops_.erase(node);
    return;
  }
  const auto dests = e_.p_.Accesses(e_.p_.block(node).dests);
  if (e_.p_.block(node).monoid == kNone) return;
  for (size_t r = 0; r < dests.size(); ++r) {
    const Id buffer = dests[r].buffer;
    const int64_t size = SizeOf(e_.p_.buffers[buffer].dtype);
    if (e_.plan_.buffers[buffer].elements * size < e_.options_.stream_bytes) continue;
    const IndexValue at = e_.Eval(e_.plan_.blocks.at(node).dests[r]);
    if (at.stride() != 1) continue;
    for (size_t lane = 0; lane < at.lanes.size();
         lane += static_cast<size_t>(e_.options_.costs.line_bytes / size)) {
      Line(buffer, e_.LaneValue(at, lane), /*store=*/true);
    }
  }
}

}  // namespace kiln
