// Tests loop plans of two kernels for a GPU, which are written by hand: a tiled product with a pipeline of two stages
// (tests/lower/gpu/simt.txt), and a softmax that reduces over threads (tests/lower/gpu/softmax.txt). Each file has a
// program, which a schedule in this test makes, and its plan. The interpreter of plans must get the program's results
// in every order of threads, and must refuse the plan if one of its syncs is removed. Also tests which syncs, branches
// and asynchronous stores this interpreter refuses in small plans.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/program/scalar.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "test_paths.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"
#include "testing/softmax.h"
#include "tests/support/remove_sync.h"

namespace kiln {
namespace {

constexpr int kSeeds = 8;

struct Kernel {
  Program program;
  Schedule schedule;
  std::string text;  // of the scheduled program and its plan
  std::vector<std::string> inputs;
};

std::string ReadFile(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(absl::StrCat(KILN_SOURCE_DIR "/tests/lower/gpu/", name)).rdbuf();
  return text.str();
}

Kernel SimtKernel() {
  const Program program = Matmul(32, 24, 16);
  RandomDice dice(Engine{1});
  return {program, SimtMatmul(program), ReadFile("simt.txt"), RandomInputs(program, dice)};
}

// Returns a softmax whose exponentials are all 0 or 1, so that sums are exact in any order.
Kernel SoftmaxKernel() {
  const Program program = Softmax(3, 64);
  RandomDice dice(Engine{2});
  std::string x(3 * 64 * sizeof(float), '\0');
  for (int64_t at = 0; at < 3 * 64; ++at) {
    const float row = static_cast<float>(at / 64), value = dice.Flip(0.3) ? row : row - 200;
    StoreScalar(DType::kF32, {.f = value}, x.data() + at * sizeof(float));
  }
  return {program, SoftmaxOfRows(program), ReadFile("softmax.txt"), {x}};
}

plan::Planned Parsed(const Kernel& kernel) {
  const auto parsed = plan::ParsePlan(kernel.text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : plan::Planned();
}

void ExpectPlanOfTheSchedule(const Kernel& kernel) {
  ASSERT_TRUE(kernel.schedule.ok()) << kernel.schedule.status();
  Program program = kernel.schedule.program();
  DecomposeReductions(program);
  const plan::Planned planned = Parsed(kernel);
  EXPECT_EQ(ToString(planned.program), ToString(program));
  EXPECT_EQ(plan::Text(planned), kernel.text);
}

void ExpectSameResults(const Kernel& kernel) {
  const plan::Planned planned = Parsed(kernel);
  const auto wanted = kiln::Run(kernel.program, kernel.inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto found = RunPlan(planned.program, planned.plan, kernel.inputs, {.shuffle = seed});
    ASSERT_TRUE(found.ok()) << seed << ": " << found.status();
    EXPECT_EQ(*found, *wanted) << seed;
  }
}

// Expects that the loop plan that PlanKernels makes of the kernel's schedule has `syncs` syncs of warps, and computes
// the results of the kernel's program in all tried orders of threads.
void ExpectPlansTheSchedule(const Kernel& kernel, int syncs) {
  const auto planned = plan::PlanKernels(kernel.schedule.program());
  ASSERT_TRUE(planned.ok()) << planned.status();
  const std::string text = plan::Text(*planned);
  int found_syncs = 0;
  for (size_t at = text.find("sync warp"); at != std::string::npos; at = text.find("sync warp", at + 1))
    ++found_syncs;
  EXPECT_EQ(found_syncs, syncs) << text;
  const auto wanted = kiln::Run(kernel.program, kernel.inputs);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto found = RunPlan(planned->program, planned->plan, kernel.inputs, {.shuffle = seed});
    ASSERT_TRUE(found.ok()) << seed << ": " << found.status() << text;
    EXPECT_EQ(*found, *wanted) << seed;
  }
}

// Expects that the loop plan of the kernel fails in all tried orders of threads if any of its syncs is removed. Returns
// the number of syncs.
int ExpectAllSyncsAreNeeded(const Kernel& kernel) {
  const plan::Planned planned = Parsed(kernel);
  for (int sync = 0;; ++sync) {
    plan::LoopPlan plan = planned.plan;
    int number = sync;
    if (!RemoveSync(plan.entries[0].nodes, number)) return sync;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto found = RunPlan(planned.program, plan, kernel.inputs, {.shuffle = seed});
      EXPECT_FALSE(found.ok()) << "without sync " << sync << ", seed " << seed;
    }
  }
}

TEST(GpuPlans, SimtComputesTheProduct) {
  const Kernel kernel = SimtKernel();
  ExpectPlanOfTheSchedule(kernel);
  ExpectSameResults(kernel);
  EXPECT_EQ(ExpectAllSyncsAreNeeded(kernel), 2);
  ExpectPlansTheSchedule(kernel, 2);
}

TEST(GpuPlans, SoftmaxReducesOverThreads) {
  const Kernel kernel = SoftmaxKernel();
  ExpectPlanOfTheSchedule(kernel);
  ExpectSameResults(kernel);
  EXPECT_EQ(ExpectAllSyncsAreNeeded(kernel), 2);
  ExpectPlansTheSchedule(kernel, 2);
}

// PlanKernels refuses a pipelined loop whose only child is a block around two nests of threads. It inlines such blocks,
// and then the loop would have two children, but a pipeline stage for only one of them.
TEST(GpuPlans, RefuseABlockOfTwoNestsInAPipelinedLoop) {
  const auto program = ParseProgram(R"(kiln.program v1
program nested
parameters A, B
buffer A: i32[2, 8] input
buffer B: i32[2, 8] output
buffer S: i32[2, 8] temporary
for k < 2 pipelined (0 0) {
  block tile {
    spatial k < 2 = k
    for t < 8 thread-x { block put { spatial k < 2 = k  spatial i < 8 = t  S[k, i] = A[k, i] } }
    for t < 8 thread-x { block get { spatial k < 2 = k  spatial i < 8 = t  B[k, i] = S[k, i] } }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  const absl::Status status = plan::PlanKernels(*program).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "plans for GPUs do not have blocks of several nests in a pipelined loop yet");
}

// The beginning of a program with a loop plan. In it, 64 threads put a row of A into shared memory, and then get the
// elements of their neighbors: B[g, i] = S[g, i ^ 1]. The loop k repeats this. Each test appends the nodes of the
// plan's loop k.

constexpr char kSwap[] = R"(kiln.program v1
program swap
parameters A, B
buffer A: i32[2, 64] input
buffer B: i32[2, 64] output
buffer S: i32[2, 64] temporary shared/block

for g < 2 block-x {
  for k < 2 {
    for t < 64 thread-x {
      block put {
        spatial g < 2 = g
        spatial i < 64 = t
        S[g, i] = A[g, i]
      }
    }
    for u < 64 thread-x {
      block get {
        spatial g < 2 = g
        spatial i < 64 = u
        B[g, i] = S[g, i/2*2 - i%2 + 1]
      }
    }
  }
}

kiln.plan v1
entry swap {
  for g 2 axis block-x {
    for k 2 {
)";

// Runs the program `of` by its loop plan, with the given nodes in the plan's loop k. Returns the error of parsing or
// running the plan, "other results" if they differ from those of the program, and otherwise "".
std::string Fault(absl::string_view nodes, absl::string_view of = kSwap) {
  const auto parsed = plan::ParsePlan(absl::StrCat(of, nodes, "}}}"));
  if (!parsed.ok()) return std::string(parsed.status().message());
  RandomDice dice(Engine{3});
  const std::vector<std::string> inputs = RandomInputs(parsed->program, dice);
  const auto wanted = kiln::Run(parsed->program, inputs);
  EXPECT_TRUE(wanted.ok()) << wanted.status();
  const auto found = RunPlan(parsed->program, parsed->plan, inputs);
  return !found.ok() ? std::string(found.status().message()) : *found == *wanted ? "" : "other results";
}

constexpr char kPut[] = "for t 64 axis thread-x { put } ", kGet[] = "for u 64 axis thread-x { get } ";

TEST(PlanThreads, SeeWhatOthersWroteAfterASyncOnly) {
  const std::string sync = "sync block ";
  EXPECT_EQ(Fault(absl::StrCat(kPut, sync, kGet, sync)), "");
  EXPECT_EQ(Fault(absl::StrCat(kPut, kGet, sync)), "element 1 of S is read before it is written");
  // Without a sync at its end, the second iteration of loop k writes elements that other threads read in the first one.
  EXPECT_EQ(Fault(absl::StrCat(kPut, sync, kGet)),
            "element 0 of S is used by two threads, with no sync between them");
}

TEST(PlanThreads, OfAWarpMeetAlone) {
  EXPECT_EQ(Fault(absl::StrCat(kPut, "sync warp ", kGet, "sync warp ")), "");
  const std::string of_others = absl::StrReplaceAll(kSwap, {{"i/2*2 - i%2 + 1", "63 - i"}});
  EXPECT_EQ(Fault(absl::StrCat(kPut, "sync block ", kGet, "sync block "), of_others), "");
  EXPECT_EQ(Fault(absl::StrCat(kPut, "sync warp ", kGet, "sync block "), of_others),
            "element 63 of S is used by two threads, with no sync between them");
}

TEST(PlanThreads, ReachEachSyncTogether) {
  const auto fault = [](absl::string_view first, absl::string_view others) {
    return Fault(absl::StrCat("for t 5 axis thread-x { put ", first, "} for t 5..64 axis thread-x { put ",
                              others, "} sync block ", kGet, "sync block"));
  };
  EXPECT_EQ(fault("", ""), "");
  EXPECT_EQ(fault("sync block ", ""), "a sync of a block that 5 of 64 threads reach");
  EXPECT_EQ(fault("sync block ", "sync block "), "a sync of a block that 5 of 64 threads reach");
  EXPECT_EQ(Fault(absl::StrCat("for t 64 axis thread-x { put sync block } ", kGet, "sync block")), "");
}

TEST(PlanThreads, DoNotReachASyncInADivergentBranch) {
  const std::string some = absl::StrReplaceAll(
      kSwap, {{"spatial i < 64 = t", "spatial i < 64 = t\n  spatial j < 60 = t"},
              {"spatial i < 64 = u", "spatial i < 64 = u\n  spatial j < 60 = u"},
              {"kiln.plan v1", "kiln.plan v1\ncondition c0: 0 <= t < 60\ncondition c1: 0 <= u < 60"}});
  EXPECT_EQ(Fault("for t 64 axis thread-x { if c0 { put } }   sync block "
                  "for u 64 axis thread-x { if c1 { get } }   sync block",
                  some),
            "");
  EXPECT_EQ(Fault("for t 64 axis thread-x { if c0 { put       sync block } }"
                  "for u 64 axis thread-x { if c1 { get } }   sync block",
                  some),
            "a sync of a block that 60 of 64 threads reach");
}

// Checks that threads may read the elements of an asynchronous store only after a sync that waits for its group. Plans
// are refused in which the sync waits for no group, or leaves this group under way.
TEST(PlanThreads, WaitForTheirCopies) {
  constexpr char kCopy[] = "for t 64 axis thread-x { put stores async } commit ";
  EXPECT_EQ(Fault(absl::StrCat(kCopy, "sync block groups 0 ", kGet, "sync block ")), "");
  EXPECT_EQ(Fault(absl::StrCat(kCopy, "sync block ", kGet, "sync block ")),
            "element 1 of S is used before a flush or a wait for its store");
  EXPECT_EQ(Fault(absl::StrCat(kCopy, "commit sync block groups 1 ", kGet, "sync block ")), "");
  EXPECT_EQ(Fault(absl::StrCat(kCopy, "sync block groups 1 ", kGet, "sync block ")),
            "element 1 of S is used before a flush or a wait for its store");
}

TEST(PlanThreads, HaveTheirOwnRegisters) {
  const std::string own = absl::StrReplaceAll(kSwap, {{"shared/block", "register/thread"}});
  EXPECT_EQ(Fault(absl::StrCat(kPut, "sync block ", kGet, "sync block "), own),
            "element 1 of S is read before it is written");
}

}  // namespace
}  // namespace kiln
