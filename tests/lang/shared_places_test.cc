// Tests which buffers lie one after the other in the same part of shared memory (lang/threads/shared_places.h), and
// that thread clocks (testing/threads/thread_clocks.h) find plans in which two such buffers are in use at once.
#include "lang/threads/shared_places.h"

#include "gmock/gmock.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "testing/stages.h"
#include "testing/threads/thread_clocks.h"
#include "tests/support/sync_plan_of.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns the names of the buffers in `places`, such as "S U | T": a blank between buffers with the same memory, a bar
// between others.
std::string TextOf(const Program& p, const std::vector<SharedPlace>& places) {
  std::string text;
  for (const SharedPlace& at : places) {
    if (!text.empty()) text += (&at)[-1].place == at.place ? " " : " | ";
    absl::StrAppend(&text, p.Text(p.buffers[at.buffer].name));
  }
  return text;
}

Program Parsed(const std::string& text) {
  const absl::StatusOr<Program> p = ParseProgram(text);
  EXPECT_TRUE(p.ok()) << p.status();
  return *p;
}

TEST(SharedPlaces, ABufferFollowsOneThatIsUsedNoMore) {
  const Program p = InStages(Stages(4, 64), 64).program();
  const SyncPlan plan = PlanOf(p);
  EXPECT_EQ(TextOf(p, plan.places), "S U");  // T is read where U is written
  EXPECT_EQ(CheckThreadClocks(p, plan), absl::OkStatus());
}

// S and U do not get the same memory where threads would have to wait for this: here each thread reads only what it
// wrote, so that the plan has no points.
TEST(SharedPlaces, NoPointIsAddedForThem) {
  const Program p = Parsed(R"(kiln.program v1
program own
parameters A, C
buffer A: f32[64] input
buffer C: f32[64] output
buffer S: f32[64] temporary shared/block
buffer T: f32[64] temporary
buffer U: f32[64] temporary shared/block

for b < 2 block-x {
  for t < 32 thread-x { block a { spatial i < 64 = b*32 + t  S[i] = A[i] } }
  for t < 32 thread-x { block b { spatial i < 64 = b*32 + t  T[i] = S[i] } }
  for t < 32 thread-x { block c { spatial i < 64 = b*32 + t  U[i] = T[i] } }
  for t < 32 thread-x { block d { spatial i < 64 = b*32 + t  C[i] = U[i] } }
}
)");
  const SyncPlan plan = PlanOf(p);
  EXPECT_TRUE(plan.points.empty());
  EXPECT_TRUE(plan.places.empty());
}

TEST(SharedPlaces, StagesOfALoopComeBack) {
  Schedule s = InStages(Stages(4, 64), 64);
  Program p = s.program();
  for (LoopNode& loop : p.loops)
    if (loop.kind == LoopKind::kBlockX) loop.kind = LoopKind::kSerial;
  EXPECT_TRUE(PlanOf(p).places.empty());
}

TEST(ThreadClocks, JudgeBuffersInOnePlace) {
  const Program p = InStages(Stages(4, 64), 64).program();
  const SyncPlan plan = PlanOf(p);
  ASSERT_EQ(plan.places.size(), 2u);
  SyncPlan overlapping = plan;  // T lies where S is read
  overlapping.places.push_back({plan.places[0].buffer + 1, plan.places[0].place});
  EXPECT_EQ(p.Text(p.buffers[overlapping.places.back().buffer].name), "T");
  EXPECT_THAT(std::string(CheckThreadClocks(p, overlapping).message()),
              HasSubstr("users of another buffer race: they use element"));
}

}  // namespace
}  // namespace kiln
