#include "testing/plan_interpreter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/base/random.h"
#include "lang/program/layout.h"
#include "lang/program/scalar.h"
#include "lang/program/start.h"
#include "testing/plan_memory.h"

namespace kiln {
namespace {

using plan::Nodes;

constexpr int64_t kUnbound = INT64_MIN;
using Env = std::vector<int64_t>;  // the values of loops, by node

bool HasSync(const Nodes& nodes) {
  return absl::c_any_of(nodes, [](const plan::Node& node) {
    return node.As<plan::Sync>() != nullptr || absl::c_any_of(node.arms, HasSync);
  });
}

class Runner {
 public:
  Runner(const Program& program, const plan::LoopPlan& plan, const RunPlanOptions& options,
         PlanMemory& memory)
      : p_(program),
        plan_(plan.indices),
        dice_(Engine({options.shuffle})),
        shuffles_(options.shuffle != 0),
        known_(plan_.conditions.size()),
        memory_(memory) {}

  void RunEntry(const plan::Entry& entry) {
    std::vector<Env> threads{Env(p_.nodes.size(), kUnbound)};
    RunAll(entry.nodes, threads);
    if (memory_.HasDelayed()) Fail(entry.name, " ends with stores that no flush has made");
    if (streams_) Fail(entry.name, " ends without a fence after non-temporal stores");
  }

 private:
  // --- Control
  void RunAll(const Nodes& nodes, std::vector<Env>& threads);
  void RunTogether(const plan::Node& node, std::vector<Env>& threads);
  void RunNodes(const Nodes& nodes, Env& env) {
    for (const plan::Node& node : nodes)
      std::visit([&](const auto& what) { RunOne(what, node, env); }, node.what);
  }
  void RunOne(const plan::Loop& loop, const plan::Node& node, Env& env);
  void RunOne(const plan::Branch& branch, const plan::Node& node, Env& env);
  void RunOne(const plan::Switch& by, const plan::Node& node, Env& env);
  void RunOne(const plan::First& first, const plan::Node& node, Env& env) {
    RunNodes(node.arms[absl::c_all_of(first.loops, [&](Id loop) { return env[loop] == 0; }) ? 0 : 1], env);
  }
  void RunOne(const plan::Leaf& leaf, const plan::Node&, Env& env);
  // Runs the loops of the intrinsic's description.
  void RunOne(const plan::Call& call, const plan::Node& node, Env& env) {
    if (absl::c_all_of(call.asks, [&](int c) { return HoldsForAll(c, env); }))
      RunProgram(call.outer, node, env);
  }
  void RunProgram(Id at, const plan::Node& call, Env& env) {
    if (p_.IsBlock(at)) return RunOne(plan::Leaf{.block = at, .asks = plan_.blocks.at(at).guards}, call, env);
    for (env[at] = 0; env[at] < p_.loop(at).extent.Known(); ++env[at])
      for (Id child = p_.nodes[at].first; child != kNone; child = p_.nodes[child].next)
        RunProgram(child, call, env);
    env[at] = kUnbound;
  }
  void RunOne(const plan::Prefetch& prefetch, const plan::Node&, Env& env) {
    for (const plan::Loop& loop : prefetch.over) env[loop.loop] = 0;
    Value(prefetch.address, env);
    for (const plan::Loop& loop : prefetch.over) env[loop.loop] = kUnbound;
  }
  void RunOne(const plan::Flush& flush, const plan::Node&, Env&) { memory_.Flush(flush.number); }
  void RunOne(const plan::Fence&, const plan::Node&, Env&) { streams_ = false; }
  void RunOne(const plan::Sync&, const plan::Node&, Env&) { Fail("a sync outside of any axis"); }
  template <typename Visit>
  void WithKnown(const std::vector<int>& conditions, bool holds, const Visit& visit);
  std::vector<int64_t> Order(int64_t count, bool any);

  // --- Conditions
  int64_t Value(const IndexSum& sum, const Env& env) const;
  bool IsBound(const IndexSum& sum, const Env& env) const;
  Interval ValuesOf(int condition, const Env& env, int64_t* bound = nullptr,
                    const IndexSplit* without = nullptr) const;
  bool HoldsForAll(int condition, const Env& env) const {
    const Interval values = ValuesOf(condition, env);
    return values.min >= 0 && values.max < plan_.conditions[condition].extent;
  }
  bool HoldsAt(const plan::Leaf& leaf, int condition, const Env& env) const;

