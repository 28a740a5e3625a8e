#include "backends/lower/passes/prefetch_nests.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "backends/lower/plan/plan_rewriter.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"

namespace kiln::plan {
namespace {

// The part of a buffer that a nest of loops reads first: `elements` adjacent elements from the element `first` on.
struct Panel {
  Id buffer = kNone;
  int64_t first = 0, elements = 1;
};

class NestPrefetcher {
 public:
  NestPrefetcher(const Program& program, const IndexPlan& indices, const LowerOptions& options)
      : p_(program), plan_(indices), options_(options) {}

  Nodes Run(const Nodes& nodes) {
    for (const Node& node : nodes)
      for (const Id block : BlocksIn(p_, node))
        for (const Id buffer : WrittenBuffers(p_, block)) written_.insert(buffer);
    Nodes out;
    for (size_t i = 0; i < nodes.size(); ++i) {
      out.push_back(nodes[i]);
      if (i + 1 < nodes.size()) FetchAtEnd(PanelsOf(nodes[i + 1]), out);
    }
    return out;
  }

 private:
  std::vector<Panel> PanelsOf(const Node& nest) const {
    std::vector<Panel> panels;
    for (const Id block : BlocksIn(p_, nest)) {
      if (p_.block(block).monoid == kNone) continue;
      for (const Id load : Loads(p_, block)) {
        const Id buffer = p_.exprs[load].AsLoad().buffer;
        if (!Streams(buffer) || absl::c_any_of(panels, [&](const Panel& p) { return p.buffer == buffer; }))
          continue;
        if (const std::optional<Panel> panel = PanelOf(block, load)) panels.push_back(*panel);
      }
    }
    return panels;
  }

  bool Streams(Id buffer) const {
    const BufferPlan& plan = plan_.buffers[buffer];
    return (plan.place == Memory::kParameter || plan.place == Memory::kGlobal) &&
           !written_.contains(buffer) && p_.buffers[buffer].layout.swizzle.bits == 0 &&
           plan.elements * SizeOf(p_.buffers[buffer].dtype) >= options_.stream_bytes;
  }

  // Returns the part of a buffer that a load reads first, as adjacent elements: all that the innermost loops read, as
  // many loops as leave no gaps. Returns nullopt if the address divides a sum or contains a computed index (a mark).
  std::optional<Panel> PanelOf(Id block, Id load) const {
    const IndexSum& address = plan_.blocks.at(block).addresses.at(load);
    if (absl::c_any_of(address.splits,
                       [](const IndexSplit& s) { return s.source.kind == Source::Kind::kMark; }))
      return std::nullopt;
    Panel panel{p_.exprs[load].AsLoad().buffer, address.offset};
    int64_t reads = 1;
    const std::vector<Id> loops = LoopsAround(p_, block);
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      Panel grown = panel;
      for (const IndexSplit& split : address.splits) {
        if (split.source != Source::Loop(*loop)) continue;
        const int64_t values = SplitRange(split, Extents(p_)), reach = split.scale * (values - 1);
        grown.first += std::min<int64_t>(reach, 0);
        grown.elements += std::abs(reach);
        reads *= values;
      }
      if (reads < grown.elements) break;
      panel = grown;
    }
    return panel;
  }

  // Splits the last iteration from the loop at the end of these nodes, and inserts prefetches of the panels into this
  // iteration. Looks inside loops of one iteration. Does nothing if the last node is not a serial loop of several
  // iterations, without `steps`, that always runs to its end.
  void FetchAtEnd(const std::vector<Panel>& panels, Nodes& nodes) const {
    const Loop* loop = nodes.back().As<Loop>();
    if (panels.empty() || loop == nullptr) return;
    if (loop->run == Run::kOne) return FetchAtEnd(panels, nodes.back().arms[0]);
    if (loop->run != Run::kSerial || loop->steps > 1 || loop->count < 2 || !loop->trims.empty()) return;
    Node last = nodes.back();
    --std::get<Loop>(nodes.back().what).count;
    Loop& end = std::get<Loop>(last.what);
    end.first += end.count - 1;
    end.count = 1;
    for (const Panel& panel : panels) Fetch(panel, last.arms[0]);
    nodes.push_back(std::move(last));
  }

  // Inserts prefetches of a panel (adjacent elements of a buffer) into the nodes: a part in each iteration of the last
  // serial loop among them, or, without one, a prefetch before them. Each fetches at most costs.prefetch_lines cache
  // lines, so a large panel is fetched in part.
  void Fetch(const Panel& panel, Nodes& nodes) const {
    const auto runs = std::find_if(nodes.rbegin(), nodes.rend(), [](const Node& node) {
      const Loop* loop = node.As<Loop>();
      return loop != nullptr && loop->run == Run::kSerial && loop->steps == 1;
    });
    const Loop* loop = runs == nodes.rend() ? nullptr : runs->As<Loop>();
    const int64_t line = options_.costs.line_bytes / SizeOf(p_.buffers[panel.buffer].dtype),
                  lines = (panel.elements + line - 1) / line, parts = loop == nullptr ? 1 : loop->count;
    Prefetch part{.buffer = panel.buffer,
                  .address = IndexSum::Constant(panel.first),
                  .lines = std::min((lines + parts - 1) / parts, options_.costs.prefetch_lines),
                  .locality = 2};
    if (loop != nullptr) part.address.splits.push_back({Source::Loop(loop->loop), part.lines * line});
    Nodes& inside = loop == nullptr ? nodes : runs->arms[0];
    inside.insert(inside.begin(), {std::move(part)});
  }

  const Program& p_;
  const IndexPlan& plan_;
  const LowerOptions& options_;
  std::set<Id> written_;  // by the function
};

}  // namespace

Nodes PrefetchNests(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                    const LowerOptions& options) {
  return NestPrefetcher(program, indices, options).Run(nodes);
}

}  // namespace kiln::plan
