// Executes the instances of a program one after the other: loops, guards and bindings as lang/program/program.h defines
// them. The interpreter (lang/reference/interpreter.h) runs it on numbers, symbolic execution
// (lang/reference/symbolic.h) on terms.
//
// A Domain defines what values are and how they are stored. Gather, Load, Store and Combine return nullptr, or the
// error.
//
//   using Value = ...;                      a register
//   Value Constant(DType, Scalar);
//   Value Apply(Op, DType, ScalarFunction, const Value& a, const Value& b, const Value& c);
//   Value Cast(Op, DType from, DType to, const Value&);
//   Value Index(int64_t);
//   const char* Gather(const CodeAccess&, const int* which, const Value* registers, Value* to);
//   const char* Load(Id buffer, int64_t at, Value* to);
//   const char* Store(Id buffer, int64_t at, const Value&);
//   const char* Combine(const PlanNode& block, const int64_t* at, Registers<Value>&);
//                                                   the lifted values are in the body's registers
//   void SelectCopy(Id buffer, int64_t copy);       selects the current copy of a buffer with a ring
//   void Invalidate(Id buffer);                     marks that copy as unwritten, before new writes
//   void BeginLoop(const PlanNode&), Iterate(int64_t iteration), EndLoop();
//                                                   for loops whose iterations may run in parallel
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "lang/base/check.h"
#include "lang/base/random.h"
#include "lang/reference/block_executor.h"
#include "lang/reference/interpreter.h"

namespace kiln {

template <typename Domain>
class Executor : private BlockExecutor<Domain> {
 public:
  Executor(const ExecutionPlan& plan, const InterpreterOptions& options, Domain& domain)
      : BlockExecutor<Domain>(plan, domain), options_(options), dice_(Engine({options.shuffle})) {
    generation_.assign(plan.reductions().size(), 0);
    for (const int64_t elements : plan.reductions()) generation_of_.emplace_back(elements, 0);
  }

  absl::Status Run() {
    Execute(plan_.top());
    return status_;
  }

 private:
  using BlockExecutor<Domain>::plan_, BlockExecutor<Domain>::domain_, BlockExecutor<Domain>::status_,
      BlockExecutor<Domain>::variables_;

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
  // Selects the copy of each ring buffer that iteration i of a pipelined loop uses.
  void SelectCopies(const PlanNode& loop, int64_t i) {
    for (const Ring& ring : loop.rings) domain_.SelectCopy(ring.buffer, i % ring.depth);
  }
  bool ExecuteChild(const PlanNode& loop, size_t child, int64_t i) {
    variables_[loop.variable] = i;
    SelectCopies(loop, i);
    for (const Id buffer : loop.makes[child]) domain_.Invalidate(buffer);
    return Execute(loop.children[child]);
  }
  // Starts a reduction: initializes the elements that its instances write below `place`, each once. Returns false on an
  // error.
  bool Start(const PlanNode& place, int reduction);

  InterpreterOptions options_;
  RandomDice dice_;
  std::vector<uint32_t> generation_;                  // by reduction
  std::vector<std::vector<uint32_t>> generation_of_;  // by reduction and element of its first destination
};

template <typename Domain>
bool Executor<Domain>::ExecuteLoop(const PlanNode& loop) {
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
bool Executor<Domain>::ExecutePipeline(const PlanNode& loop) {
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
bool Executor<Domain>::Start(const PlanNode& place, int reduction) {
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
    SelectCopies(place, i);
    for (const PlanNode& child : place.children) {
      if (!Start(child, reduction)) return false;
    }
  }
  if (place.at_once) domain_.EndLoop();
  return true;
}

}  // namespace kiln
