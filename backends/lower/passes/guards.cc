#include "backends/lower/passes/guards.h"

#include <numeric>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/calls.h"
#include "backends/lower/passes/condition_queries.h"
#include "backends/lower/passes/unrolled.h"
#include "backends/lower/plan/plan_rewriter.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/defect.h"

namespace kiln::plan {
namespace {

// True if the nodes contain a barrier of a GPU, or a leaf that combines the values of its threads. All threads must
// come to such a node, so the pass puts no tests around it and ends no loop around it early.
bool Meet(const Nodes& nodes) {
  return absl::c_any_of(nodes, [](const Node& node) {
    const Leaf* leaf = node.As<Leaf>();
    return node.As<Sync>() != nullptr || (leaf != nullptr && leaf->across) || absl::c_any_of(node.arms, Meet);
  });
}

// True if the nodes contain another node of the loop `around`. Pipelines have such nodes: they run parts of later
// iterations.
bool RunAhead(const Nodes& nodes, Id around) {
  return absl::c_any_of(nodes, [&](const Node& node) {
    const Loop* loop = node.As<Loop>();
    return (loop != nullptr && loop->loop == around) ||
           absl::c_any_of(node.arms, [&](const Nodes& arm) { return RunAhead(arm, around); });
  });
}

class GuardsPass : public Rewriter {
 public:
  GuardsPass(const Program& program, const IndexPlan& indices, const LowerOptions& options)
      : Rewriter(program, indices),
        p_(program),
        plan_(indices),
        options_(options),
        ask_(context_),
        registers_(KeptInRegisters(program, indices)) {}

 private:
  void Visit(const Node& node, Nodes& out) override {
    if (const Leaf* leaf = node.As<Leaf>()) return VisitLeaf(*leaf, out);
    if (const First* first = node.As<First>()) return VisitFirst(*first, node, out);
    if (node.As<Prefetch>() != nullptr && is_incomplete_) return;
    if (const Call* call = node.As<Call>()) return VisitCall(*call, node, out);
    const Loop* loop = node.As<Loop>();
    if (loop == nullptr) return Rewriter::Visit(node, out);
    if (loop->run == Run::kOne) {
      AppendCopies(*loop, [&] { return Body(*loop, node.arms[0]); }, out);
    } else if (loop->run == Run::kLanes || (loop->run == Run::kUnrolled && !RunsInstead(*loop))) {
      AppendCopies(*loop, [&] { return Rewrite(node.arms[0]); }, out);
    } else {
      VisitRunning(*loop, node.arms[0], out);
    }
  }

  void VisitCall(const Call& call, const Node& node, Nodes& out) {
    Call made = call;
    if (FitsCall(context_, options_.features, made)) {
      out.push_back({std::move(made)});
    } else {
      for (const Node& instead : node.arms[0]) Visit(instead, out);
    }
  }

  bool RunsInstead(const Loop& loop) const {
    return is_incomplete_ && !loop.ahead && context_.lanes() == 0 &&
           !IndexesRegisters(p_, plan_, registers_, loop.loop);
  }

  void VisitLeaf(const Leaf& leaf, Nodes& out) {
    Leaf kept = leaf;
    kept.asks.clear();
    for (const int condition : leaf.asks) {
      const std::optional<bool> decided = context_.Decided(condition);
      if (decided == false && !KILN_DEFECT("plan.guards.never")) return;
      if (!decided.has_value() && !KILN_DEFECT("plan.guards.asks")) kept.asks.push_back(condition);
    }
    out.push_back({std::move(kept)});
  }

  void VisitFirst(const First& first, const Node& node, Nodes& out) {
    First open;
    for (const Id loop : first.loops) {
      const IndexValue& at = context_.indices().Of(loop);
      if (!at.is_constant()) open.loops.push_back(loop);
      if (at.is_constant() && at.constant != 0 && !KILN_DEFECT("plan.guards.first")) {
        for (const Node& combines : node.arms[1]) Visit(combines, out);
        return;
      }
    }
    if (open.loops.empty()) {
      for (const Node& starts : node.arms[0]) Visit(starts, out);
      return;
    }
    Node made{std::move(open), {}};
    for (const Nodes& arm : node.arms) made.arms.push_back(Rewrite(arm));
    if (!made.arms[0].empty() || !made.arms[1].empty()) out.push_back(std::move(made));
  }