  // --- Instances
  Scalar Eval(Id expr, const BlockPlan& block, const plan::Leaf& leaf, const Env& env);
  Scalar Combined(Id expr, const std::vector<Scalar>& args) const;
  Scalar Apply(const Expr& e, const Scalar* operands) const;
  std::string Name(Id block) const { return absl::StrCat("block ", p_.Text(p_.block(block).name)); }

  const Program& p_;
  const IndexPlan& plan_;
  RandomDice dice_;
  const bool shuffles_;
  std::vector<std::optional<bool>> known_;
  PlanMemory& memory_;
  bool streams_ = false;
  Id vector_loop_ = kNone;
  int64_t lanes_ = 1;
  std::unordered_map<Id, int64_t> computed_;  // marks of gathers
  std::unordered_map<Id, Scalar> exprs_;      // of the instance
};

// --- Control

std::vector<int64_t> Runner::Order(int64_t count, bool any) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) order.push_back(i);
  for (int64_t i = count; any && shuffles_ && i > 1; --i) std::swap(order[i - 1], order[dice_.Below(i)]);
  return order;
}

// Runs nodes for the threads of an axis: between two syncs, each thread runs to the end before the next begins.
void Runner::RunAll(const Nodes& nodes, std::vector<Env>& threads) {
  Nodes apart;
  const auto run = [&] {
    for (const int64_t thread : Order(std::ssize(threads), true)) RunNodes(apart, threads[thread]);
    apart.clear();
  };
  for (const plan::Node& node : nodes) {
    if (!HasSync({node})) {
      apart.push_back(node);
      continue;
    }
    run();
    RunTogether(node, threads);
  }
  run();
}

void Runner::RunTogether(const plan::Node& node, std::vector<Env>& threads) {
  if (node.As<plan::Sync>() != nullptr) return;
  const plan::Loop* loop = node.As<plan::Loop>();
  if (loop == nullptr) Fail("a sync in code that threads may leave");
  if (loop->run == plan::Run::kAxis) {
    std::vector<Env> more;
    for (const Env& thread : threads)
      for (int64_t i = 0; i < loop->count; ++i) more.emplace_back(thread)[loop->loop] = loop->first + i;
    return RunAll(node.arms[0], more);
  }
  for (int64_t i = loop->first; i < loop->first + loop->count; ++i) {
    for (Env& thread : threads) thread[loop->loop] = i;
    RunAll(node.arms[0], threads);
  }
  for (Env& thread : threads) thread[loop->loop] = kUnbound;
}

template <typename Visit>
void Runner::WithKnown(const std::vector<int>& conditions, bool holds, const Visit& visit) {
  const std::vector<std::optional<bool>> before = known_;
  for (const int condition : conditions) known_[condition] = holds;
  visit();
  known_ = before;
}

void Runner::RunOne(const plan::Loop& loop, const plan::Node& node, Env& env) {
  const int64_t before = env[loop.loop], base = before == kUnbound ? 0 : before;
  int64_t count = loop.count;
  for (const int condition : loop.trims) {
    // The loop runs while scale * iteration + the least value of the rest is below the extent.
    const Condition& c = plan_.conditions[condition];
    const auto mine = absl::c_find_if(c.value.splits, [&](const IndexSplit& split) {
      return split.source == Source::Loop(loop.loop) && split.lower == 1 && split.extent == 0;
    });
    if (mine == c.value.splits.end())
      Fail("loop ", p_.Text(p_.loop(loop.loop).name), " has no end by c", condition);
    const int64_t rest = ValuesOf(condition, env, nullptr, &*mine).min;
    while (count > 0 && mine->scale * (count - 1) + rest >= c.extent) --count;
  }
  if (loop.runs_once && count == 0) Fail("loop ", p_.Text(p_.loop(loop.loop).name), " does not run once");
  WithKnown(loop.decided, true, [&] {
    if (loop.run == plan::Run::kLanes) {
      for (int64_t i = 0; i < count; i += loop.lanes) {
        vector_loop_ = loop.loop;
        lanes_ = std::min(loop.lanes, count - i);
        env[loop.loop] = base + loop.first + i;
        RunNodes(node.arms[0], env);
      }
      vector_loop_ = kNone;
      lanes_ = 1;
      return;
    }
    const bool any_order = loop.run == plan::Run::kThreads || loop.run == plan::Run::kAxis;
    for (const int64_t i : Order(count, any_order)) {
      if (loop.run == plan::Run::kThreads) memory_.BeginIteration();
      env[loop.loop] = base + (loop.first + i) * loop.steps;
      RunNodes(node.arms[0], env);
    }
  });
  env[loop.loop] = before;
}

