// The order in which the instances of a program run: its loops, guards and bindings as the essay in
// lang/program.h says, shared by what runs programs (lang/interpreter.h on numbers, lang/shadow.h on terms).
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
//   const char* Combine(const Place& block, const int64_t* at, Registers<Value>&);   lifts are in the body's
//   void Turn(Id buffer, int64_t copy);             which copy of a buffer that a ring carries is meant from
//   now on void BeginLoop(const Place&), Iterate(int64_t iteration), EndLoop();        of loops whose
//   iterations may run at once
#pragma once

#include <numeric>
#include <vector>

#include "lang/check.h"
#include "lang/interpreter.h"
#include "lang/random.h"
#include "lang/walk_plan.h"

namespace kiln {

template <typename Value>
struct Registers {
  std::vector<Value> body, initial, combine;
};

template <typename Domain>
class Walk {
 public:
  Walk(const WalkPlan& plan, const InterpreterOptions& options, Domain& domain)
      : plan_(plan), options_(options), domain_(domain), dice_(Engine({options.shuffle})) {
    variables_.assign(plan.variables(), 0);
    generation_.assign(plan.reductions().size(), 0);
    for (const int64_t elements : plan.reductions()) generation_of_.emplace_back(elements, 0);
    for (const Place* block : plan.blocks()) {
      registers_.push_back({Fresh(block->body), Fresh(block->initial), Fresh(block->combine)});
    }
  }

  absl::Status Run() {
    Execute(plan_.top());
    return status_;
  }

 private:
  using Value = typename Domain::Value;

  std::vector<Value> Fresh(const BodyCode& code) {
    std::vector<Value> registers;
    for (int r = 0; r < code.num_registers(); ++r)
      registers.push_back(domain_.Constant(code.type(r), code.initial()[r]));
    return registers;
  }

  bool Fail(const Place& block, const CodeAccess& access, const char* what) {
    status_ = AccessError(plan_.program(), block, access, variables_.data(), what);
    return false;
  }

  bool Execute(const std::vector<Place>& places) {
    for (const Place& place : places) {
      if (!Execute(place)) return false;
    }
    return true;
  }
  bool Execute(const Place& place) { return place.variable >= 0 ? ExecuteLoop(place) : ExecuteBlock(place); }

  bool ExecuteLoop(const Place& loop);
  bool ExecutePipeline(const Place& loop);
  // To the copies that iteration i uses.
  void TurnTo(const Place& loop, int64_t i) {
    for (const Ring& ring : loop.rings) domain_.Turn(ring.buffer, i % ring.depth);
  }
  bool ExecuteBlock(const Place& block);

  // A block's code, with loads that are checked.
  struct Code {
    Walk& walk;
    const Place& block;
    bool Load(const CodeAccess& access, int64_t at, Value* to) {
      if (at < 0) return walk.Fail(block, access, "reads out of bounds");
      const char* wrong = walk.domain_.Load(access.buffer, at, to);
      return wrong == nullptr || walk.Fail(block, access, wrong);
    }
    bool Gather(const CodeAccess& access, const int* which, const Value* registers, Value* to) {
      const char* wrong = walk.domain_.Gather(access, which, registers, to);
      return wrong == nullptr || walk.Fail(block, access, wrong);
    }
    Value Apply(Op op, DType type, ScalarFunction function, const Value& a, const Value& b, const Value& c) {
      return walk.domain_.Apply(op, type, function, a, b, c);
    }
    Value Cast(Op op, DType from, DType to, const Value& a) { return walk.domain_.Cast(op, from, to, a); }
    Value Index(int64_t value) { return walk.domain_.Index(value); }
  };

  const WalkPlan& plan_;
  InterpreterOptions options_;
  Domain& domain_;
  RandomDice dice_;
  absl::Status status_;
  std::vector<int64_t> variables_;
  std::vector<uint32_t> generation_;                  // by reduction
  std::vector<std::vector<uint32_t>> generation_of_;  // by reduction and element of its first destination
  std::vector<Registers<Value>> registers_;           // by block
};

template <typename Domain>
bool Walk<Domain>::ExecuteLoop(const Place& loop) {
  for (const int reduction : loop.starts) ++generation_[reduction];
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
bool Walk<Domain>::ExecutePipeline(const Place& loop) {
  if (options_.pipelines == PipelineOrder::kInTurn) {
    for (int64_t i = 0; i < loop.extent; ++i) {
      variables_[loop.variable] = i;
      TurnTo(loop, i);
      if (!Execute(loop.children)) return false;
    }
    return true;
  }
  std::vector<int64_t> done(loop.children.size(), 0);
  const auto next = [&] { return NextChild(loop, done, options_.pipelines, dice_); };
  for (int child = next(); child >= 0; child = next()) {
    variables_[loop.variable] = done[child];
    TurnTo(loop, done[child]++);
    if (!Execute(loop.children[child])) return false;
  }
  for (const int64_t iterations : done) KILN_CHECK(iterations == loop.extent, "a pipeline is stuck");
  return true;
}

template <typename Domain>
bool Walk<Domain>::ExecuteBlock(const Place& block) {
  int64_t* const variables = variables_.data();
  for (const MarkStep& mark : block.marks) {
    const int64_t value = mark.value(variables);
    if (value < 0 || value >= mark.extent) return true;
    if (mark.variable >= 0) variables[mark.variable] = value;
  }
  Code code{*this, block};
  Registers<Value>& registers = registers_[block.number];
  if (!block.body.RunIn(code, variables, registers.body.data())) return false;
  const int results = static_cast<int>(block.dests.size());
  absl::InlinedVector<int64_t, 2> at(results);
  for (int r = 0; r < results; ++r) {
    at[r] = block.dests[r](variables);
    if (at[r] < 0) return Fail(block, block.dests[r], "writes out of bounds");
  }
  const auto store = [&](const BodyCode& from, const std::vector<Value>& values) {
    for (int r = 0; r < results; ++r) {
      const char* wrong = domain_.Store(block.dests[r].buffer, at[r], values[from.result(r)]);
      if (wrong != nullptr) return Fail(block, block.dests[r], wrong);
    }
    return true;
  };
  if (block.monoid == kNone) {
    if (!store(block.body, registers.body)) return false;
    return block.children.empty() || Execute(block.children);
  }
  if (!block.accumulates) {
    uint32_t& own = generation_of_[block.reduction][at[0]];
    if (block.starts_itself) ++generation_[block.reduction];
    if (own != generation_[block.reduction]) {
      own = generation_[block.reduction];
      if (!block.initial.RunIn(code, variables, registers.initial.data())) return false;
      if (!store(block.initial, registers.initial)) return false;
    }
  }
  const char* wrong = domain_.Combine(block, at.data(), registers);
  if (wrong != nullptr) return Fail(block, block.dests[0], wrong);
  return block.children.empty() || Execute(block.children);
}

}  // namespace kiln
