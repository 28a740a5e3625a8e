// Tests that the text of loop plans parses (backends/lower/text/loop_plan_parse.h), and the errors for other
// texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"
#include "tests/support/random_steps.h"
#include "tests/support/repeats.h"
#include "validator/validate.h"

namespace kiln {
namespace {

constexpr char kRow[] = R"(kiln.program v1
program row
parameters A, B
buffer A: f32[57] input
buffer B: f32[57] output

for a < 3 {
  for b < 20 unrolled {
    block copy {
      spatial i < 57 = a*20 + b
      B[i] = A[i]
    }
  }
}

kiln.plan v1
condition c0: 0 <= a*20 + b < 57
buffer A: 57 elements, parameter
buffer B: 57 elements, parameter
entry row {
  for a 3 {
    if c0 {
      for b 20 unrolled {
        copy
      }
    } else {
      for b 20 trim c0 decided c0 once {
        copy
      }
    }
  }
}
)";

TEST(PlanText, OfAParsedTextIsThatText) {
  const auto parsed = plan::ParsePlan(kRow);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(plan::Text(*parsed), kRow);
}

// Parses a plan with every kind of node in the grammar, and expects that it prints as the same text.
TEST(PlanText, HasAllNodes) {
  const std::string text =
      absl::StrCat(std::string(kRow, std::strstr(kRow, "entry") - kRow), R"(entry "first" prepare {
  for a 3 threads {
    switch c0 {
      all {
        for b 1..5 unrolled {
          copy start fast asks c0 stores plain stream transposed 3
        }
      }
      -3 {
        copy combine
      }
    }
    first over a b {
    } {
      if c0 {
      } else decided {
        flush 3
      }
    }
    for a one {
    }
    for a 1 steps 3 trim c0 decided c0 once role 2 {
      for b 20 lanes 8 {
        call "a b" a asks c0 {
          fence
        }
      }
    }
    for b 20 axis thread-y {
      sync warp
      call dot a
      prefetch write B[a*20 + 7] over a one b 20 lines 2 locality 0
      prefetch A[b] lines 1 locality 3
    }
  }
}
)");
  const auto parsed = plan::ParsePlan(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(plan::Text(*parsed), text);
}

TEST(PlanText, SaysWhereItIsWrong) {
  const auto wrong = [](absl::string_view found, absl::string_view instead) {
    const std::string text = absl::StrReplaceAll(kRow, {{found, instead}});
    return std::string(plan::ParsePlan(text).status().message());
  };
  EXPECT_EQ(wrong("for a 3 {\n    if", "for x 3 {\n    if"),
            "21:7: found \"x\", wanted a loop of the program");
  EXPECT_EQ(wrong("for a 3 {\n    if", "for a 4 {\n    if"), "21:9: the loop has the iterations 0..3");
  EXPECT_EQ(wrong("if c0", "if c1"), "22:8: there is no condition c1");
  EXPECT_EQ(wrong("if c0", "if a"), "22:8: found \"a\", wanted a condition such as c0");
  EXPECT_EQ(wrong("< 57\nbuffer", "< 58\nbuffer"),
            "17:11: the program has no such condition; it has 0 <= a*20 + b < 57");
  EXPECT_EQ(wrong("condition c0: 0 <= a*20 + b < 57\n", ""),
            "17:1: found \"buffer\", wanted the program's condition c0: 0 <= a*20 + b < 57");
  EXPECT_EQ(wrong("buffer A: 57 elements", "buffer C: 57 elements"), "18:8: no buffer is called \"C\"");
  EXPECT_EQ(wrong("elements, parameter", "elements, drum"),
            "18:24: found \"drum\", wanted parameter, global, alloca, heap, shared or workspace");
  EXPECT_EQ(wrong("kiln.plan v1", ""), "17:1: found \"condition\", wanted \"for\" or \"block\"");
}

// Plans random programs. After each pass, the text of the plan must parse, print as the same text, and compute the same
// results.
TEST(PlanText, OfRandomProgramsParses) {
  int planned = 0;
  for (uint64_t seed = 1; seed <= Repeats(1000); ++seed) {
    RandomDice dice(Engine({seed, 80}));
    State state;
    state.program = RandomProgram(dice, {.types = true});
    const std::vector<std::string> inputs = RandomInputs(state.program, dice);
    const auto wanted = kiln::Run(state.program, inputs);
    TryRandomSteps(state, 20, dice);
    if (!Validate(state.program, Target()).ok) continue;
    ++planned;
    std::vector<std::pair<std::string, std::string>> plans;
    const plan::Planned made =
        plan::PlanLoops(state.program, {.stream_bytes = 64},
                        [&](absl::string_view pass, absl::FunctionRef<std::string()> text) {
                          plans.emplace_back(pass, text());
                        });
    for (const auto& [pass, text] : plans) {
      if (!text.starts_with("kiln.plan")) continue;
      const std::string whole = absl::StrCat(ToString(made.program), "\n", text);
      const auto parsed = plan::ParsePlan(whole);
      ASSERT_TRUE(parsed.ok()) << seed << " " << pass << ": " << parsed.status() << "\n" << whole;
      ASSERT_EQ(plan::Text(*parsed), whole) << seed << " " << pass;
      const auto got = RunPlan(parsed->program, parsed->plan, inputs, {.shuffle = seed});
      ASSERT_TRUE(got.ok()) << seed << " " << pass << ": " << got.status() << "\n" << whole;
      ASSERT_EQ(*got, *wanted) << seed << " " << pass << "\n" << whole;
    }
  }
  EXPECT_GT(planned, Repeats(200));
}

}  // namespace
}  // namespace kiln
