// A case of the fuzzer: a random program, a random trace that applies to it, and the checks of both.
#pragma once

#include "absl/status/statusor.h"
#include "lang/reference/symbolic.h"
#include "tests/fuzz/session.h"
#include "trace/enumerate.h"

namespace kiln::fuzz {

// Dice that record all draws. They first replay the given draws, each cut to the largest number that the draw allows.
class RecordedDice final : public Dice {
 public:
  RecordedDice(std::vector<int64_t> given, Dice* others) : drawn_(std::move(given)), others_(others) {}
  int Pick(absl::Span<const double> weights) override;
  int64_t Below(int64_t n) override;
  bool Flip(double p) override;
  // Returns the draws that were used so far: given ones and new ones. Smaller numbers make smaller random programs.
  std::vector<int64_t> drawn() const {
    return {drawn_.begin(), drawn_.begin() + static_cast<int64_t>(next_)};
  }

 private:
  template <typename Draw>
  int64_t Next(int64_t n, Draw draw);

  std::vector<int64_t> drawn_;
  size_t next_ = 0;
  Dice* others_;  // gives the draws after the given ones; null: these are zeros
};

struct Case {
  uint64_t seed = 0;
  std::vector<int64_t> dice;  // the draws that give the program; empty if it was read from a file
  Program program;
  Trace trace;
};

struct Outcome {
  Case made;  // the trace ends where something broke
  Broken broken;
  Program after;  // the program after the trace
};

// DrawProgram draws a program from a seed, and stores its draws in `dice` unless that is null. DrawTrace draws random
// steps and returns a session with those that apply to the program. Primitives in `favored` are drawn more often. If
// there are none, half of the traces favor a random group, such as those that lead to pipelines.
Program DrawProgram(uint64_t seed, std::vector<int64_t>* dice = nullptr);
Session DrawTrace(const Program& program, uint64_t seed, int trace, Coverage* coverage,
                  absl::Span<const Primitive* const> favored = {});
// Draws a trace of a space: picks one of its sketches and draws decisions. Leaves out steps that do not apply with
// these decisions.
Session DrawTraceOf(const std::vector<Sketch>& sketches, const Program& program, uint64_t seed, int trace,
                    Coverage* coverage);
// Counts the kinds of cases that a program and its scheduled form `now` cover, such as "guard", "three blocks" or "no
// small factor".
void CountProgram(const Program& program, const Program& now, Coverage* coverage);

// Draws a program and `traces` traces from the seed, and checks each trace on the program. Returns an outcome for each
// trace, or a single broken one if the program cannot run, or if the space fails or has no sketch. Traces come from
// `space` if it is given. Otherwise they have random steps, `favored` primitives more often. If FuzzTarget() is a GPU,
// the random steps make GPU kernels (kernels.h), and all scheduled programs are also run in the interpreter and proven.
std::vector<Outcome> RunSeed(uint64_t seed, int traces, Coverage* coverage,
                             absl::Span<const Primitive* const> favored = {},
                             const SpaceFunction& space = nullptr);

// Returns a switch: if true, as at the start, CheckRuns also looks for races of threads with thread clocks. Set it to
// false to see what the fuzzer finds without them.
bool& AsksThreadClocks();

// Checks that symbolic runs of the scheduled program `now` give the outputs `wanted`, in several orders of parallel and
// pipelined iterations. If AsksThreadClocks(), also checks that threads of its kernels do not race, and that the proof
// does not accept a faulty synchronization plan under which they race.
Broken CheckRuns(const Program& now, const SymbolicOutputs& wanted, uint64_t seed);

// Runs the steps of the case, without those in `skip` and those that do not apply, and checks all properties of the
// result.
Outcome Check(const Case& given, const std::vector<bool>& skip = {});

// ToString returns a case as text: "# seed N", the program, and the trace. ParseCase reads this text, but neither the
// seed nor the draws, and returns an error if it is not a case.
std::string ToString(const Case& c);
absl::StatusOr<Case> ParseCase(absl::string_view text);

}  // namespace kiln::fuzz