  // Appends a loop that runs: ends it where its guards fail, and tests in its body the conditions that its variable
  // decides. If it ends early or is in code for incomplete tiles, the copies for several iterations in its body
  // (`steps`) become one. Never ends early a loop on an axis of a GPU, a loop whose body all threads must come to
  // (Meet), or a loop that contains a part of another iteration (RunAhead).
  void VisitRunning(const Loop& loop, const Nodes& body, Nodes& out) {
    Loop made = loop;
    if (made.run == Run::kUnrolled) made.run = Run::kSerial;
    const bool ends = made.run != Run::kAxis && !Meet(body) && (made.steps > 1 || !RunAhead(body, made.loop));
    if (ends) Trim(made);
    const bool has_steps = made.steps > 1 && !is_incomplete_ && made.trims.empty();
    if (made.steps > 1 && !has_steps) {
      made.count *= made.steps;
      made.steps = 1;
    }
    const Nodes& inside = loop.steps > 1 ? body[0].arms[0] : body;
    context_.With(made.decided, true, [&] {
      AppendCopies(
          made,
          [&] {
            if (!has_steps) return Body(made, inside);
            Nodes steps;
            const Loop& copies = *body[0].As<Loop>();
            AppendCopies(copies, [&] { return Body(copies, inside); }, steps);
            return steps;
          },
          out);
    });
  }

  // Makes the loop end where a guard of all its blocks fails: adds such conditions to `trims`, and those that then
  // always hold inside to `decided`. Sets runs_once if at least one iteration is proven to run: LLVM hoists loads only
  // out of such loops, and cannot derive this from an upper bound that is a product.
  void Trim(Loop& loop) {
    const std::vector<Id> blocks = BlocksBelow(p_, loop.loop);
    const int64_t extent = loop.count * loop.steps;
    loop.runs_once = true;
    for (const int condition : ask_.Open(blocks)) {
      if (!ask_.GuardsAll(condition, blocks)) continue;
      const std::optional<PlanContext::Trim> trim = context_.TrimOf(condition, loop.loop);
      if (!trim.has_value()) continue;
      const IndexValue above = context_.indices().Eval(trim->bound);
      if (!above.uniform()) continue;
      IndexValue room =
          IndexValue::Constant(plan_.conditions[condition].extent - trim->others.min + trim->scale - 1);
      room.Add(above, -1);
      const int64_t least = context_.indices().RangeOf(room).min;
      if (least < trim->scale * extent) {
        loop.trims.push_back(condition);
        loop.runs_once = loop.runs_once && (least >= trim->scale || KILN_DEFECT("plan.guards.once"));
      }
      if (ask_.TrimsExactly(condition, loop.loop, blocks) || KILN_DEFECT("plan.guards.trim"))
        loop.decided.push_back(condition);
    }
    loop.runs_once = loop.runs_once && !loop.trims.empty();
  }

  // Returns the rewritten children of a loop, inside a test of the guards that have one answer for the whole iteration.
  // May return versions of the children for complete and incomplete tiles. Returns nothing if one of these guards never
  // holds. Adds neither tests nor versions if all threads of a GPU must come to a child (Meet), or if a child is a part
  // of another iteration of the loop (RunAhead).
  Nodes Body(const Loop& loop, const Nodes& children) {
    if (Meet(children) || RunAhead(children, loop.loop)) return Rewrite(children);
    const std::vector<Id> blocks = BlocksBelow(p_, loop.loop);
    std::vector<int> exact, versioned;
    const bool by_loop = FindDecided(loop.loop, blocks, exact, versioned);
    std::vector<int> tests, holding;
    for (const int condition : exact) {
      const IndexValue value = context_.BoundValue(condition);
      if (!value.uniform()) continue;
      const bool holds = context_.HoldsForAll(condition);
      if (value.is_constant() && !holds) return {};
      holding.push_back(condition);
      if (!holds) tests.push_back(condition);
    }
    Nodes body;
    context_.With(holding, true, [&] {
      const bool chooses = by_loop && !is_incomplete_ && versions_ < options_.costs.nest_versions &&
                           context_.lanes() == 0 && !ask_.IsBetterInside(loop.loop, versioned);
      body = chooses ? Versions(versioned, blocks, children) : Rewrite(children);
    });
    if (tests.empty() || body.empty()) return body;
    Nodes tested;
    tested.push_back({Branch{tests}, {std::move(body)}});
    return tested;
  }

  // Collects the open conditions that can be decided inside one iteration of a loop, for all blocks below it. `exact`
  // gets the guards of all blocks that have one answer for all inner iterations. `versioned` gets the others, which
  // need several versions of the code, without those that wait for inner loops, and those that seldom hold unless they
  // skip zero terms. Returns true if a versioned condition depends on the loop.
  bool FindDecided(Id loop, const std::vector<Id>& blocks, std::vector<int>& exact,
                   std::vector<int>& versioned) const {
    bool by_loop = false;
    for (const int condition : ask_.Open(blocks)) {
      const bool alike = ask_.HoldsAlike(condition) || KILN_DEFECT("plan.guards.alike");
      if (alike && (ask_.GuardsAll(condition, blocks) || KILN_DEFECT("plan.guards.all"))) {
        exact.push_back(condition);
        continue;
      }
      const bool waits = absl::c_any_of(plan_.conditions[condition].loops, [&](Id l) {
        return !context_.indices().IsBound(l) && !IsFullyUnrolled(p_.loop(l));
      });
      if (waits || (ask_.SeldomHolds(condition) && !ask_.Drops(condition, blocks))) continue;
      versioned.push_back(condition);
      by_loop |= absl::c_linear_search(plan_.conditions[condition].loops, loop);
    }
    return by_loop;
  }

