// One case of the fuzzer: a random program and a random trace that applies to it, and what must hold of them.
#pragma once

#include "absl/status/statusor.h"
#include "lang/reference/shadow.h"
#include "tests/fuzz/session.h"
#include "trace/enumerate.h"

namespace kiln::fuzz {

// Draws, and remembers what it drew; what is given at first is not drawn.
class RecordedDice final : public Dice {
 public:
  RecordedDice(std::vector<int64_t> given, Dice* others) : drawn_(std::move(given)), others_(others) {}
  int Pick(absl::Span<const double> weights) override;
  int64_t Below(int64_t n) override;
  bool Flip(double p) override;
  // Up to where they were used. Smaller numbers make smaller programs.
  std::vector<int64_t> drawn() const {
    return {drawn_.begin(), drawn_.begin() + static_cast<int64_t>(next_)};
  }

 private:
  template <typename Draw>
  int64_t Next(int64_t n, Draw draw);

  std::vector<int64_t> drawn_;
  size_t next_ = 0;
  Dice* others_;  // null: zeros
};

struct Case {
  uint64_t seed = 0;
  std::vector<int64_t> dice;  // of the program; empty where it was read from a file
  Program program;
  Trace trace;
};

struct Outcome {
  Case made;  // the trace ends where something broke
  Broken broken;
  Program after;  // what the trace made of the program
};

// What a seed draws: a program (and the dice that made it), and a trace that applies to it.
Program DrawProgram(uint64_t seed, std::vector<int64_t>* dice = nullptr);
Session DrawTrace(const Program& program, uint64_t seed, int trace, Coverage* coverage,
                  absl::Span<const Primitive* const> favored = {});
// The same from modules: a sketch of what a space makes of the program, decisions drawn anew. Steps that do
// not apply with these are left out.
Session DrawTraceOf(const std::vector<Sketch>& sketches, const Program& program, uint64_t seed, int trace,
                    Coverage* coverage);
// Counts what kind of pair it is: "guard", "three blocks", "no small factor".
void CountProgram(const Program& program, const Program& now, Coverage* coverage);

// A program and `traces` traces, everything drawn from the seed, and checked. Traces are of some steps each
// or, if there is a space, of its modules.
std::vector<Outcome> RunSeed(uint64_t seed, int traces, Coverage* coverage,
                             absl::Span<const Primitive* const> favored = {},
                             const SpaceFunction& space = nullptr);

// Whether the shadow run of what a trace made is that of the program, in every order that is allowed.
Broken CheckRuns(const Program& now, const Shadow& wanted, uint64_t seed);

// Runs the case's steps (those that apply), and checks everything.
Outcome Check(const Case& given, const std::vector<bool>& skip = {});

// "program ... trace ...", and back.
std::string ToString(const Case& c);
absl::StatusOr<Case> ParseCase(absl::string_view text);

}  // namespace kiln::fuzz
