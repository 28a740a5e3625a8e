#include "backends/lower/passes/prefetch_tiles.h"

#include <algorithm>
#include <optional>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/unrolled.h"
#include "backends/lower/plan/plan_context.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"

namespace kiln::plan {
namespace {

// True if the node is or contains a loop of several iterations that is neither unrolled nor vectorized.
bool RunsBelow(const Program& p, Id node) {
  if (!p.IsLoop(node)) return false;
  if (!IsFullyUnrolled(p.loop(node))) return true;
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
    if (RunsBelow(p, child)) return true;
  }
  return false;
}

bool IsBelow(const Program& p, Id node, Id above) {
  while (node != kNone && node != above) node = p.nodes[node].parent;
  return node == above;
}

// Returns the loops of a nest that run (several iterations, neither unrolled nor vectorized), outermost first, if each
// contains the next one. Otherwise returns no loops.
std::vector<Id> RunningChain(const Program& p, Id nest) {
  std::vector<Id> loops = LoopsBelow(p, nest), chain;
  loops.insert(loops.begin(), nest);
  for (const Id loop : loops) {
    if (!p.IsLoop(loop) || IsFullyUnrolled(p.loop(loop))) continue;
    if (!chain.empty() && !IsBelow(p, loop, chain.back())) return {};
    chain.push_back(loop);
  }
  return chain;
}

// Returns the loop or block of the program that a node of a loop plan runs; for a test, that of the first node in its
// first arm. Returns kNone if there is none.
Id NestOf(const Node& node) {
  if (const Loop* loop = node.As<Loop>()) return loop->loop;
  if (const Call* call = node.As<Call>()) return call->outer;
  if (const Leaf* leaf = node.As<Leaf>()) return leaf->block;
  return node.arms.empty() || node.arms[0].empty() ? kNone : NestOf(node.arms[0][0]);
}

// The base of two passes that insert prefetches into a loop plan. A loop "runs" if it has several iterations and is
// neither unrolled nor vectorized, so that it stays a loop in the code. The walk calls Before ahead of each node that
// is or contains such a loop, and Inside for the body of each such loop. Each loop of the program must be one node of
// the plan.
class TilePrefetcher {
 public:
  TilePrefetcher(const Program& program, const IndexPlan& indices, const LowerOptions& options)
      : p_(program), plan_(indices), options_(options), context_(program, indices) {}
  virtual ~TilePrefetcher() = default;

  Nodes Run(const Nodes& nodes) {
    Nodes out;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Id nest = NestOf(nodes[i]);
      if (nest != kNone && RunsBelow(p_, nest)) {
        std::vector<Id> later;
        for (size_t next = i + 1; next < nodes.size(); ++next) {
          const Id sibling = NestOf(nodes[next]);
          if (sibling != kNone && !RunsBelow(p_, sibling)) later.push_back(sibling);
        }
        Before(nest, later, out);
      }
      out.push_back({nodes[i].what, {}});
      for (const Nodes& arm : nodes[i].arms) out.back().arms.push_back(Contents(nodes[i], arm));
    }
    return out;
  }

 protected:
  virtual void Before(Id nest, const std::vector<Id>& later, Nodes& out) = 0;
  // Called with the rewritten body of each loop that runs. An override may insert nodes into the body.
  virtual void Inside(Nodes&) {}

  bool IsLarge(Id buffer) const {
    return plan_.buffers[buffer].elements * SizeOf(p_.buffers[buffer].dtype) >= options_.stream_bytes;
  }
  int64_t LineOf(Id buffer) const {  // elements
    return options_.costs.line_bytes / SizeOf(p_.buffers[buffer].dtype);
  }

  const Program& p_;
  const IndexPlan& plan_;
  const LowerOptions& options_;
  PlanContext context_;
  std::vector<Id> running_;  // loops around, outermost first

 private:
  Nodes Contents(const Node& node, const Nodes& arm) {
    const Loop* loop = node.As<Loop>();
    if (loop == nullptr) return Run(arm);
    if (loop->run == Run::kLanes) return arm;
    const bool runs = loop->run != Run::kUnrolled && loop->run != Run::kOne;
    if (runs) running_.push_back(loop->loop);
    Nodes made;
    bool is_first = true;  // visits only the first copy, because all copies get the same prefetches
    context_.ForEachCopy(*loop, [&](int64_t, int64_t) {
      if (!is_first) return;
      if (loop->steps == 1) {
        made = Run(arm);
        if (!running_.empty() && running_.back() == loop->loop) Inside(made);
      } else {  // the only child is the node with the copies of the body
        made.push_back({arm[0].what, {Contents(arm[0], arm[0].arms[0])}});
      }
      is_first = false;
    });
    if (runs) running_.pop_back();
    return made;
  }
};

