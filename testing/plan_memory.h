// The memory of a plan that runs (plan_interpreter.h): elements at the addresses that the plan gives, with the buffer
// that stored each of them last. Any wrong access ends the run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/lower/plan/index_plan.h"
#include "lang/program/scalar.h"

namespace kiln {

// The exception that ends the run of a wrong plan. `what` says what is wrong.
struct PlanFault {
  std::string what;
};
template <typename... T>
[[noreturn]] void Fail(const T&... what) {
  throw PlanFault{absl::StrCat(what...)};
}

class PlanMemory {
 public:
  // Keeps references to both.
  PlanMemory(const Program& program, const IndexPlan& plan);

  void SetInputs(absl::Span<const std::string> inputs);
  std::vector<std::string> Outputs() const;

  Scalar Load(Id buffer, int64_t at);
  void Store(Id buffer, int64_t at, Scalar value);
  // Delays a store until the flush with this number. Until then nothing may use the element.
  void Delay(int flush, Id buffer, int64_t at, Scalar value);
  void Flush(int number);
  bool HasDelayed() const { return !delayed_.empty(); }
  // Forgets the contents of buffers that are private to an iteration.
  void BeginIteration();

 private:
  struct Memory {
    std::vector<Scalar> values;
    std::vector<Id> writers;  // by element: the buffer that was stored last; kNone: nothing
    std::set<int64_t> delayed;
  };
  struct Delayed {
    int flush;
    Id buffer;
    int64_t at;
    Scalar value;
  };

  Memory& MemoryAt(Id buffer, int64_t at);

  const Program& p_;
  const IndexPlan& plan_;
  std::vector<Memory> memories_;  // by buffer that owns the memory
  std::vector<Delayed> delayed_;
};

}  // namespace kiln