void Runner::RunOne(const plan::Branch& branch, const plan::Node& node, Env& env) {
  const bool holds = absl::c_all_of(branch.tests, [&](int c) { return HoldsForAll(c, env); });
  if (holds) return WithKnown(branch.tests, true, [&] { RunNodes(node.arms[0], env); });
  if (node.arms.size() < 2) return;
  const std::vector<int> failing = branch.decided ? branch.tests : std::vector<int>();
  WithKnown(failing, false, [&] { RunNodes(node.arms[1], env); });
}

void Runner::RunOne(const plan::Switch& by, const plan::Node& node, Env& env) {
  if (HoldsForAll(by.condition, env))
    return WithKnown({by.condition}, true, [&] { RunNodes(node.arms[0], env); });
  int64_t bound = 0;
  ValuesOf(by.condition, env, &bound);
  const auto value = absl::c_find(by.values, bound);
  if (value == by.values.end())
    Fail("condition c", by.condition, " has the boundary ", bound, ", which has no arm");
  RunNodes(node.arms[1 + (value - by.values.begin())], env);
}

// --- Conditions

int64_t Runner::Value(const IndexSum& sum, const Env& env) const {
  return Evaluate(sum, [&](Source source) -> int64_t {
    if (source.kind == Source::Kind::kMark) {
      const auto computed = computed_.find(source.id);
      return computed != computed_.end() ? computed->second : Value(plan_.marks.at(source.id), env);
    }
    if (env[source.id] == kUnbound)
      Fail("loop ", p_.Text(p_.loop(source.id).name), " is used outside of its body");
    return env[source.id];
  });
}

bool Runner::IsBound(const IndexSum& sum, const Env& env) const {
  return absl::c_all_of(sum.splits, [&](const IndexSplit& split) {
    if (split.source.kind == Source::Kind::kMark) return IsBound(plan_.marks.at(split.source.id), env);
    return env[split.source.id] != kUnbound;
  });
}

// The interval of the condition's value over all iterations of the loops that are not bound.
Interval Runner::ValuesOf(int condition, const Env& env, int64_t* bound, const IndexSplit* without) const {
  const IndexSum& value = plan_.conditions[condition].value;
  IndexSum known{value.offset, {}}, rest;
  for (const IndexSplit& split : value.splits)
    if (&split != without) (IsBound(IndexSum{0, {split}}, env) ? known : rest).splits.push_back(split);
  const int64_t at = Value(known, env);
  if (bound != nullptr) *bound = at;
  const Interval others = Bounds(rest, Extents(p_));
  return {at + others.min, at + others.max};
}

bool Runner::HoldsAt(const plan::Leaf& leaf, int condition, const Env& env) const {
  const Condition& c = plan_.conditions[condition];
  const int64_t value = Value(c.value, env);
  const bool holds = value >= 0 && value < c.extent;
  if (known_[condition].has_value() && *known_[condition] != holds)
    Fail(Name(leaf.block), ": condition c", condition, " is taken as ", *known_[condition], ", but is ",
         holds);
  return holds;
}

// --- Instances

void Runner::RunOne(const plan::Leaf& leaf, const plan::Node&, Env& env) {
  const BlockNode& block = p_.block(leaf.block);
  const BlockPlan& plan = plan_.blocks.at(leaf.block);
  const auto dests = p_.Accesses(block.dests);
  const int64_t first = vector_loop_ == kNone ? 0 : env[vector_loop_];
  std::vector<std::vector<Scalar>> lanes(
      lanes_);  // what each lane stores or combines; empty: it does not exist
  const auto each_lane = [&](const auto& visit) {
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      if (vector_loop_ != kNone) env[vector_loop_] = first + lane;
      visit(lanes[lane]);
    }
  };
  each_lane([&](std::vector<Scalar>& values) {
    for (const int condition : plan.guards) {
      if (HoldsAt(leaf, condition, env)) continue;
      if (!absl::c_linear_search(leaf.asks, condition))
        Fail(Name(leaf.block), " runs though its guard c", condition, " fails");
      return;
    }
    exprs_.clear();
    for (const Id value : p_.List(block.values)) values.push_back(Eval(value, plan, leaf, env));
  });
  if (block.monoid != kNone && !block.accumulates && !leaf.starts.has_value())
    Fail(Name(leaf.block), " is a reduction that starts nowhere");
  std::set<int64_t> started;
  each_lane([&](std::vector<Scalar>& values) {
    if (values.empty()) return;
    if (block.monoid != kNone) {
      const Monoid& monoid = p_.monoids[block.monoid];
      const bool starts = leaf.starts == true && started.insert(Value(plan.dests[0], env)).second;
      if (!(starts && StartsNeutral(p_, block))) {
        std::vector<Scalar> args, combined;
        for (size_t r = 0; r < dests.size(); ++r) {
          const int64_t at = Swizzled(p_.buffers[dests[r].buffer].layout.swizzle, Value(plan.dests[r], env));
          args.push_back(starts ? ConstantValue(p_.exprs[p_.List(monoid.identity)[r]])
                                : memory_.Load(dests[r].buffer, at));
        }
        args.insert(args.end(), values.begin(), values.end());
        for (const Id expr : p_.List(monoid.combine)) combined.push_back(Combined(expr, args));
        values = combined;
      }
    }
    for (size_t r = 0; r < dests.size(); ++r) {
      const Id buffer = dests[r].buffer;
      const int64_t at = Swizzled(p_.buffers[buffer].layout.swizzle, Value(plan.dests[r], env));
      const plan::Store store = leaf.stores.empty() ? plan::Store() : leaf.stores[r];
      streams_ |= store.mode == plan::Store::Mode::kStream;
      if (store.mode == plan::Store::Mode::kTransposed) {
        memory_.Delay(store.flush, buffer, at, values[r]);
      } else {
        memory_.Store(buffer, at, values[r]);
      }
    }
  });
  if (vector_loop_ != kNone) env[vector_loop_] = first;
}