class ResultPrefetcher : public TilePrefetcher {
 public:
  using TilePrefetcher::TilePrefetcher;

 private:
  void Before(Id, const std::vector<Id>& later, Nodes& out) override {
    for (const Id nest : later) Fetch(nest, out);
  }

  void Fetch(Id node, Nodes& out) {
    if (p_.IsBlock(node)) return FetchBlock(node, out);
    const kiln::LoopNode& loop = p_.loop(node);
    const bool is_lanes = loop.kind == LoopKind::kVectorized && loop.extent.Known() > 1;
    context_.indices().Bind(node,
                            is_lanes ? IndexValue::Lanes(loop.extent.Known()) : IndexValue::Constant(0));
    if (is_lanes) {
      lanes_.push_back(node);
    } else {
      const int64_t extent = loop.extent.Known();
      unrolled_.push_back({.loop = node, .run = extent == 1 ? Run::kOne : Run::kUnrolled, .count = extent});
    }
    for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) Fetch(child, out);
    is_lanes ? lanes_.pop_back() : unrolled_.pop_back();
    context_.indices().Unbind(node);
  }

  void FetchBlock(Id block, Nodes& out) {
    if (p_.block(block).monoid == kNone) return;
    const auto dests = p_.Accesses(p_.block(block).dests);
    for (size_t r = 0; r < dests.size(); ++r) {
      const Id buffer = dests[r].buffer;
      IndexSum address = plan_.blocks.at(block).dests[r];
      const IndexValue at = context_.indices().Eval(address);
      const bool divides = std::any_of(address.splits.begin(), address.splits.end(), [](const IndexSplit& s) {
        return s.source.kind == Source::Kind::kMark;
      });
      if (!IsLarge(buffer) || at.stride() != 1 || divides) continue;
      const auto is_lane = [&](const IndexSplit& s) {
        return std::find(lanes_.begin(), lanes_.end(), s.source.id) != lanes_.end();
      };
      address.splits.erase(std::remove_if(address.splits.begin(), address.splits.end(), is_lane),
                           address.splits.end());
      const int64_t lines = (std::ssize(at.lanes) + LineOf(buffer) - 1) / LineOf(buffer);
      out.push_back({Prefetch{.buffer = buffer,
                              .address = std::move(address),
                              .over = unrolled_,
                              .lines = lines,
                              .write = true}});
    }
  }

  std::vector<Loop> unrolled_;  // unrolled loops of the sibling around the present node
  std::vector<Id> lanes_;
};

class PanelPrefetcher : public TilePrefetcher {
 public:
  using TilePrefetcher::TilePrefetcher;

 private:
  struct Panel {
    IndexSum next;  // the address of the next panel
    int64_t lines = 0;
  };

  void Before(Id nest, const std::vector<Id>&, Nodes& out) override {
    if (running_.empty() || (p_.IsLoop(nest) && CountOf(nest) == 1)) return;
    const Id tile = running_.back();
    const std::vector<Id> chain = RunningChain(p_, nest);
    ForEachRead(nest, [&](Id buffer, const IndexSum& address) {
      std::optional<Panel> panel = NextPanel(buffer, address, {});
      if (!panel || LinesOfIteration(*panel, tile, chain) > 0) return;
      const int64_t part = PartOf(*panel, CountOf(tile));
      if (part > options_.costs.prefetch_lines) return;
      panel->next.splits.push_back({Source::Loop(tile), part * LineOf(buffer)});
      out.push_back(
          {Prefetch{.buffer = buffer, .address = std::move(panel->next), .lines = part, .locality = 2}});
    });
  }

  void Inside(Nodes& body) override {
    if (RunningChain(p_, running_.back()).size() != 1) return;
    Nodes fetches;
    ForEachRead(running_.back(), [&](Id buffer, const IndexSum& address) {
      for (size_t t = running_.size() - 1; t-- > 0;) {
        const std::vector<Id> chain(running_.begin() + static_cast<int64_t>(t) + 1, running_.end());
        std::optional<Panel> panel = NextPanel(buffer, address, chain);
        if (!panel) continue;
        const int64_t lines =
            RunningChain(p_, chain[0]) == chain ? LinesOfIteration(*panel, running_[t], chain) : 0;
        if (lines > 0) fetches.push_back(PartInIteration(buffer, *std::move(panel), lines, t));
        break;
      }
    });
    body.insert(body.begin(), fetches.begin(), fetches.end());
  }