  // Returns code that chooses between versions of the children: one in which all `versioned` conditions hold (complete
  // tiles), and others for values at a boundary (BoundariesOf) or for incomplete tiles. Returns only the first version
  // if the conditions are proven to hold.
  Nodes Versions(const std::vector<int>& versioned, const std::vector<Id>& blocks, const Nodes& children) {
    std::vector<int> tests;
    for (const int condition : versioned) {
      if (!context_.HoldsForAll(condition)) tests.push_back(condition);
    }
    if (tests.empty()) return Rewrite(children);
    if (KILN_DEFECT("plan.guards.tests")) tests.erase(tests.begin() + 1, tests.end());
    ++versions_;
    const std::vector<Switch> boundaries = BoundariesOf(blocks, versioned);
    Nodes made;
    if (!boundaries.empty()) {
      made = AtBoundaries(boundaries, children);
    } else {
      const bool decided =
          (versioned.size() == 1 && ask_.HoldsAlike(versioned[0])) || KILN_DEFECT("plan.guards.else");
      Node either{Branch{tests, decided}, {}};
      context_.With(versioned, true, [&] { either.arms.push_back(Rewrite(children)); });
      is_incomplete_ = !decided;
      context_.With(decided ? versioned : std::vector<int>(), false,
                    [&] { either.arms.push_back(Rewrite(children)); });
      is_incomplete_ = false;
      if (either.arms[1].empty()) either.arms.pop_back();
      if (either.arms.size() > 1 || !either.arms[0].empty()) made.push_back(std::move(either));
    }
    --versions_;
    return made;
  }

  // Returns for each condition the values of its bound part (its terms over loops that have a value here) for which it
  // fails for some values of its other terms. Returns nothing without the policy boundary-versions, if there would be
  // too many versions, or if some condition skips zero terms of sums in none of the blocks, already has the value of a
  // boundary (PlanContext::WithBoundary), or has a bound part that is constant or differs between lanes.
  std::vector<Switch> BoundariesOf(const std::vector<Id>& blocks, const std::vector<int>& conditions) {
    if (!options_.policies.Has(Policy::kBoundaryVersions)) return {};
    std::vector<Switch> all;
    int64_t versions = 1;
    for (const int condition : conditions) {
      const auto [bound, rest] = context_.PartOf(condition);
      if (!ask_.Drops(condition, blocks) || context_.IsAssumed(condition) ||
          !context_.indices().Eval(bound).uniform())
        return {};
      int64_t step = 0;
      for (const IndexSplit& split : bound.splits) step = std::gcd(step, split.scale);
      if (step == 0) return {};
      Switch by{condition, {}};
      const Interval range = Bounds(bound, Extents(p_));
      for (int64_t value = range.min; value <= range.max; value += step) {
        if (value + rest.min < 0 || value + rest.max >= plan_.conditions[condition].extent)
          by.values.push_back(value);
        if (std::ssize(by.values) > options_.costs.edge_values) return {};
      }
      if (KILN_DEFECT("plan.guards.boundaries") && by.values.size() > 1) by.values.pop_back();
      versions *= std::ssize(by.values) + 1;
      all.push_back(std::move(by));
    }
    return versions <= options_.costs.edge_versions ? all : std::vector<Switch>();
  }

  // Returns nested switches with a version of the children for each combination of boundary values: for each condition,
  // one version where it holds and one for each value for which it may fail. Has no switch for conditions proven to
  // hold.
  Nodes AtBoundaries(absl::Span<const Switch> boundaries, const Nodes& children) {
    if (boundaries.empty()) return Rewrite(children);
    const Switch& by = boundaries.front();
    const auto inside = [&] { return AtBoundaries(boundaries.subspan(1), children); };
    const bool always = context_.HoldsForAll(by.condition);
    Node chosen{by, {}};
    context_.With({by.condition}, true, [&] { chosen.arms.push_back(inside()); });
    if (always) return std::move(chosen.arms[0]);
    for (const int64_t value : by.values)
      context_.WithBoundary(by.condition, value, [&] { chosen.arms.push_back(inside()); });
    Nodes made;
    made.push_back(std::move(chosen));
    return made;
  }

  const Program& p_;
  const IndexPlan& plan_;
  const LowerOptions& options_;
  const ConditionQueries ask_;
  const std::vector<bool> registers_;
  bool is_incomplete_ = false;  // in code for incomplete tiles, which gets no further versions
  int versions_ = 0;            // number of nested versions around this place
};

}  // namespace

Nodes Guards(const Program& program, const IndexPlan& indices, const Nodes& nodes,
             const LowerOptions& options) {
  return GuardsPass(program, indices, options).Rewrite(nodes);
}

}  // namespace kiln::plan
