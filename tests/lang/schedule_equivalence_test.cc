// Applies random steps of every primitive, but for sampling steps and those that only look up handles, to random
// programs. A step that applies must keep every bit of the results, and the program must equal its text, read back. A
// step that does not apply must leave the program unchanged. A failure prints the seed, the steps and the programs.
// Raise kSeeds to search longer.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lang/reference/interpreter.h"
#include "lang/schedule/primitive.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "testing/random_program.h"
#include "tests/support/random_steps.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

class Session {
 public:
  explicit Session(uint64_t seed) : dice_(Engine({seed, 77})) {
    state_.program = RandomProgram(dice_);
    original_ = ToString(state_.program);
    inputs_ = RandomInputs(state_.program, dice_);
    wanted_ = Run(state_.program, inputs_);
  }

  // Tries `tries` random steps. Returns what went wrong, with the steps and both programs; empty if nothing did.
  std::string Go(int tries) {
    if (!wanted_.ok())
      return absl::StrCat("the original fails: ", wanted_.status().ToString(), "\n", original_);
    for (int i = 0; i < tries; ++i) {
      RefreshHandles(state_);
      const std::string wrong = OneStep();
      if (!wrong.empty()) {
        return absl::StrCat(wrong, "\n--- steps\n", steps_, "--- original\n", original_, "--- now\n",
                            ToString(state_.program));
      }
    }
    return "";
  }
  int applied() const { return applied_; }
  const Program& program() const { return state_.program; }

 private:
  std::string OneStep() {
    const Step step = RandomStep(state_, {}, false, dice_);
    const Program before = state_.program;
    int results = 0;
    Decision decision;
    const absl::Status status = Run(state_, Target(), step, 0, nullptr, &results, &decision);
    if (!status.ok()) {
      if (status.code() != absl::StatusCode::kFailedPrecondition &&
          status.code() != absl::StatusCode::kInvalidArgument) {
        return absl::StrCat(ToString(step), ": ", status.ToString());
      }
      if (!Equal(before, state_.program))
        return absl::StrCat(ToString(step), " was refused but changed the program");
      return "";
    }
    ++applied_;
    absl::StrAppend(&steps_, ToString(step), "\n");
    return Compare();
  }

  std::string Compare() {
    const absl::Status valid = Verify(state_.program);
    if (!valid.ok()) return absl::StrCat("Verify: ", valid.ToString());
    const absl::StatusOr<Program> parsed = ParseProgram(ToString(state_.program));
    if (!parsed.ok()) return absl::StrCat("its text does not parse: ", parsed.status().ToString());
    if (!Equal(*parsed, state_.program) || !(HashOf(*parsed) == HashOf(state_.program)))
      return "its text is another program";
    if (ToString(*parsed) != ToString(state_.program))
      return absl::StrCat("its text prints as\n", ToString(*parsed));
    for (const uint64_t shuffle : {uint64_t{0}, uint64_t{1} + static_cast<uint64_t>(applied_)}) {
      const auto out = Run(state_.program, inputs_, {.shuffle = shuffle});
      if (!out.ok()) return absl::StrCat(shuffle != 0 ? "shuffled: " : "", out.status().ToString());
      if (*out != *wanted_) return absl::StrCat(shuffle != 0 ? "shuffled: " : "", "other results");
    }
    return "";
  }

  RandomDice dice_;
  State state_;
  std::string original_, steps_;
  std::vector<std::string> inputs_;
  absl::StatusOr<std::vector<std::string>> wanted_;
  int applied_ = 0;
};

constexpr uint64_t kSeeds = Repeats(800);

TEST(Schedules, KeepEveryBitUnderRandomSteps) {
  int applied = 0, failures = 0;
  for (uint64_t seed = 1; seed <= kSeeds && failures < 3; ++seed) {
    Session session(seed);
    const std::string wrong = session.Go(40);
    applied += session.applied();
    if (!wrong.empty()) {
      ++failures;
      ADD_FAILURE() << "seed " << seed << ": " << wrong;
    }
  }
  EXPECT_GT(applied, failures > 0 ? 0 : static_cast<int>(kSeeds) * 5);
}

}  // namespace
}  // namespace kiln
