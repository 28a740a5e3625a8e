// Tests that each policy has an effect: for each, an example file whose task, model, sketches or generated code changes
// when the policy is switched.
#include "lang/target/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "backends/builder/build.h"
#include "backends/builder/compile.h"
#include "backends/codegen/context.h"
#include "backends/cpu/targets.h"
#include "backends/import/import.h"
#include "lang/graph/outline.h"
#include "lang/graph/simplify_model.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "search/propose/prefilter.h"
#include "search/sampler/chain.h"
#include "test_paths.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/support/run_kiln.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

enum Changes { kTask, kModel, kSketches, kMlir, kLlvm };

struct Example {
  Policy policy;
  Changes changes;
  const char* file;  // path from the root of the sources
  const char* machine = "x86-64-v3";
  int draws = 20;          // traces drawn from the space until the code of one differs
  const char* space = "";  // empty: the default space
};

const Example kExamples[] = {
    {Policy::kMergeDims, kTask, "tests/inputs/ops/torch_conv2d_nchw_1x1.mlir"},
    {Policy::kForwardCopies, kTask, "tests/inputs/ops/jax_conv2d_group4.mlir"},
    {Policy::kDensifyStridedReads, kTask, "bench/operators/RL9.mlir"},
    {Policy::kSkipZeros, kSketches, "tests/inputs/ops/torch_conv2d_transposed.mlir"},
    {Policy::kDropPaddedTerms, kSketches, "tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir"},
    {Policy::kNonTemporalStores, kSketches, "bench/operators/SFM3.mlir"},
    {Policy::kRowBlocking, kSketches, "tests/inputs/ops/torch_softmax.mlir"},
    {Policy::kVectorizeRows, kSketches, "tests/inputs/ops/torch_softmax.mlir"},
    {Policy::kVectorAxis, kSketches, "bench/operators/C6.mlir"},
    {Policy::kGroupedLanes, kSketches, "bench/operators/GRPF0.mlir"},
    {Policy::kNchwcLayout, kSketches, "bench/operators/R3.mlir", "x86-64-v3", 20,
     "each-block(auto-inline | nchwc-layout)"},
    {Policy::kRfactorLanes, kSketches, "tests/inputs/ops/torch_matvec_4096.mlir"},
    {Policy::kPaddedPairs, kSketches, "bench/operators/MM_197x769x1023.mlir"},
    {Policy::kInnermostWindow, kSketches, "bench/operators/RL23.mlir"},
    {Policy::kInlinedConstants, kSketches, "bench/operators/T2DF0.mlir"},
    {Policy::kTransposingTiles, kSketches, "bench/operators/R20.mlir"},
    {Policy::kDroppableTerms, kMlir, "bench/operators/RL23.mlir"},
    {Policy::kBoundaryVersions, kMlir, "bench/operators/RL23.mlir"},
    {Policy::kShortLoops, kMlir, "tests/inputs/ops/torch_conv2d_depthwise.mlir"},
    {Policy::kPrefetchStreams, kMlir, "bench/operators/SFM3.mlir"},
    {Policy::kPrefetchResults, kMlir, "tests/inputs/ops/torch_matmul_1024.mlir"},
    {Policy::kPrefetchPanels, kMlir, "tests/inputs/ops/torch_matmul_1024.mlir"},
    {Policy::kTransposedStores, kMlir, "bench/operators/R20.mlir"},
    {Policy::kWholeVectors, kMlir, "bench/operators/MM_128x3072x768.mlir"},
    {Policy::kRematerializedLoads, kMlir, "tests/inputs/ops/torch_matmul_1024.mlir"},
    {Policy::kShortExtrema, kLlvm, "tests/inputs/ops/torch_softmax.mlir"},
    {Policy::kPowerTables, kLlvm, "tests/inputs/ops/torch_softmax.mlir", "x86-64-v4"},
    {Policy::kShareStorage, kMlir, "tests/inputs/ops/torch_softmax.mlir"},
    {Policy::kFirstIteration, kMlir, "tests/inputs/ops/torch_matmul_1024.mlir"},
    {Policy::kGuards, kMlir, "bench/operators/MM_197x769x1023.mlir"},
    {Policy::kPrefetchNests, kMlir, "bench/operators/RL9.mlir"},
    {Policy::kFoldAffine, kModel, "tests/inputs/models/torch_resnet18.mlir"},
    {Policy::kAssumeNumbers, kModel, "tests/inputs/models/onnx_mobilenet_v2.mlir"},
    {Policy::kNarrowVariances, kModel, "tests/inputs/ops/torch_layernorm.mlir"},
    {Policy::kChannelsLast, kModel, "tests/inputs/models/onnx_dqn.mlir"},
};

const Program& Imported(const std::string& file) {
  static std::map<std::string, Program> programs;
  if (!programs.contains(file)) {
    auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/", file));
    EXPECT_TRUE(imported.ok()) << imported.status();
    programs[file] = imported.ok() ? std::move(imported->program) : Program();
  }
  return programs[file];
}

Program TaskOf(const Example& example, const Policies& policies = {}) {
  return ExtractTasks(Imported(example.file), policies).value().front().program;
}

