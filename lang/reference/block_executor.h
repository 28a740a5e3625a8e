// Executes single instances of blocks: tests whether an instance exists, initializes its result, and runs its
// body. A part of lang/reference/executor.h, which defines Domain.
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "lang/reference/execution_plan.h"

namespace kiln {

template <typename Value>
struct Registers {
  std::vector<Value> body, initial, combine;
};

template <typename Domain>
class BlockExecutor {
 protected:
  using Value = typename Domain::Value;
  using Elements = absl::InlinedVector<int64_t, 2>;  // one element per destination

  BlockExecutor(const ExecutionPlan& plan, Domain& domain) : plan_(plan), domain_(domain) {
    variables_.assign(plan.variables(), 0);
    for (const PlanNode* block : plan.blocks()) {
      registers_.push_back({Fresh(block->body), Fresh(block->initial), Fresh(block->combine)});
    }
  }

  // Evaluates the block's marks, and sets their variables, for the current values of the loops. Returns false if a mark
  // is out of its extent: the block then has no instance here.
  bool Exists(const PlanNode& block) {
    int64_t* const variables = variables_.data();
    for (const MarkStep& mark : block.marks) {
      const int64_t value = mark.value(variables);
      if (value < 0 || value >= mark.extent) return false;
      if (mark.variable >= 0) variables[mark.variable] = value;
    }
    return true;
  }

  // Locate finds the elements that an instance writes, and Initialize stores its initial values there. RunInstance
  // computes the instance's values and stores them. For a reduction it combines them into the elements instead, which
  // it initializes first if no loop starts the reduction. The instance must exist. All return false on an error, which
  // status_ describes.
  bool Locate(const PlanNode& block, Elements& at) {
    for (const CodeAccess& dest : block.dests) {
      at.push_back(dest(variables_.data()));
      if (at.back() < 0) return Fail(block, dest, "writes out of bounds");
    }
    return true;
  }
  bool Initialize(const PlanNode& block, const Elements& at) {
    return Compute(block, block.initial, registers_[block.number].initial, &at);
  }
  bool RunInstance(const PlanNode& block) {
    Registers<Value>& registers = registers_[block.number];
    const bool stores = block.monoid == kNone;
    Elements at;
    if (!Compute(block, block.body, registers.body, nullptr) || !Locate(block, at)) return false;
    if (stores) return Store(block, block.body, registers.body, at);
    if (block.starts_itself && !Initialize(block, at)) return false;
    const char* wrong = domain_.Combine(block, at.data(), registers);
    return wrong == nullptr || Fail(block, block.dests[0], wrong);
  }

  const ExecutionPlan& plan_;
  Domain& domain_;
  absl::Status status_;
  std::vector<int64_t> variables_;

 private:
  std::vector<Value> Fresh(const BodyCode& code) {
    std::vector<Value> registers;
    for (int r = 0; r < code.num_registers(); ++r)
      registers.push_back(domain_.Constant(code.type(r), code.initial()[r]));
    return registers;
  }

  bool Fail(const PlanNode& block, const CodeAccess& access, const char* what) {
    status_ = AccessError(plan_.program(), block, access, variables_.data(), what);
    return false;
  }

  // The domain that BodyCode::RunIn calls. It passes operations on to domain_. A load that is out of bounds, and a load
  // or gather that domain_ refuses, ends the run with an error.
  struct Code {
    BlockExecutor& executor;
    const PlanNode& block;
    bool Load(const CodeAccess& access, int64_t at, Value* to) {
      if (at < 0) return executor.Fail(block, access, "reads out of bounds");
      const char* wrong = executor.domain_.Load(access.buffer, at, to);
      return wrong == nullptr || executor.Fail(block, access, wrong);
    }
    bool Gather(const CodeAccess& access, const int* which, const Value* registers, Value* to) {
      const char* wrong = executor.domain_.Gather(access, which, registers, to);
      return wrong == nullptr || executor.Fail(block, access, wrong);
    }
    Value Apply(Op op, DType type, ScalarFunction function, const Value& a, const Value& b, const Value& c) {
      return executor.domain_.Apply(op, type, function, a, b, c);
    }
    Value Cast(Op op, DType from, DType to, const Value& a) { return executor.domain_.Cast(op, from, to, a); }
    Value Index(int64_t value) { return executor.domain_.Index(value); }
  };

  bool Compute(const PlanNode& block, const BodyCode& body, std::vector<Value>& registers,
               const Elements* at) {
    Code code{*this, block};
    return body.RunIn(code, variables_.data(), registers.data()) &&
           (at == nullptr || Store(block, body, registers, *at));
  }
  bool Store(const PlanNode& block, const BodyCode& code, const std::vector<Value>& values,
             const Elements& at) {
    for (size_t r = 0; r < at.size(); ++r) {
      const Value& value = values[code.result(static_cast<int>(r))];
      const char* wrong = domain_.Store(block.dests[r].buffer, at[r], value);
      if (wrong != nullptr) return Fail(block, block.dests[r], wrong);
    }
    return true;
  }

  std::vector<Registers<Value>> registers_;  // by block
};

}  // namespace kiln
