// The order in which the instances of a program run: its loops, guards and bindings as the essay in
// lang/program/program.h says, shared by what runs programs (lang/reference/interpreter.h on numbers, lang/reference/shadow.h on terms).
// A part of theirs, of no use elsewhere.
//
// What values are, and what is stored, is up to a Domain:
//
//   using Value = ...;                      a register
//   Value Constant(DType, Scalar);
//   Value Apply(Op, DType, ScalarFunction, const Value& a, const Value& b, const Value& c);
//   Value Cast(Op, DType from, DType to, const Value&);
//   Value Index(int64_t);
//   const char* Gather(const CodeAccess&, const int* which, const Value* registers, Value* to);   alike
//   const char* Load(Id buffer, int64_t at, Value* to);             nullptr, or what is wrong with it
//   const char* Store(Id buffer, int64_t at, const Value&);         the same
//   const char* Combine(const PlanNode& block, const int64_t* at, Registers<Value>&);
//                                                   lifts are in the body's
//   void Turn(Id buffer, int64_t copy);             which copy of a buffer that a ring carries is meant now
//   void Forget(Id buffer);                         what was in that copy: it is about to be made anew
//   void BeginLoop(const PlanNode&), Iterate(int64_t iteration), EndLoop();
//                                                   of loops whose iterations may run at once
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "lang/base/check.h"
#include "lang/base/random.h"
#include "lang/reference/interpreter.h"
#include "lang/reference/walk_block.h"

namespace kiln {

template <typename Domain>
class Walk : private BlockWalk<Domain> {
 public:
  Walk(const WalkPlan& plan, const InterpreterOptions& options, Domain& domain)
      : BlockWalk<Domain>(plan, domain), options_(options), dice_(Engine({options.shuffle})) {
    generation_.assign(plan.reductions().size(), 0);
    for (const int64_t elements : plan.reductions()) generation_of_.emplace_back(elements, 0);
  }

  absl::Status Run() {
    Execute(plan_.top());
    return status_;
  }

 private:
  using BlockWalk<Domain>::plan_, BlockWalk<Domain>::domain_, BlockWalk<Domain>::status_,
      BlockWalk<Domain>::variables_;

  bool Execute(const std::vector<PlanNode>& places) {
    for (const PlanNode& place : places) {
      if (!Execute(place)) return false;
    }
    return true;
  }
  bool Execute(const PlanNode& place) {
    return place.variable >= 0 ? ExecuteLoop(place) : ExecuteBlock(place);
  }

  bool ExecuteLoop(const PlanNode& loop);
  bool ExecutePipeline(const PlanNode& loop);
  bool ExecuteBlock(const PlanNode& block) {
    if (!this->Exists(block)) return true;
    return this->RunInstance(block) && Execute(block.children);
  }
  // To the copies that iteration i uses.
  void TurnTo(const PlanNode& loop, int64_t i) {
    for (const Ring& ring : loop.rings) domain_.Turn(ring.buffer, i % ring.depth);
  }
  bool ExecuteChild(const PlanNode& loop, size_t child, int64_t i) {
    variables_[loop.variable] = i;
    TurnTo(loop, i);
    for (const Id buffer : loop.makes[child]) domain_.Forget(buffer);
    return Execute(loop.children[child]);
  }
  // Initializes what the instances here and below combine into, once an element.
  bool Start(const PlanNode& place, int reduction);

  InterpreterOptions options_;
  RandomDice dice_;
  std::vector<uint32_t> generation_;                  // by reduction
  std::vector<std::vector<uint32_t>> generation_of_;  // by reduction and element of its first destination
};

template <typename Domain>
bool Walk<Domain>::ExecuteLoop(const PlanNode& loop) {
  for (const int reduction : loop.starts) {
    ++generation_[reduction];
    if (!Start(loop, reduction)) return false;
  }
  if (loop.kind == LoopKind::kPipelined) return ExecutePipeline(loop);
  std::vector<int64_t> order;
  if (loop.at_once && options_.shuffle != 0) {
    order.resize(loop.extent);
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = loop.extent; i > 1; --i) std::swap(order[i - 1], order[dice_.Below(i)]);
  }
  if (loop.at_once) domain_.BeginLoop(loop);
  for (int64_t i = 0; i < loop.extent; ++i) {
    variables_[loop.variable] = order.empty() ? i : order[i];
    if (loop.at_once) domain_.Iterate(variables_[loop.variable]);
    if (!Execute(loop.children)) return false;
  }
  if (loop.at_once) domain_.EndLoop();
  return true;
}

template <typename Domain>
bool Walk<Domain>::ExecutePipeline(const PlanNode& loop) {
  if (options_.pipelines == PipelineOrder::kInTurn) {
    for (int64_t i = 0; i < loop.extent; ++i) {
      for (size_t child = 0; child < loop.children.size(); ++child) {
        if (!ExecuteChild(loop, child, i)) return false;
      }
    }
    return true;
  }
  std::vector<int64_t> done(loop.children.size(), 0);
  const auto next = [&] { return NextChild(loop, done, options_.pipelines, dice_); };
  for (int child = next(); child >= 0; child = next()) {
    if (!ExecuteChild(loop, child, done[child]++)) return false;
  }
  for (const int64_t iterations : done) KILN_CHECK(iterations == loop.extent, "a pipeline is stuck");
  return true;
}

template <typename Domain>
bool Walk<Domain>::Start(const PlanNode& place, int reduction) {
  if (std::find(place.reductions.begin(), place.reductions.end(), reduction) == place.reductions.end())
    return true;
  if (place.variable < 0 && !this->Exists(place)) return true;
  if (place.reduction == reduction) {
    absl::InlinedVector<int64_t, 2> at;
    if (!this->Locate(place, at)) return false;
    uint32_t& own = generation_of_[reduction][at[0]];
    if (own == generation_[reduction]) return true;
    own = generation_[reduction];
    return this->Initialize(place, at);
  }
  if (place.at_once) domain_.BeginLoop(place);
  for (int64_t i = 0; i < place.extent; ++i) {
    if (place.variable >= 0) variables_[place.variable] = i;
    if (place.at_once) domain_.Iterate(i);
    TurnTo(place, i);
    for (const PlanNode& child : place.children) {
      if (!Start(child, reduction)) return false;
    }
  }
  if (place.at_once) domain_.EndLoop();
  return true;
}

}  // namespace kiln
