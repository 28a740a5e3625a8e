// Applies steps to a program and checks the properties that any step must have. Counts how often each
// primitive applied.
#pragma once

#include <map>
#include <string>

#include "lang/schedule/primitive.h"
#include "trace/trace.h"

namespace kiln::fuzz {

// A violated property with a message; empty if all hold.
struct Broken {
  std::string property, message;
  explicit operator bool() const { return !property.empty(); }
};

struct Coverage {
  struct Count {
    int64_t applied = 0, refused = 0;
  };
  std::map<std::string, Count> steps;  // by primitive, and by primitive, attribute and value
  std::map<std::string, int64_t> cases;
  void Add(const Coverage& other);
};

// Returns the target that modules and late steps see: by default a CPU. Set it before the first session.
Target& FuzzTarget();

class Session {
 public:
  Session(Program program, Coverage* coverage) : coverage_(coverage) { state_.program = std::move(program); }

  // Runs the step. A site takes the step's decision if it is in the support, otherwise one drawn from `dice`. Returns
  // true if the step applies. Sets broken() if a refused step changes the program, adds handles or has an unexpected
  // status, or if Verify fails after a step that applies. Appends to trace() a step that applies or breaks something.
  bool Try(Step step, Dice& dice);
  // Runs get-block for each block of the program that has no handle, and get-loops for each block around which a loop
  // has none.
  void LookUp(Dice& dice);

  const State& state() const { return state_; }
  const Trace& trace() const {
    return trace_;
  }  // the steps that applied, and the last one if it broke something
  const Broken& broken() const { return broken_; }

 private:
  void Count(const Step& step, bool applied);
  Broken Check(const Step& step, const State& before, const absl::Status& status) const;

  State state_;
  Trace trace_;
  Broken broken_;
  Coverage* coverage_;
};

// Runs the trace's steps on the program, without those in `skip` and those that do not apply (any more). Stops at a
// step that breaks a property.
Session Rerun(const Trace& trace, Program program, const std::vector<bool>& skip, Dice& dice,
              Coverage* coverage = nullptr);

}  // namespace kiln::fuzz
