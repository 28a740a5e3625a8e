#include "testing/plan_interpreter.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/random.h"
#include "lang/program/scalar.h"
#include "lang/program/start.h"
#include "testing/plan_fault.h"
#include "testing/plan_memory.h"
#include "testing/plan_threads.h"

namespace kiln {
namespace {

using plan::Node;

constexpr int64_t kUnbound = INT64_MIN;

// A leaf of the plan, with its block of the program and what the plan says of the block.
struct Instance {
  const plan::Leaf& leaf;
  const BlockNode& block;
  const BlockPlan& plan;
};

class Runner {
 public:
  Runner(const Program& program, const IndexPlan& plan, uint64_t shuffle, PlanMemory& memory)
      : p_(program),
        plan_(plan),
        memory_(memory),
        dice_(Engine({shuffle})),
        shuffles_(shuffle != 0),
        loops_(p_.nodes.size(), kUnbound),
        known_(plan_.conditions.size()) {}

  void RunEntry(const plan::Entry& entry) {
    for (const Node& node : entry.nodes) RunBlocks(node);
    memory_.End(entry.name);
  }

 private:
  // --- Runs the control flow of a plan, which depends on no data. So a thread can walk the whole code once for each
  // phase (the code between two syncs) and run only the instances of that phase.

  void RunBlocks(const Node& node) {
    const PlanGrid grid(node);
    grid_ = &grid;
    if (grid.is_kernel()) memory_.BeginKernel();
    for (const int64_t b : Order(grid.blocks(), true)) {
      PlanBlock block(grid.threads());
      block_ = &block;
      for (const PlanSyncs& phase : block.phases()) {
        phase_ = phase;
        for (const int64_t t : Order(grid.threads(), true)) {
          thread_ = {.block = b, .number = t, .in_kernel = grid.is_kernel()};
          place_ = grid.PlaceOf(thread_);
          Run(node);
        }
        block.EndPhase();
      }
    }
  }
  std::vector<int64_t> Order(int64_t count, bool any) {
    std::vector<int64_t> order(count);
    absl::c_iota(order, 0);
    for (int64_t i = count; any && shuffles_ && i > 1; --i) std::swap(order[i - 1], order[dice_.Below(i)]);
    return order;
  }

  void Run(const Node& node) {
    std::visit([&](const auto& what) { RunOne(what, node); }, node.what);
  }
  // Runs the nodes of an arm. In it, each of `conditions` counts as known: the plan claims that it holds, or fails if
  // `holds` is false.
  void RunArm(const Node& node, size_t arm, const std::vector<int>& conditions = {}, bool holds = true) {
    const std::vector<std::optional<bool>> before = known_;
    for (const int condition : conditions) known_[condition] = holds;
    for (const Node& child : node.arms[arm]) Run(child);
    known_ = before;
  }

  void RunOne(const plan::Loop& loop, const Node& node) {
    int64_t& value = loops_[loop.loop];
    const int64_t before = value, count = CountOf(loop);
    const auto run = [&](int64_t i) {
      value = std::max<int64_t>(0, before) + (loop.first + i) * loop.steps;
      if (loop.ahead && value >= p_.loop(loop.loop).extent.Known()) return;
      RunArm(node, 0, loop.decided);
    };
    if (loop.run == plan::Run::kAxis) {
      const int64_t place = std::exchange(place_.at(PlanAxis(loop.axis)), 0);
      if (place >= loop.first && place < loop.first + count) run(place - loop.first);
      place_[PlanAxis(loop.axis)] = place;
    } else if (loop.run == plan::Run::kLanes) {
      lane_ = &value;
      lane_loop_ = loop.loop;
      for (int64_t i = 0; i < count; i += lanes_) {
        lanes_ = std::min(loop.lanes, count - i);
        run(i);
      }
      lane_ = &no_lane_;
      lanes_ = 1;
    } else {
      const bool is_parallel = loop.run == plan::Run::kThreads;
      for (const int64_t i : Order(count, is_parallel)) {
        if (is_parallel) thread_.iteration = ++iterations_;
        run(i);
      }
      if (is_parallel) thread_.iteration = 0;
    }
    value = before;
  }

