// The memory of a loop plan that runs (plan_interpreter.h): elements at the addresses that the plan gives, with the
// buffer that stored each of them last. Each owner of a buffer has its own elements. The owner is the thread, warp or
// block that the buffer's scope names, or an iteration of a parallel loop. Any wrong access throws a PlanFault.
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
  // Keeps references to the program and the plan.
  PlanMemory(const Program& program, const IndexPlan& plan) : p_(program), plan_(plan) {
    memories_.resize(program.buffers.size());
  }

  void SetInputs(absl::Span<const std::string> inputs);
  std::vector<std::string> Outputs();
  // Call this when a kernel begins: it forgets the uses of elements, and the memory of threads, warps and blocks.
  void BeginKernel();

  Scalar Load(const PlanThread& by, Id buffer, int64_t at, PlanUse use = PlanUse::kRead);
  // Stores an element. A transposed store takes effect at the flush with its number, and an asynchronous one when the
  // thread waits for its group. A use of the element before that throws.
  void Store(const PlanThread& by, Id buffer, int64_t at, Scalar value, PlanUse use, plan::Store store);
  void Flush(int number);
  // Makes the asynchronous stores of the thread's first `groups` groups take effect.
  void Wait(const PlanThread& by, int64_t groups);
  void Fence() { streams_ = false; }
  // Call this when an entry function ends. Throws if a delayed store has not taken effect, or if no fence follows a
  // non-temporal store.
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

  // Makes the delayed stores for which wanted(store) is true take effect, and forgets them.
  template <typename Wanted>
  void Make(const Wanted& wanted);
  std::vector<Element>& ElementsOf(Id buffer, const PlanThread& by);
  Element& At(Id buffer, int64_t at, const PlanThread& by);
  // Records a use of an element by a thread and returns the element. Throws if the element is out of bounds or has a
  // delayed store, or if the use races with another thread's.
  Element& Use(Id buffer, int64_t at, const PlanThread& by, PlanUse use);
  std::string Name(Id buffer, int64_t at) const;

  const Program& p_;
  const IndexPlan& plan_;
  // The elements, by the buffer that has the memory (IndexPlan::MemoryOf), and then by the number of the owner.
  std::vector<std::map<int64_t, std::vector<Element>>> memories_;
  std::vector<Delayed> delayed_;
  bool streams_ = false;  // non-temporal stores wait for a fence
};

}  // namespace kiln