  // Returns a prefetch of `lines` cache lines of a panel (adjacent elements of a buffer). Each iteration of
  // running_[tile] and of the running loops inside it prefetches a different part.
  Node PartInIteration(Id buffer, Panel panel, int64_t lines, size_t tile) const {
    int64_t step = lines * LineOf(buffer);
    for (size_t i = running_.size(); i-- > tile;) {
      panel.next.splits.push_back({Source::Loop(running_[i]), step});
      step *= CountOf(running_[i]);
    }
    return {Prefetch{.buffer = buffer, .address = std::move(panel.next), .lines = lines, .locality = 2}, {}};
  }

  template <typename Visit>
  void ForEachRead(Id nest, const Visit& visit) {
    for (const Id block : BlocksBelow(p_, nest)) {
      if (p_.block(block).monoid == kNone) continue;
      for (const Id load : Loads(p_, block))
        visit(p_.exprs[load].AsLoad().buffer, plan_.blocks.at(block).addresses.at(load));
    }
  }

  int64_t CountOf(Id loop) const { return p_.loop(loop).extent.UpperBound(); }
  static int64_t PartOf(const Panel& panel, int64_t parts) { return (panel.lines + parts - 1) / parts; }

  // Returns how many cache lines of the next panel (adjacent elements of a buffer) each iteration of the loops `chain`
  // inside a tile's loop prefetches. Returns 0 if each tile's part is small enough to be prefetched before these loops,
  // if the panel is too large, or if the iterations would prefetch too much.
  int64_t LinesOfIteration(const Panel& panel, Id tile, const std::vector<Id>& chain) const {
    if (chain.empty() || PartOf(panel, CountOf(tile)) <= options_.costs.tile_lines ||
        panel.lines * options_.costs.line_bytes > options_.stream_bytes / options_.costs.panel_part)
      return 0;
    int64_t iterations = CountOf(tile);
    for (const Id loop : chain) iterations *= CountOf(loop);
    const int64_t lines = PartOf(panel, iterations);
    return lines <= options_.costs.iteration_lines &&
                   lines * iterations <= options_.costs.panels_ahead * panel.lines
               ? lines
               : 0;
  }

  bool IsFar(Id buffer) const {
    const bool constant = p_.buffers[buffer].role == Role::kConstant || plan_.buffers[buffer].crosses;
    return plan_.buffers[buffer].elements * SizeOf(p_.buffers[buffer].dtype) >=
           options_.stream_bytes / (constant ? options_.costs.prefetch_part : 1);
  }

  // Returns the panel that comes after the current one: the adjacent elements of a buffer that the innermost loops
  // read, that is, the loops that are not bound and those in `inside`. Returns nullopt if the buffer is small, if the
  // panel has gaps, if its address contains a mark (a divided or computed index), if no tile reads the current panel
  // again because the loop around the innermost ones moves it, or if no outer loop moves it. Also returns nullopt if
  // the innermost of the outer loops that move it does so by less than its length.
  std::optional<Panel> NextPanel(Id buffer, const IndexSum& address, const std::vector<Id>& inside) {
    if (!IsFar(buffer)) return std::nullopt;
    IndexEvaluator& indices = context_.indices();
    IndexSum outside = IndexSum::Constant(address.offset);
    int64_t span = 1, elements = 1;
    for (const IndexSplit& split : address.splits) {
      if (split.source.kind != Source::Kind::kLoop) return std::nullopt;
      if (!absl::c_linear_search(inside, split.source.id) && indices.IsBound(split.source.id)) {
        outside.splits.push_back(split);
      } else {
        const int64_t values = SplitRange(split, Extents(p_)), reach = split.scale * (values - 1);
        outside.offset += std::min<int64_t>(reach, 0);
        span += std::abs(reach);
        elements *= values;
      }
    }
    std::vector<int64_t> steps(context_.level() + 1, 0);
    for (const auto& [atom, coefficient] : indices.Eval(outside).terms)
      steps[indices.atom(atom).level] = coefficient;
    const auto next = std::find_if(steps.rbegin(), steps.rend(), [](int64_t step) { return step != 0; });
    const auto tile = steps.rbegin() + std::ssize(inside);
    if (next <= tile || next == steps.rend() || *next < span || elements < span) return std::nullopt;
    outside.offset += *next;
    return Panel{std::move(outside), (span + LineOf(buffer) - 1) / LineOf(buffer)};
  }
};

}  // namespace

Nodes PrefetchResults(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                      const LowerOptions& options) {
  return ResultPrefetcher(program, indices, options).Run(nodes);
}

Nodes PrefetchPanels(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                     const LowerOptions& options) {
  return PanelPrefetcher(program, indices, options).Run(nodes);
}

}  // namespace kiln::plan
