// Random programs under random steps of every primitive, compiled where the validator lets them pass: the
// bits that the interpreter computes. A failure prints the seed, the steps and the program.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lang/interpreter.h"
#include "lang/text.h"
#include "tests/backends/run_program.h"
#include "tests/support/random_program.h"
#include "tests/support/random_steps.h"
#include "validator/validate.h"

namespace kiln {
namespace {

constexpr uint64_t kSeeds = 120;
constexpr size_t kParameters = 6;  // that a call here passes

struct Case {
  State state;
  std::string steps;
  std::vector<std::string> inputs, wanted;
};

// Nothing if the program has too many parameters.
std::optional<Case> MakeCase(uint64_t seed) {
  RandomDice dice(Engine({seed, 78}));
  Case c;
  c.state.program = RandomProgram(dice);
  if (c.state.program.parameters.size() > kParameters) return std::nullopt;
  c.inputs = RandomInputs(c.state.program, dice);
  c.wanted = Run(c.state.program, c.inputs).value();
  for (int tries = 0; tries < 30; ++tries) {
    RefreshHandles(c.state);
    const Step step = RandomStep(c.state, {}, false, dice);
    if (absl::string_view(step.primitive->name) == "bind") continue;  // to what a CPU lacks
    if (Run(c.state, Target(), step, 0, nullptr, nullptr, nullptr).ok())
      absl::StrAppend(&c.steps, ToString(step), "\n");
  }
  return c;
}

TEST(Lower, CompiledProgramsAgreeWithTheInterpreterUnderRandomSteps) {
  int ran = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::optional<Case> c = MakeCase(seed);
    if (!c.has_value()) continue;
    const Program& p = c->state.program;
    const std::string told = absl::StrCat("seed ", seed, "\n", c->steps, ToString(p));
    if (!Validate(p, Target()).ok) continue;
    const auto loaded = BuildProgram(p);
    if (absl::IsFailedPrecondition(loaded.status())) continue;  // storages of a GPU
    ASSERT_TRUE(loaded.ok()) << loaded.status() << "\n" << told;
    std::vector<Array<char>> buffers;
    std::vector<void*> arguments;
    size_t input = 0;
    for (const Id parameter : p.parameters) {
      const bool output = p.buffers[parameter].role == Role::kOutput;
      buffers.emplace_back(BytesOf(p, parameter));
      if (!output) std::memcpy(buffers.back().data(), c->inputs[input].data(), c->inputs[input].size());
      input += output ? 0 : 1;
    }
    for (Array<char>& buffer : buffers) arguments.push_back(buffer.data());
    ASSERT_EQ(CallKernel(*loaded, p.name, arguments), 0);
    size_t output = 0;
    for (size_t i = 0; i < p.parameters.size(); ++i) {
      if (p.buffers[p.parameters[i]].role != Role::kOutput) continue;
      const std::string& wanted = c->wanted[output++];
      ASSERT_EQ(std::memcmp(buffers[i].data(), wanted.data(), wanted.size()), 0) << told;
    }
    ++ran;
  }
  EXPECT_GT(ran, static_cast<int>(kSeeds) / 8);
}

}  // namespace
}  // namespace kiln
