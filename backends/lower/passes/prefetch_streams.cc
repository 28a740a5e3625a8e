#include "backends/lower/passes/prefetch_streams.h"

#include <algorithm>
#include <set>

#include "backends/lower/plan/plan_rewriter.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"

namespace kiln::plan {
namespace {

class StreamPrefetcher : public Rewriter {
 public:
  StreamPrefetcher(const Program& program, const IndexPlan& indices, const LowerOptions& options)
      : Rewriter(program, indices), p_(program), plan_(indices), options_(options) {}

 private:
  void Visit(const Node& node, Nodes& out) override {
    if (const Leaf* leaf = node.As<Leaf>(); leaf != nullptr && context_.lanes() > 0 &&
                                            !context_.IsMasked(leaf->asks) && !IsCheap(p_, leaf->block)) {
      for (const auto load : Loads(p_, leaf->block)) Before(*leaf, load, out);
    }
    const auto before = fetched_;
    Rewriter::Visit(node, out);
    if (node.As<Branch>() != nullptr || node.As<Switch>() != nullptr) fetched_ = before;
  }

  void Before(const Leaf& leaf, Id load, Nodes& out) {
    const Id buffer = p_.exprs[load].AsLoad().buffer;
    const int64_t elements = plan_.buffers[buffer].elements, size = SizeOf(p_.buffers[buffer].dtype);
    const IndexSum& address = plan_.blocks.at(leaf.block).addresses.at(load);
    if (elements * size < options_.stream_bytes || p_.buffers[buffer].layout.swizzle.bits != 0) return;
    const IndexValue at = context_.indices().Eval(address);
    const int64_t next = NextOnWalk(at, options_.costs.prefetch_bytes / size);
    std::vector<int64_t> key{buffer};
    at.AppendKey(key);
    if (next == 0 || at.stride() != 1 || !fetched_.insert(std::move(key)).second) return;
    const auto prefetch = [&](Id stream, int64_t distance, bool write) {
      const int64_t line = options_.costs.line_bytes / SizeOf(p_.buffers[stream].dtype);
      IndexSum ahead = address;
      ahead.offset += distance;
      out.push_back({Prefetch{.buffer = stream,
                              .address = std::move(ahead),
                              .lines = (context_.lanes() + line - 1) / line,
                              .write = write}});
    };
    prefetch(buffer, next, false);
    for (const Id stream : StoredLater(leaf.block, elements)) prefetch(stream, 0, true);
  }

  // Returns how many elements ahead of the address `at` to prefetch: up to the next iteration of a loop, the outermost
  // one whose iterations are at most `most` elements apart. Returns 0 if there is no such loop, or if the loops that
  // run do not traverse the buffer in memory order.
  int64_t NextOnWalk(const IndexValue& at, int64_t most) const {
    const size_t levels = context_.level();
    if (levels < 1 || at.terms.size() != levels) return 0;
    std::vector<std::pair<int64_t, int64_t>> steps(levels + 1);  // by level: coefficient, extent
    for (const auto& [atom, coefficient] : at.terms) {
      const Atom& of = context_.indices().atom(atom);
      steps[of.level] = {coefficient, of.range.max + 1};
    }
    int64_t next = 0, inside = 0;
    for (size_t level = levels; level > 0; --level) {
      const auto [step, extent] = steps[level];
      if (inside > 0 ? step != inside : step < context_.lanes()) return 0;
      if (step <= most) next = step;
      inside = step * extent;
    }
    return next;
  }

  // Returns the result buffers with `elements` elements to which other blocks of this nest store, except by stores that
  // bypass the caches. They are taken to store at the position that block `of` loads.
  std::vector<Id> StoredLater(Id of, int64_t elements) const {
    Id nest = of;
    while (p_.nodes[nest].parent != kRoot) nest = p_.nodes[nest].parent;
    std::vector<Id> streams;
    for (const Id block : BlocksBelow(p_, nest)) {
      if (block == of || AnnotationOf(p_, p_.block(block).annotations, kNonTemporal) != 0)
        continue;  // its stores bypass the caches
      for (const Access& dest : p_.Accesses(p_.block(block).dests)) {
        const BufferPlan& buffer = plan_.buffers[dest.buffer];
        if (buffer.elements == elements && buffer.place == Memory::kParameter) streams.push_back(dest.buffer);
      }
    }
    return streams;
  }

  const Program& p_;
  const IndexPlan& plan_;
  const LowerOptions& options_;
  std::set<std::vector<int64_t>> fetched_;  // buffers and addresses
};

}  // namespace

Nodes PrefetchStreams(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                      const LowerOptions& options) {
  return StreamPrefetcher(program, indices, options).Rewrite(nodes);
}

}  // namespace kiln::plan