Scalar Runner::Apply(const Expr& e, const Scalar* operands) const {
  const DType from = e.Operands().empty() ? e.dtype : p_.exprs[e.operand(e.op == Op::kSelect ? 1 : 0)].dtype;
  if (e.op == Op::kCast || e.op == Op::kCastUnsigned || e.op == Op::kBitcast)
    return CastScalar(e.op, from, e.dtype, operands[0]);
  return RoundScalar(e.dtype, FunctionOf(e.op, from)(operands[0], operands[1], operands[2]));
}

Scalar Runner::Combined(Id expr, const std::vector<Scalar>& args) const {
  const Expr& e = p_.exprs[expr];
  if (e.op == Op::kArg) return args[e.Number()];
  if (e.op == Op::kConstant) return ConstantValue(e);
  Scalar operands[3] = {};
  for (size_t i = 0; i < e.Operands().size(); ++i) operands[i] = Combined(e.Operands()[i], args);
  return Apply(e, operands);
}

Scalar Runner::Eval(Id expr, const BlockPlan& block, const plan::Leaf& leaf, const Env& env) {
  if (const auto known = exprs_.find(expr); known != exprs_.end()) return known->second;
  const Expr& e = p_.exprs[expr];
  const auto load = [&](Id buffer) {
    return memory_.Load(buffer,
                        Swizzled(p_.buffers[buffer].layout.swizzle, Value(block.addresses.at(expr), env)));
  };
  Scalar result{};
  if (e.op == Op::kConstant) {
    result = ConstantValue(e);
  } else if (e.op == Op::kIndex) {
    result.i = Value(block.values.at(expr), env);
  } else if (e.op == Op::kLoad) {
    result = load(e.AsLoad().buffer);
  } else if (e.op == Op::kGather) {
    const std::vector<Id> index = p_.GatherIndex(e);
    const std::vector<Id>& marks = block.gathers.at(expr);
    for (size_t d = 0; d < index.size(); ++d) {
      if (marks[d] == kNone) continue;
      const int64_t most = p_.marks[marks[d]].extent.Known() - 1;
      computed_[marks[d]] = std::clamp<int64_t>(Eval(index[d], block, leaf, env).i, 0, most);
    }
    result = load(e.AsGather().buffer);
  } else if (e.op == Op::kWithin) {
    const auto& conditions = block.within.at(expr);
    const bool inside = absl::c_all_of(conditions, [&](int c) { return HoldsAt(leaf, c, env); });
    result = Eval(inside ? e.AsWithin().value : e.AsWithin().otherwise, block, leaf, env);
  } else {
    Scalar operands[3] = {};
    for (size_t i = 0; i < e.Operands().size(); ++i) operands[i] = Eval(e.Operands()[i], block, leaf, env);
    result = Apply(e, operands);
  }
  exprs_[expr] = result;
  return result;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RunPlan(const Program& program, const plan::LoopPlan& plan,
                                                 absl::Span<const std::string> inputs,
                                                 const RunPlanOptions& options) {
  try {
    PlanMemory memory(program, plan.indices);
    memory.SetInputs(inputs);
    Runner runner(program, plan, options, memory);
    for (const bool prepare : {true, false})
      for (const plan::Entry& entry : plan.entries)
        if (entry.prepare == prepare) runner.RunEntry(entry);
    return memory.Outputs();
  } catch (const PlanFault& fault) {
    return absl::InternalError(fault.what);
  }
}

}  // namespace kiln
