#include "gmock/gmock.h"
#include "lang/reference/interpreter.h"
#include "lang/reference/symbolic.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Makes the schedule for k: { S[k, :] = A[k, :];  C[:] += S[k, :] }, and returns the loop k.
Loop Feed(Schedule& s) {
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({loops[1], loops[0]});
  s.ComputeAt(s.GetBlock("load"), loops[1]);
  return loops[1];
}

Program Pipelined(const PipelineOptions& options) {
  Schedule s = Scheduled(Fed());
  s.Pipeline(Feed(s), options);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Returns the program T[i] = A[i];  U[i] = T[i - back] (0 outside);  V[i] = T[i], of 8 elements.
Program Twice(int64_t back) {
  Builder b("twice");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {8});
  const Id U = b.Output("U", DType::kF32, {8}), V = b.Output("V", DType::kF32, {8});
  const IndexSum i = b.Iter(0);
  IndexSum before = i;
  before.offset = -back;
  b.Compute("make", {{"i", 8}}, {T, {i}}, b.Load(A, {i}));
  b.Compute("first", {{"i", 8}}, {U, {i}},
            b.Within({{before, 8}}, b.Load(T, {before}), b.Float(DType::kF32, 0)));
  b.Compute("second", {{"i", 8}}, {V, {i}}, b.Load(T, {i}));
  return b.Finish();
}

constexpr PipelineOrder kOrders[] = {PipelineOrder::kInTurn, PipelineOrder::kEager, PipelineOrder::kLate,
                                     PipelineOrder::kRandom};

TEST(Pipeline, PrintsStagesAndRingsWhichParse) {
  const Program p = Pipelined({.stages = {0, 2}, .depths = {4}, .transport = "async", .producers = {0}});
  const std::string text = ToString(p);
  EXPECT_THAT(text, HasSubstr("for k < 6 pipelined (0 0 producer, 2 1; S 4 async) {"));
  const absl::StatusOr<Program> parsed = ParseProgram(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ToString(*parsed), text);
  EXPECT_TRUE(Equal(*parsed, p));
  EXPECT_TRUE(Equal(*Deserialize(Serialize(p)), p));
}

TEST(Pipeline, TellsProgramsApartByEachOfItsNumbers) {
  const Program p = Pipelined({.stages = {0, 1}, .depths = {3}});
  for (const PipelineOptions& other :
       {PipelineOptions{.stages = {0, 2}, .depths = {3}}, PipelineOptions{.stages = {0, 1}, .depths = {2}},
        PipelineOptions{.stages = {0, 1}, .order = {1, 0}, .depths = {3}},
        PipelineOptions{.stages = {0, 1}, .depths = {3}, .transport = "bulk"},
        PipelineOptions{.stages = {0, 1}, .depths = {3}, .producers = {0}}})
    EXPECT_FALSE(Equal(p, Pipelined(other)));
}

TEST(Pipeline, StagesAndDepthsFollowFromWhatIsRead) {
  EXPECT_THAT(ToString(Pipelined({})), HasSubstr("pipelined (0 0, 1 1; S 2 sync)"));
}

TEST(Pipeline, GivesTheSameInEveryOrder) {
  const SymbolicOutputs wanted = *RunSymbolic(Fed());
  std::vector<float> a;
  for (int i = 0; i < 48; ++i) a.push_back(static_cast<float>(i % 7));
  const auto result = kiln::Run(Fed(), {BytesOfValues(a)});
  for (const int64_t depth : {3, 5}) {
    const Program p = Pipelined({.stages = {0, 2}, .depths = {depth}});
    for (const PipelineOrder order : kOrders) {
      EXPECT_TRUE(CheckSymbolic(p, wanted, {.shuffle = 7, .pipelines = order}).ok());
      const auto found = kiln::Run(p, {BytesOfValues(a)}, {.shuffle = 7, .pipelines = order});
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(*found, *result);
    }
  }
}

TEST(Pipeline, TakesLoopsWhoseIterationsAreCutOff) {
  Schedule s = Scheduled(Fed());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({loops[1], loops[0]});
  const Loop inner = s.Split(loops[1], {kAuto, 4})[1];
  s.ComputeAt(s.GetBlock("load"), inner);
  s.Pipeline(inner);
  ASSERT_TRUE(s.ok()) << s.status();
  for (const PipelineOrder order : kOrders)
    EXPECT_TRUE(CheckSymbolic(s.program(), *RunSymbolic(Fed()), {.pipelines = order}).ok());
}

