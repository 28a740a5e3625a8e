// Checks schedules in tests: that a step was refused, and with which message; that results stay the same.
//
//   ExpectSameResults(program, s.program());
#pragma once

#include <string>

#include "gtest/gtest.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/random_program.h"
#include "testing/scheduled.h"

namespace kiln {

// Expects that a step of the schedule did not apply (kFailedPrecondition). Returns the message.
inline std::string Refusal(const Schedule& s) {
  EXPECT_EQ(s.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(s.status().message());
}

// Expects that `after` passes Verify, and that both programs give bitwise equal results on random inputs. Runs the
// parallel loops of `after` in order and in two random orders.
inline void ExpectSameResults(const Program& before, const Program& after) {
  RandomDice dice(Engine({7}));
  const std::vector<std::string> inputs = RandomInputs(before, dice);
  const auto wanted = kiln::Run(before, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  const absl::Status valid = Verify(after);
  ASSERT_TRUE(valid.ok()) << valid << "\n" << ToString(after);
  for (const uint64_t shuffle : {0, 1, 2}) {
    const auto got = kiln::Run(after, inputs, {.shuffle = shuffle});
    ASSERT_TRUE(got.ok()) << got.status() << "\n" << ToString(after);
    EXPECT_EQ(*wanted, *got) << ToString(after);
  }
}

}  // namespace kiln
