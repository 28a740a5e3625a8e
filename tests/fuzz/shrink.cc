#include "tests/fuzz/shrink.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "testing/random_program.h"
#include "trace/simplify.h"

namespace kiln::fuzz {
namespace {

class Shrinker {
 public:
  Shrinker(const Outcome& outcome, double seconds)
      : best_(outcome), end_(absl::Now() + absl::Seconds(seconds)) {}

  Outcome Run() {
    for (bool better = true; better;) {
      better = FewerSteps();
      better |= SmallerProgram();
      better |= SmallerNumbers();
    }
    Case simple = best_.made;
    simple.trace = Simplify(simple.trace);
    Try(simple);
    return best_;
  }

 private:
  bool InTime() const { return absl::Now() < end_; }
  bool Try(const Case& made, const std::vector<bool>& skip = {}) {
    if (!InTime()) return false;
    Outcome outcome = Check(made, skip);
    if (outcome.broken.property != best_.broken.property) return false;
    best_ = std::move(outcome);
    return true;
  }

  bool FewerSteps() {
    bool better = false;
    for (size_t run = std::max<size_t>(1, best_.made.trace.steps.size() / 2); run >= 1; run /= 2) {
      for (size_t end = best_.made.trace.steps.size(); end > 0; end = end > run ? end - run : 0) {
        const size_t steps = best_.made.trace.steps.size();
        if (end > steps) continue;
        std::vector<bool> skip(steps, false);
        for (size_t i = end > run ? end - run : 0; i < end; ++i) skip[i] = true;
        if (Try(best_.made, skip)) better |= best_.made.trace.steps.size() < steps;
      }
    }
    return better;
  }

  bool SmallerProgram() {
    bool better = false;
    for (size_t i = 0; i < best_.made.dice.size(); ++i) {
      const int64_t now = best_.made.dice[i];
      for (const int64_t smaller : {int64_t{0}, now / 2, now - 1}) {
        if (smaller < 0 || smaller >= now || i >= best_.made.dice.size()) continue;
        Case made = best_.made;
        made.dice[i] = smaller;
        RecordedDice dice(made.dice, nullptr);
        made.program = RandomProgram(dice, {.types = true});
        made.dice = dice.drawn();
        if (!Try(made)) continue;
        better = true;
        break;
      }
    }
    return better;
  }

  bool SmallerNumbers() {
    bool better = false;
    for (size_t s = 0; s < best_.made.trace.steps.size(); ++s) {
      for (size_t o = 0; o < best_.made.trace.steps[s].operands.size(); ++o) {
        const Operand operand = best_.made.trace.steps[s].operands[o];
        if (operand.kind != Operand::Kind::kInt || operand.number <= 1) continue;
        Case made = best_.made;
        made.trace.steps[s].operands[o].number = operand.number - 1;
        const size_t steps = made.trace.steps.size();
        if (Try(made) && best_.made.trace.steps.size() <= steps) better = true;
        if (s >= best_.made.trace.steps.size()) break;
      }
    }
    return better;
  }

  Outcome best_;
  absl::Time end_;
};

}  // namespace

Outcome Shrink(const Outcome& outcome, double seconds) { return Shrinker(outcome, seconds).Run(); }

}  // namespace kiln::fuzz