// Imports the example's file with its first argument as the only input, so that the others are constants, and returns
// the program after SimplifyModel with these policies.
Program ModelOf(const Example& example, const Policies& policies = {}) {
  ImportOptions options;
  options.inputs = {"1"};
  auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/", example.file), options);
  EXPECT_TRUE(imported.ok()) << imported.status();
  SimplifyModel(imported->program, policies);
  return imported->program;
}

Enumeration SketchesOf(const Example& example, const Program& task, const Target& target) {
  const std::string space = *example.space == '\0' ? DefaultSpace(target) : example.space;
  return Enumerate(ParseSpace(space).value(), task, target).value();
}

// Returns, as text to compare, the traces of all sketches of the example's task under these policies, each with its
// program.
std::string TextOfSketches(const Example& example, const Policies& policies) {
  const Program task = TaskOf(example);
  Target target = NamedTarget(example.machine).value();
  target.policies = policies;
  std::string text;
  for (const Sketch& sketch : SketchesOf(example, task, target).sketches)
    absl::StrAppend(&text, Print(sketch.trace),
                    ToString(Replay(sketch.trace, task, target).value().program()));
  return text;
}

// Draws scheduled programs of an example's task, and compiles them to MLIR or LLVM IR under given policies.
class Code {
 public:
  explicit Code(const Example& example) : example_(example) {
    space_.original = TaskOf(example);
    space_.target = NamedTarget(example.machine).value();
    space_.make_prefilter = [this] { return MakePrefilter(space_.target); };
    for (const Sketch& sketch : SketchesOf(example, space_.original, space_.target).sketches)
      space_.sketches.push_back(sketch.trace);
    prefilter_ = space_.make_prefilter();
    machine_ = Named(space_.target.triple, space_.target.cpu).value();
    machine_.l2_bytes = space_.target.l2_bytes;
    codegen_ = Codegen::Create(machine_).value();
  }

  Program Draw(uint64_t seed) {
    RandomDice dice(Engine{seed});
    while (true) {
      absl::StatusOr<Point> point = DrawPoint(space_, prefilter_, dice);
      if (point.ok()) return point->replayed.program();
    }
  }

  std::string Of(const Program& program, const Policies& policies) {
    LowerOptions lowering = LoweringFor(machine_);
    lowering.policies = policies;
    auto module = Lower(program, Context(), lowering).value();
    CodegenOptions generating = CodegenFor(program);
    generating.policies = policies;
    const Stage stage = example_.changes == kMlir ? Stage::kMlir : Stage::kOptimized;
    return codegen_->Text(*module, generating, stage).value();
  }

 private:
  const Example& example_;
  SearchSpace space_;
  Prefilter prefilter_;
  MachineTarget machine_;
  std::unique_ptr<Codegen> codegen_;
};

bool ChangesCode(const Example& example, const Policies& without) {
  Code code(example);
  for (int draw = 0; draw < example.draws; ++draw) {
    const Program program = code.Draw(static_cast<uint64_t>(draw));
    if (code.Of(program, {}) != code.Of(program, without)) return true;
  }
  return false;
}

bool IsChanged(const Example& example) {
  Policies without;
  without.Switch(example.policy);
  switch (example.changes) {
    case kTask:
      return ToString(TaskOf(example)) != ToString(TaskOf(example, without));
    case kModel:
      return ToString(ModelOf(example)) != ToString(ModelOf(example, without));
    case kSketches:
      return TextOfSketches(example, {}) != TextOfSketches(example, without);
    default:
      return ChangesCode(example, without);
  }
}

TEST(PolicyExamples, EachPolicyChangesItsOwn) {
  ASSERT_EQ(std::size(kExamples), PolicyRows().size());
  for (size_t i = 0; i < std::size(kExamples); ++i) {
    ASSERT_EQ(kExamples[i].policy, PolicyRows()[i].policy);
    EXPECT_TRUE(IsChanged(kExamples[i]))
        << PolicyRows()[i].name << " changes nothing of " << kExamples[i].file;
  }
}

// Returns a product with its loop over k unrolled 40 times, so that the loop around loads more values than there are
// registers.
Program RowsWrittenOut() {
  Schedule s = Scheduled(Matmul(3, 4, 40));
  s.Unroll(s.GetLoops(s.GetBlock("matmul"))[2]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(Build, TwoSettingsOfPoliciesGiveTwoObjectsAndTwoKeys) {
  const TemporaryFolder folder;
  BuildRequest request{.program = Serialize(RowsWrittenOut()), .object_folder = folder.path()};
  const BuildResult usual = Build(request);
  request.policies = Policies::Without("rematerialized-loads").value();
  const BuildResult without = Build(request), again = Build(request);
  ASSERT_TRUE(usual.ok() && without.ok()) << usual.error << without.error;
  EXPECT_NE(usual.outputs, without.outputs);
  EXPECT_FALSE(without.from_folder);
  EXPECT_TRUE(again.from_folder);
  EXPECT_EQ(again.outputs, without.outputs);
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
}

TEST(BuildRequest, CarriesPolicies) {
  const BuildRequest request{.policies = Policies::Without("short-loops").value()};
  BuildRequest back;
  ASSERT_TRUE(Decode(Encode(request), &back));
  EXPECT_EQ(back.policies, request.policies);
}

}  // namespace
}  // namespace kiln
