// The memory of a plan that runs (plan_interpreter.h): elements at the addresses that the plan gives, with the buffer
// that stored each of them last. Each owner of a buffer has its own elements. The owner is the thread, warp or block that
// the buffer's scope names, or an iteration of a parallel loop. Any wrong access throws a PlanFault.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/scalar.h"
#include "testing/plan_threads.h"

namespace kiln {

class PlanMemory {
 public:
  // Keeps references to both.
  PlanMemory(const Program& program, const IndexPlan& plan) : p_(program), plan_(plan) {
    memories_.resize(program.buffers.size());
  }

  void SetInputs(absl::Span<const std::string> inputs);
  std::vector<std::string> Outputs();
  // Forgets the uses of elements and the memory of threads, warps and blocks.
  void BeginKernel();

  Scalar Load(const PlanThread& by, Id buffer, int64_t at, PlanUse use = PlanUse::kRead);
  // Delays a transposed store until the flush with its number, and an asynchronous one until the thread waits for its
  // group. Until then nothing may use the element.
  void Store(const PlanThread& by, Id buffer, int64_t at, Scalar value, PlanUse use, plan::Store store);
  void Flush(int number);
  // Makes the asynchronous stores of a thread's first groups.
  void Wait(const PlanThread& by, int64_t groups);
  void Fence() { streams_ = false; }
  // Throws if a store waits for a flush or a fence.
  void End(absl::string_view entry) const;

 private:
  struct Element {
    Scalar value{.i = INT64_C(0x5A5A5A5A)};
    Id writer = kNone;  // the buffer that was stored last; kNone: nothing
    bool delayed = false;
    PlanUses uses;  // in the kernel that runs
  };
  struct Delayed {
    plan::Store how;
    PlanThread by;
    Id buffer;
    int64_t at;
    Scalar value;
  };

  // Makes the delayed stores that are wanted.
  template <typename Wanted>
  void Make(const Wanted& wanted);
  std::vector<Element>& ElementsOf(Id buffer, const PlanThread& by);
  Element& At(Id buffer, int64_t at, const PlanThread& by);
  // Checks and records a use, and returns the element.
  Element& Use(Id buffer, int64_t at, const PlanThread& by, PlanUse use);
  std::string Name(Id buffer, int64_t at) const;

  const Program& p_;
  const IndexPlan& plan_;
  // The elements, by the buffer that has the memory and then by owner.
  std::vector<std::map<int64_t, std::vector<Element>>> memories_;
  std::vector<Delayed> delayed_;
  bool streams_ = false;  // non-temporal stores wait for a fence
};

}  // namespace kiln
