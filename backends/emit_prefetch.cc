// Streams: a block that computes much of each element that it loads, from a buffer larger than the caches of
// a core, prefetches meanwhile what the next iteration around loads, and what others of its nest store to.
// What the machine prefetches by itself stops at the end of a page, and blocks that compute little have no
// time for it.
#include "backends/emit.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {
namespace {

constexpr int64_t kMostAhead = 16 << 10, kLine = 64;  // bytes

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
    for (const Access& dest : p_.Accesses(p_.block(block).dests)) {
      const bool stream = plan_.buffers[dest.buffer].elements == elements &&
                          plan_.buffers[dest.buffer].place == Place::kParameter;
      if (stream && block != instance_) streams.push_back(dest.buffer);
    }
  }
  return streams;
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
      mlir::memref::PrefetchOp::create(b_, loc_, buffers_[stream], mlir::ValueRange{Scalar(ahead)}, store,
                                       /*localityHint=*/3, /*isDataCache=*/true);
    }
  };
  prefetch(buffer, next, false);
  for (const Id stream : StreamsStoredLater(elements)) prefetch(stream, 0, true);
}

}  // namespace kiln
