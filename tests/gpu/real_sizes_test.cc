// Draws schedules from the space `cuda`. Those for operators of papers at their real sizes are proven equal to the
// original. Those for a few small operators and for random programs are compiled and run in three modes of the
// emulator. With `--gtest_repeat=N`, each repetition draws others. bench/gpu/real_sizes.py searches all operators.
#include <gtest/gtest.h>

#include <iostream>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/targets.h"
#include "backends/import/import.h"
#include "backends/measure/static_machine.h"
#include "backends/prove/presburger.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/graph/outline.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "test_paths.h"
#include "testing/drawn_seed.h"
#include "testing/random_program.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/proof/proof.h"
#include "validator/validate.h"

namespace kiln {
namespace {

constexpr int kTries = 20;
constexpr double kAnyNumber = std::numeric_limits<double>::infinity();
constexpr double kEasily = 2e6;  // instances; the emulator takes up to 7 us for one in all modes

// The names of 57 files of bench/operators: the operators of MetaSchedule's evaluation at four sizes each, dense layers
// with GELU, and layer norms.
constexpr char kPaperShapes[] =
    "C1D0 C1D1 C1D2 C1D3 C2D0 C2D1 C2D2 C2D3 C3D0 C3D1 C3D2 C3D3 DEP0 DEP1 DEP2 DEP3 DIL0 DIL1 DIL2 DIL3 "
    "GRP0 GRP1 GRP2 GRP3 T2D0 T2D1 T2D2 T2D3 CAP0 CAP1 CAP2 CAP3 CBR0 CBR1 CBR2 CBR3 GMM0 GMM1 GMM2 GMM3 "
    "TBG0 TBG1 TBG2 TBG3 NRM0 NRM1 NRM2 NRM3 SFM0 SFM1 SFM2 SFM3 FDN0 FDN1 LN0 LN1 LN2";

std::vector<std::string> ShapesOfPapers() { return absl::StrSplit(kPaperShapes, ' '); }

Program OperatorOf(const std::string& name) {
  auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/bench/operators/", name, ".mlir"));
  EXPECT_TRUE(imported.ok()) << imported.status();
  auto tasks = ExtractTasks(imported->program);
  EXPECT_TRUE(tasks.ok()) << tasks.status();
  EXPECT_EQ(tasks->size(), 1) << name;
  return std::move(tasks->front().program);
}

TEST(RealSizes, NamesTheShapesOfThePapers) {
  EXPECT_EQ(ShapesOfPapers().size(), 57);
  for (const std::string& name : ShapesOfPapers()) EXPECT_GT(Flops(OperatorOf(name)), 5e4) << name;
}

// Returns an upper bound on the number of instances of a program: the sum over its blocks of the product of the extents
// of the loops around the block.
double Instances(const Program& p) {
  double instances = 0;
  for (const Id block : Blocks(p)) {
    double of_block = 1;
    for (const Id loop : LoopsAround(p, block))
      of_block *= static_cast<double>(p.loop(loop).extent.UpperBound());
    instances += of_block;
  }
  return instances;
}

// A schedule that was drawn: its trace with decisions, the scheduled program, and the program that it must be equal to.
// DrawFrom returns nothing if none of 20 draws is valid and has at most `most` instances.
struct Draw {
  Program program, reference;
  std::string trace;
};
std::optional<Draw> DrawFrom(const Program& original, const Target& target, Dice& dice,
                             double most = kAnyNumber) {
  const auto sketches = Enumerate(*ParseSpace("cuda"), original, target);
  EXPECT_TRUE(sketches.ok()) << sketches.status();
  const auto count = static_cast<int64_t>(sketches.ok() ? sketches->sketches.size() : 0);
  for (int tries = 0; tries < kTries && count > 0; ++tries) {
    RandomChooser chooser(dice);
    const auto replayed = Replay(sketches->sketches[dice.Below(count)].trace, original, target, chooser);
    if (replayed.ok() && Validate(replayed->program(), target).ok && Instances(replayed->program()) <= most)
      return Draw{replayed->program(), replayed->state.Reference(original), Print(WithDecisions(*replayed))};
  }
  return std::nullopt;
}

// Draws a schedule for an A100 or an H100, runs it in the emulator, and expects the right results. Returns false if
// DrawFrom returns nothing, or if the kernel spills registers or has a stack, which the validator cannot predict.
bool RunsOnGpu(const Program& original, Dice& dice, double most = kAnyNumber) {
  const Target target = NamedTarget(dice.Flip(0.5) ? "a100" : "h100").value();
  const std::optional<Draw> draw = DrawFrom(original, target, dice, most);
  if (!draw) return false;
  auto machine = StaticMachine::Start(target, {.emulation_seconds = 120});
  EXPECT_TRUE(machine.ok()) << machine.status();
  if (!machine.ok()) return false;
  const MeasureResult result = (*machine)->Race({{.original = &original, .scheduled = &draw->program}})[0];
  if (result.status == outcome::kBuildFailed &&
      (absl::StrContains(result.error, "spills") || absl::StrContains(result.error, "stack")))
    return false;
  EXPECT_TRUE(result.ok() && result.verified)
      << target.gpu->name << ": " << result.status << ": " << result.error << "\n"
      << ToString(original) << draw->trace;
  return result.ok();
}

TEST(RealSizes, SchedulesOfOperatorsAreProven) {
  RandomDice dice(Engine{DrawnSeed()});
  for (const std::string& name : ShapesOfPapers()) {
    const Program original = OperatorOf(name);
    const Target target = NamedTarget(dice.Flip(0.5) ? "a100" : "h100").value();
    const std::optional<Draw> draw = DrawFrom(original, target, dice);
    ASSERT_TRUE(draw.has_value()) << name;
    proof::PresburgerProver prover;
    const Proof proof = Prove(draw->reference, draw->program,
                              {.prover = &prover, .limit = absl::Seconds(30), .most_instances = 0});
    EXPECT_EQ(ToString(proof.verdict), "proven")
        << name << ", " << target.gpu->name << ": " << proof.reason << "\n"
        << draw->trace;
  }
}

TEST(RealSizes, OperatorsRunInAllModes) {
  RandomDice dice(Engine{DrawnSeed()});
  int ran = 0;
  const std::vector<std::string> shapes = ShapesOfPapers();
  for (int draws = 0; draws < 4;) {
    const std::string& name = shapes[dice.Below(std::ssize(shapes))];
    const Program original = OperatorOf(name);
    if (Flops(original) > 1e8) continue;  // the CPU takes seconds for those
    SCOPED_TRACE(name);
    ran += RunsOnGpu(original, dice);
    ++draws;
  }
  EXPECT_GE(ran, 3);
}

TEST(RealSizes, RandomProgramsRunInAllModes) {
  RandomDice dice(Engine{DrawnSeed()});
  int ran = 0;
  for (int draws = 0; draws < 8;) {
    const Program original = RandomProgram(dice, {.once = true, .types = true, .large = true});
    if (Instances(original) > kEasily) continue;
    ran += RunsOnGpu(original, dice, kEasily);
    ++draws;
  }
  EXPECT_GE(ran, 4);
}

}  // namespace
}  // namespace kiln
