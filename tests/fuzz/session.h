// A program under steps that may or may not apply, watched: what must hold of any step, and how often each
// primitive was reached.
#pragma once

#include <map>
#include <string>

#include "lang/schedule/primitive.h"
#include "trace/trace.h"

namespace kiln::fuzz {

// A property that does not hold, or nothing.
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

class Session {
 public:
  Session(Program program, Coverage* coverage) : coverage_(coverage) { state_.program = std::move(program); }

  // Runs the step. A site takes the step's decision where it is in the support, else one drawn from `dice`.
  // True if it applies. A refused step must leave the program as it was; after the others Verify must hold.
  bool Try(Step step, Dice& dice);
  // Steps that look up every live block and loop that has no handle.
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

// The steps on the program, without those that do not apply there (any more).
Session Rerun(const Trace& trace, Program program, const std::vector<bool>& skip, Dice& dice,
              Coverage* coverage = nullptr);

}  // namespace kiln::fuzz