TEST(Pipeline, TakesReadsThatReachOutOfABufferThatIsMadeWhole) {
  Builder b("window");
  const Id A = b.Input("A", DType::kF32, {2}), T = b.Temporary("T", DType::kF32, {2}),
           C = b.Output("C", DType::kF32, {2});
  const IndexSum at = b.Iter(0) + b.Iter(1);
  b.Compute("make", {{"i", 2}}, {T, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Reduce("sum", {{"i", 2}, {"k", 2, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {b.Iter(0)}},
           b.Within({{at, 2}}, b.Load(T, {at}), b.Float(DType::kF32, 0)));
  const Program before = b.Finish();
  Schedule s = Scheduled(before);
  const Loop i = s.GetLoops(s.GetBlock("sum"))[0];
  s.ComputeAt(s.GetBlock("make"), i);
  s.Pipeline(i);
  ASSERT_TRUE(s.ok()) << s.status();
  for (const PipelineOrder order : kOrders)
    EXPECT_TRUE(CheckSymbolic(s.program(), *RunSymbolic(before), {.pipelines = order}).ok());
}

TEST(Pipeline, IsRefusedWhereEachIterationMakesALittleFromTheEndOn) {
  // Refuses to pipeline a loop that writes one element of T in each iteration, from the last on, and reads the one that
  // the iteration before wrote:
  //    for i < 8: { T[7 - i] = A[i];  U[i] = i > 0 ? T[8 - i] : 0 }
  Builder b("down");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {8}),
           U = b.Output("U", DType::kF32, {8});
  const IndexSum i = b.Iter(0), made = i * -1 + IndexSum::Constant(7), used = i * -1 + IndexSum::Constant(8);
  b.Compute("make", {{"i", 8}}, {T, {made}}, b.Load(A, {i}));
  b.Compute("use", {{"i", 8}}, {U, {i}}, b.Within({{used, 8}}, b.Load(T, {used}), b.Float(DType::kF32, 0)));
  Schedule s = Scheduled(b.Finish());
  const Loop loop = s.Merge(s.GetLoops(s.GetBlock("make"))[0], s.GetLoops(s.GetBlock("use"))[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  s.Pipeline(loop);
  EXPECT_THAT(std::string(s.status().message()),
              HasSubstr("is read by block \"use\" where other iterations may have made it"));
}

TEST(Pipeline, IsRefusedWhereOrdersWouldDiffer) {
  Refusals refusals;
  const auto pipeline = [](const PipelineOptions& options) {
    return [=](Schedule& s) { s.Pipeline(Feed(s), options); };
  };
  refusals.Add("a stage is before that of what it reads", Fed(), pipeline({.stages = {1, 0}}));
  refusals.Add("the same stage, in the wrong order", Fed(), pipeline({.stages = {0, 0}, .order = {1, 0}}));
  refusals.Add("too few copies", Fed(), pipeline({.stages = {0, 2}, .depths = {2}}));
  refusals.Add("stages for other children", Fed(), pipeline({.stages = {0, 1, 2}}));
  refusals.Add("positions that are not a permutation", Fed(), pipeline({.order = {1, 1}}));
  refusals.Add("depths for other buffers", Fed(), pipeline({.depths = {2, 2}}));
  refusals.Add("a producer that writes results", Fed(), pipeline({.producers = {1}}));
  refusals.Add("a child that is not there", Fed(), pipeline({.producers = {2}}));
  refusals.Add("a transport that there is not", Fed(), pipeline({.transport = "truck"}));
  refusals.Add("the loop is not serial", Fed(), [](Schedule& s) {
    const Loop k = Feed(s);
    s.Unroll(k);
    s.Pipeline(k);
  });
  refusals.Add("the buffer is used outside of the loop", Twice(0), [](Schedule& s) {
    s.Pipeline(s.Merge(s.GetLoops(s.GetBlock("make"))[0], s.GetLoops(s.GetBlock("first"))[0]));
  });
  refusals.Add("other iterations may have made it", Twice(1), [](Schedule& s) {
    s.ReverseComputeAt(s.GetBlock("second"), s.GetLoops(s.GetBlock("make"))[0]);
    s.Pipeline(s.Merge(s.GetLoops(s.GetBlock("make"))[0], s.GetLoops(s.GetBlock("first"))[0]));
  });
  refusals.Add("what is not copied cannot be asynchronous", Packed(), [](Schedule& s) {
    s.ComputeAt(s.GetBlock("pack"), s.GetLoops(s.GetBlock("square"))[0]);
    s.Pipeline(s.GetLoops(s.GetBlock("square"))[0], {.transport = "async"});
  });
  refusals.Add("a copy in bulk of what the nest writes", Fed(), [](Schedule& s) {
    const Loop k = Feed(s);
    const Block copy = s.CacheRead(s.GetBlock("load"), 0);
    s.ComputeAt(copy, s.AddUnitLoop(k));
    s.Pipeline(k, {.transport = "bulk"});
  });
  refusals.Add("a producer that reads what a child writes that is none", Fed(), [](Schedule& s) {
    const Loop k = Feed(s);
    s.CacheRead(s.GetBlock("sum"), 0);
    s.Pipeline(k, {.producers = {1}});
  });
  refusals.Add("several blocks write it", Fed(), [](Schedule& s) {
    const Loop k = Feed(s);
    s.LoopPartition(s.GetLoops(s.GetBlock("load")).back(), {3, 5});
    s.Pipeline(k);
  });
  refusals.Add("another child later", Fed(), [](Schedule& s) {
    s.Pipeline(Feed(s));
    s.CacheRead(s.GetBlock("sum"), 0);
  });
  ExpectGolden("lang/pipeline_refusals.txt", refusals.text());
}

}  // namespace
}  // namespace kiln