  // Returns the number of iterations that run: up to the first for which one of loop.trims fails, even with the least
  // value that inner loops can add to it. Throws if the plan claims that the loop runs once and it does not.
  int64_t CountOf(const plan::Loop& loop) const {
    int64_t count = loop.count;
    for (const int condition : loop.trims) {
      const Condition& c = plan_.conditions[condition];
      const auto mine = absl::c_find_if(c.value.splits, [&](const IndexSplit& split) {
        return split.source == Source::Loop(loop.loop) && split.lower == 1 && split.extent == 0;
      });
      if (mine == c.value.splits.end()) Fail(Describe(p_, loop.loop), " has no end by c", condition);
      const auto [bound, rest] = PartsOf(condition);  // the loop is not bound: its least part is 0
      while (count > 0 && bound + rest.min + mine->scale * (count - 1) >= c.extent) --count;
    }
    if (loop.runs_once && count == 0) Fail(Describe(p_, loop.loop), " does not run once");
    return count;
  }

  void RunOne(const plan::Branch& branch, const Node& node) {
    if (HoldForAll(branch.tests)) return RunArm(node, 0, branch.tests);
    if (node.arms.size() > 1) RunArm(node, 1, branch.decided ? branch.tests : std::vector<int>(), false);
  }
  void RunOne(const plan::Switch& by, const Node& node) {
    if (HoldForAll({by.condition})) return RunArm(node, 0, {by.condition});
    const int64_t bound = PartsOf(by.condition).first;
    const auto value = absl::c_find(by.values, bound);
    if (value == by.values.end())
      Fail("condition c", by.condition, " has the boundary ", bound, ", which has no arm");
    RunArm(node, 1 + (value - by.values.begin()));
  }
  void RunOne(const plan::First& first, const Node& node) {
    RunArm(node, absl::c_all_of(first.loops, [&](Id loop) { return loops_[loop] == 0; }) ? 0 : 1);
  }

  // Runs a call of an intrinsic: the loops of its description. Does nothing if a condition that the call asks fails for
  // any instance.
  void RunOne(const plan::Call& call, const Node&) {
    if (HoldForAll(call.asks)) RunProgram(call.outer);
  }
  void RunProgram(Id node) {
    if (p_.IsBlock(node)) return Run({plan::Leaf{.block = node, .asks = plan_.blocks.at(node).guards}});
    int64_t& value = loops_[node];
    for (value = 0; value < p_.loop(node).extent.Known(); ++value)
      for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) RunProgram(child);
    value = kUnbound;
  }

  void RunOne(const plan::Prefetch& prefetch, const Node&) {
    for (const plan::Loop& loop : prefetch.over) loops_[loop.loop] = 0;
    Value(prefetch.address);
    for (const plan::Loop& loop : prefetch.over) loops_[loop.loop] = kUnbound;
  }
  void RunOne(const plan::Flush& flush, const Node&) { memory_.Flush(flush.number); }
  void RunOne(const plan::Fence&, const Node&) { memory_.Fence(); }
  // Passes a sync. Each phase walks the code from its beginning, so the thread waits for its asynchronous stores only
  // if the sync ends the present phase.
  void RunOne(const plan::Sync& sync, const Node&) {
    if (sync.groups >= 0 && thread_.syncs == phase_) memory_.Wait(thread_, thread_.groups - sync.groups);
    block_->Meet(sync, thread_);
  }
  void RunOne(const plan::Commit&, const Node&) { ++thread_.groups; }

  // --- Computes index sums from the values of the running loops, and tests conditions of the plan.

  int64_t Value(const IndexSum& sum) const {
    return Evaluate(sum, [&](Source source) -> int64_t {
      if (source.kind == Source::Kind::kMark) {
        const auto computed = computed_.find(source.id);
        return computed != computed_.end() ? computed->second : Value(plan_.marks.at(source.id));
      }
      if (loops_[source.id] == kUnbound) Fail(Describe(p_, source.id), " is used outside of its body");
      return loops_[source.id];
    });
  }
  bool IsBound(Source source) const {
    if (source.kind == Source::Kind::kLoop) return loops_[source.id] != kUnbound;
    return absl::c_all_of(plan_.marks.at(source.id).splits,
                          [&](const IndexSplit& split) { return IsBound(split.source); });
  }

  // Splits the value of a condition into its bound part, the value of the terms over loops that are running, and the
  // interval of its rest, the terms over other loops.
  std::pair<int64_t, Interval> PartsOf(int condition) const {
    const IndexSum& value = plan_.conditions[condition].value;
    IndexSum bound{value.offset, {}}, rest;
    for (const IndexSplit& split : value.splits)
      (IsBound(split.source) ? bound : rest).splits.push_back(split);
    return {Value(bound), Bounds(rest, Extents(p_))};
  }
  bool HoldForAll(const std::vector<int>& conditions) const {
    return absl::c_all_of(conditions, [&](int condition) {
      const auto [bound, rest] = PartsOf(condition);
      return bound + rest.min >= 0 && bound + rest.max < plan_.conditions[condition].extent;
    });
  }
  bool HoldsAt(const Instance& at, int condition) const {
    const int64_t value = Value(plan_.conditions[condition].value);
    const bool holds = value >= 0 && value < plan_.conditions[condition].extent;
    if (known_[condition].value_or(holds) != holds)
      Fail(Describe(p_, at.leaf.block), ": condition c", condition, " is taken as ", *known_[condition],
           ", but is ", holds);
    return holds;
  }

  // --- Runs instances: evaluates their expressions, then stores or combines the values.

  // Runs the instances of a leaf in all lanes: evaluates all before it stores the first. Does nothing in another phase
  // than the leaf's, and on threads whose number is not 0 on an axis that no loop around the leaf has.
  void RunOne(const plan::Leaf& leaf, const Node&) {
    if (thread_.syncs != phase_ || place_ != PlanPlace()) return;
    const Instance at{leaf, p_.block(leaf.block), plan_.blocks.at(leaf.block)};
    if (at.block.monoid != kNone && !at.block.accumulates && !leaf.starts.has_value())
      Fail(Describe(p_, at.leaf.block), " is a reduction that starts nowhere");
    // The values that each lane computes; empty where the instance does not exist.
    std::vector<std::vector<Scalar>> lanes(lanes_);
    for (std::vector<Scalar>& values : lanes) {
      if (Exists(at)) values = Evaluated(at.block.values, at);
      ++*lane_;
    }
    *lane_ -= std::ssize(lanes);
    std::set<int64_t> stored;
    for (std::vector<Scalar>& values : lanes) {
      if (!values.empty()) Store(at, std::move(values), stored);
      ++*lane_;
    }
    *lane_ -= std::ssize(lanes);
  }
  bool Exists(const Instance& at) const {
    return absl::c_all_of(at.plan.guards, [&](int condition) {
      const bool holds = HoldsAt(at, condition);
      if (!holds && !absl::c_linear_search(at.leaf.asks, condition))
        Fail(Describe(p_, at.leaf.block), " runs though its guard c", condition, " fails");
      return holds;
    });
  }

  // Returns true if a reduction starts with this instance, which then stores its values and combines nothing before. If
  // a leaf combines the values of several threads, the first thread that comes starts.
  bool StartsHere(const Instance& at) {
    if (at.leaf.starts != true || !at.leaf.across) return at.leaf.starts == true;
    std::vector<int64_t> meeting = loops_;
    for (const Id loop : at.plan.reduction_loops)
      if (IsThreadAxis(p_.loop(loop).kind) || loop == lane_loop_) meeting[loop] = 0;
    return met_.insert({&at.leaf, std::move(meeting)}).second;
  }

  // Returns the thread that stores the instance. If a leaf combines the values of several threads, it is the one with
  // the number 0 on each axis of the reduction's loops.
  PlanThread StoringThread(const Instance& at) const {
    PlanThread by = thread_;
    for (const Id loop : at.plan.reduction_loops)
      if (at.leaf.across && IsThreadAxis(p_.loop(loop).kind))
        by.number -= loops_[loop] * grid_->Distance(p_.loop(loop).kind);
    return by;
  }

  // Stores an instance's values, or for a reduction their combination with the elements. `stored` has the addresses
  // that earlier lanes stored. If the vectorized loop is none of the reduction's, lanes with one address repeat one
  // instance: only the first combines.
  void Store(const Instance& at, std::vector<Scalar> values, std::set<int64_t>& stored) {
    std::vector<std::pair<Id, int64_t>> dests;
    for (const Access& dest : p_.Accesses(at.block.dests))
      dests.push_back({dest.buffer, Value(at.plan.dests[dests.size()])});
    const bool is_first = stored.insert(dests[0].second).second, reduces = at.block.monoid != kNone;
    if (reduces && !is_first && !UseOf(p_, at.leaf.block, lane_loop_).reduction) return;
    const bool starts = StartsHere(at) && is_first;
    const PlanThread by = StoringThread(at);
    if (reduces && !(starts && StartsNeutral(p_, at.block))) {
      const Monoid& monoid = p_.monoids[at.block.monoid];
      args_.clear();
      for (const auto& [buffer, address] : dests)
        args_.push_back(starts ? ConstantValue(p_.exprs[p_.List(monoid.identity)[args_.size()]])
                               : memory_.Load(by, buffer, address, PlanUse::kCombine));
      absl::c_copy(values, std::back_inserter(args_));
      values = Evaluated(monoid.combine, at);
    }
    for (size_t r = 0; r < dests.size(); ++r) {
      memory_.Store(by, dests[r].first, dests[r].second, values[r],
                    reduces && (at.leaf.across || !starts) ? PlanUse::kCombine : PlanUse::kWrite,
                    at.leaf.stores.empty() ? plan::Store() : at.leaf.stores[r]);
    }
  }

  std::vector<Scalar> Evaluated(Range exprs, const Instance& at) {
    exprs_.clear();
    std::vector<Scalar> values;
    for (const Id expr : p_.List(exprs)) values.push_back(Eval(expr, at));
    return values;
  }
  Scalar Eval(Id expr, const Instance& at) {
    const Expr& e = p_.exprs[expr];
    const auto load = [&](Id buffer) {
      return memory_.Load(thread_, buffer, Value(at.plan.addresses.at(expr)));
    };
    if (e.op == Op::kConstant) return ConstantValue(e);
    if (e.op == Op::kArg) return args_[e.Number()];
    if (e.op == Op::kIndex) return {.i = Value(at.plan.values.at(expr))};
    if (e.op == Op::kLoad) return load(e.AsLoad().buffer);
    if (e.op == Op::kGather) {
      const std::vector<Id> index = p_.GatherIndex(e);
      const std::vector<Id>& marks = at.plan.gathers.at(expr);
      for (size_t d = 0; d < index.size(); ++d) {
        if (marks[d] == kNone) continue;
        const int64_t most = p_.marks[marks[d]].extent.Known() - 1;
        computed_[marks[d]] = std::clamp<int64_t>(Eval(index[d], at).i, 0, most);
      }
      return load(e.AsGather().buffer);
    }
    if (e.op == Op::kWithin) {
      const bool inside = absl::c_all_of(at.plan.within.at(expr), [&](int c) { return HoldsAt(at, c); });
      return Eval(inside ? e.AsWithin().value : e.AsWithin().otherwise, at);
    }
    if (const auto known = exprs_.find(expr); known != exprs_.end()) return known->second;
    Scalar operands[3] = {};
    for (size_t i = 0; i < e.Operands().size(); ++i) operands[i] = Eval(e.Operands()[i], at);
    const DType from = p_.exprs[e.operand(e.op == Op::kSelect ? 1 : 0)].dtype;
    const bool casts = e.op == Op::kCast || e.op == Op::kCastUnsigned || e.op == Op::kBitcast;
    return exprs_[expr] =
               casts ? CastScalar(e.op, from, e.dtype, operands[0])
                     : RoundScalar(e.dtype, FunctionOf(e.op, from)(operands[0], operands[1], operands[2]));
  }

  const Program& p_;
  const IndexPlan& plan_;
  PlanMemory& memory_;
  RandomDice dice_;
  const bool shuffles_;

  // The state of the running thread: its grid, block and phase, its numbers on the axes, the values of its loops, and
  // the conditions that the plan claims to be decided.
  const PlanGrid* grid_ = nullptr;
  PlanBlock* block_ = nullptr;
  PlanSyncs phase_ = {};
  PlanThread thread_;
  PlanPlace place_ = {};                                 // the numbers on the axes that no loop around has
  std::vector<int64_t> loops_;                           // values of the loops that are running, by node
  std::vector<std::optional<bool>> known_;               // by condition: the answer that the plan claims here
  int64_t iterations_ = 0;                               // number of parallel iterations that have begun
  int64_t no_lane_ = 0, *lane_ = &no_lane_, lanes_ = 1;  // the value of the vectorized loop, and its lanes
  Id lane_loop_ = kNone;
  // What the running instance has computed so far: indices of gathers, values of expressions, arguments of the monoid.
  std::unordered_map<Id, int64_t> computed_;  // values of marks, which gathers compute
  std::unordered_map<Id, Scalar> exprs_;
  std::vector<Scalar> args_;  // the arguments of the monoid
  // The reductions across threads that have started: the leaf, and the values of the loops that its threads share.
  std::set<std::pair<const plan::Leaf*, std::vector<int64_t>>> met_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> RunPlan(const Program& program, const plan::LoopPlan& plan,
                                                 absl::Span<const std::string> inputs,
                                                 const RunPlanOptions& options) {
  try {
    PlanMemory memory(program, plan.indices);
    memory.SetInputs(inputs);
    Runner runner(program, plan.indices, options.shuffle, memory);
    for (const bool prepare : {true, false})
      for (const plan::Entry& entry : plan.entries)
        if (entry.prepare == prepare) runner.RunEntry(entry);
    return memory.Outputs();
  } catch (const PlanFault& fault) {
    return absl::InternalError(fault.what);
  }
}

}  // namespace kiln
