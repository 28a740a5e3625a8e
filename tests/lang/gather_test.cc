// Tests gathers, which read at computed indices: their text, meaning and analyses, and primitives on them.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/region.h"
#include "lang/graph/outline.h"
#include "lang/program/builder.h"
#include "lang/reference/element_evaluator.h"
#include "lang/reference/interpreter.h"
#include "lang/schedule/schedule.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoChoices : public Chooser {
 public:
  Decision Choose(const Site&) override { return {}; }
  int ChooseStructure(absl::string_view, int) override { return 0; }
};

// Returns the program T = 2 W; Y[i, j] = T[at[i], j], which gathers rows as embeddings do.
Program Embedding(int64_t rows, int64_t columns, int64_t count) {
  Builder b("embedding");
  const Id W = b.Input("W", DType::kF32, {rows, columns}), at = b.Input("at", DType::kI64, {count}),
           Y = b.Output("Y", DType::kF32, {count, columns}),
           T = b.Temporary("T", DType::kF32, {rows, columns});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("twice", {{"i", rows}, {"j", columns}}, {T, {i, j}}, b.Add(b.Load(W, {i, j}), b.Load(W, {i, j})));
  b.Compute("gather", {{"i", count}, {"j", columns}}, {Y, {i, j}},
            b.Gather(T, {b.Cast(DType::kIndex, b.Load(at, {i})), b.Index(j)}));
  return b.Finish();
}

const std::vector<std::string> kInputs = {BytesOfValues<float>({1, 2, 3, 4, 5, 6}),
                                          BytesOfValues<int64_t>({2, 0, 1, 2})};

std::vector<float> RunOn(const Program& p) {
  const auto out = kiln::Run(p, kInputs);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? ValuesOf<float>((*out)[0]) : std::vector<float>();
}

TEST(Gather, ReadsTheRowThatTheDataNames) {
  EXPECT_THAT(RunOn(Embedding(3, 2, 4)), ElementsAre(10, 12, 2, 4, 6, 8, 10, 12));
}

TEST(Gather, IsOfUnknownElementsWhereItsIndexMayBeOutside) {
  const auto known = [](int64_t iterations) {
    Builder b("rows");
    const Id X = b.Input("X", DType::kF32, {4}), Y = b.Output("Y", DType::kF32, {iterations});
    const Id block =
        b.Compute("gather", {{"i", iterations}}, {Y, {b.Iter(0)}}, b.Gather(X, {b.Index(b.Iter(0))}));
    const Program p = b.Finish();
    return GatherMarks(p, block, p.exprs[Gathers(p, block)[0]])[0] != kNone;
  };
  EXPECT_TRUE(known(4));
  EXPECT_FALSE(known(5));
}

TEST(Gather, ReadsTheNearestElementWhereAnIndexIsOutside) {
  Builder b("nearest");
  const Id X = b.Input("X", DType::kF32, {3}), Y = b.Output("Y", DType::kF32, {5});
  b.Compute("gather", {{"i", 5}}, {Y, {b.Iter(0)}},
            b.Gather(X, {b.Index(b.Iter(0) * 2 + IndexSum::Constant(-3))}));
  const auto out = kiln::Run(b.Finish(), {BytesOfValues<float>({1, 2, 3})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(ValuesOf<float>((*out)[0]), ElementsAre(1, 1, 2, 3, 3));
}

TEST(Gather, IsPrintedParsedHashedSerializedAndOutlined) {
  const Program p = Embedding(3, 2, 4);
  const std::string text = ToString(p);
  EXPECT_THAT(text, HasSubstr("Y[i, j] = T[{index.cast(at[i])}, {index(j)}]"));
  const auto parsed = ParseProgram(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ToString(*parsed), text);
  EXPECT_TRUE(Equal(p, *parsed));
  const auto read = Deserialize(Serialize(p));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(Equal(p, *read));
  const std::vector<Id> blocks = Blocks(p);
  const auto outlined = Outline(p, {blocks[1]}, "task");
  ASSERT_TRUE(outlined.ok()) << outlined.status();
  EXPECT_THAT(ToString(outlined->task), HasSubstr("T[{index.cast(at[i])}, {index(j)}]"));
  EXPECT_FALSE(Equal(outlined->task, p));
}

TEST(Gather, OfAWrongRankDoesNotParse) {
  std::string text = ToString(Embedding(3, 2, 4));
  text.replace(text.find(", {index(j)}"), 12, "");
  EXPECT_THAT(std::string(ParseProgram(text).status().message()), HasSubstr("found 1 indices, wanted 2"));
}

TEST(Gather, TouchesWhatItsIndicesSayAndTheWholeOfAComputedDimension) {
  const Program p = Embedding(3, 2, 4);
  const Id gather = Blocks(p)[1], i = p.nodes[p.nodes[gather].parent].parent;
  const Id T = BufferRead(p.exprs[Gathers(p, gather)[0]]);
  const Region region = ReadRegion(p, ResolveBindings(p, gather), T, p.nodes[gather].parent);
  ASSERT_EQ(region.size(), 2u);
  EXPECT_EQ(region[0].extent, 3);
  EXPECT_FALSE(region[0].dense);
  EXPECT_EQ(region[1].extent, 1);
  EXPECT_EQ(ReadRegion(p, ResolveBindings(p, gather), T, i)[1].extent, 2);
  EXPECT_THAT(ReadBuffers(p, gather), ElementsAre(1, 3));
  EXPECT_THAT(Producers(p, gather), ElementsAre(Blocks(p)[0]));
}

TEST(Gather, MovesWithTheLoopsOfItsIndicesInTheNests) {
  const Program p = Embedding(3, 2, 4);
  LoopNestSummary nests;
  nests.Read(p);
  const NestBlock& block = nests.blocks()[1];
  int gathers = 0;
  for (const NestAccess& access : nests.accesses(block)) {
    if (access.writes || nests.axes(access).size() != 2) continue;
    ++gathers;
    EXPECT_FALSE(nests.axes(access)[0].exact);
    EXPECT_TRUE(nests.axes(access)[1].exact);
    EXPECT_EQ(nests.Indexed(access), LoopNestSummary::Bit(0) | LoopNestSummary::Bit(1));
    EXPECT_EQ(nests.Stride(access, 1), 1);
  }
  EXPECT_EQ(gathers, 1);
}

TEST(Gather, IsEvaluatedByElement) {
  const Program p = Embedding(3, 2, 4);
  ElementEvaluator evaluator(p, [&](Id b, int64_t i) {
    return LoadScalar(p.buffers[b].dtype, kInputs[b].data() + i * SizeOf(p.buffers[b].dtype));
  });
  EXPECT_EQ(evaluator.Number(2, 1).value(), 12);
  EXPECT_EQ(evaluator.Number(2, 4).value(), 6);
}

class GatherSchedule : public ::testing::Test {
 protected:
  Schedule Start() { return Schedule(Embedding(3, 2, 4), Target(), none_); }
  NoChoices none_;
};

TEST_F(GatherSchedule, LetsItsLoopsAndItsProducerMove) {
  Schedule s = Start();
  const Block gather = s.GetBlock("gather");
  const auto loops = s.GetLoops(gather);
  const auto tiles = s.Split(loops[0], {kAuto, 3});
  s.ComputeAt(s.GetBlock("twice"), tiles[0]);
  s.Vectorize(loops[1]);
  const Block copy = s.CacheRead(gather, 0);
  s.ComputeAt(copy, tiles[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_TRUE(Verify(s.program()).ok());
  EXPECT_THAT(RunOn(s.program()), ElementsAre(10, 12, 2, 4, 6, 8, 10, 12));
}

TEST_F(GatherSchedule, RefusesByNameWhatComputedIndicesDoNotAllow) {
  const auto error = [&](auto step) {
    Schedule s = Start();
    step(s);
    return std::string(s.status().message());
  };
  const std::string why = "block \"gather\" reads T at computed indices";
  EXPECT_THAT(error([](Schedule& s) { s.ComputeInline(s.GetBlock("twice")); }), HasSubstr(why));
  EXPECT_THAT(error([](Schedule& s) { s.ReverseComputeInline(s.GetBlock("gather")); }), HasSubstr(why));
  EXPECT_THAT(error([](Schedule& s) { s.CacheRead(s.GetBlock("gather"), 1); }), HasSubstr(why));
  EXPECT_THAT(error([](Schedule& s) { s.Reindex(s.GetBlock("gather"), 1); }), HasSubstr(why));
  EXPECT_THAT(error([](Schedule& s) {
                s.ReverseComputeAt(s.GetBlock("gather"), s.GetLoops(s.GetBlock("twice"))[0]);
              }),
              HasSubstr("reads more of T than block \"twice\" has written"));
}

// Refuses to move the gather Y[i, j] = T[U[i, j], j] into a loop i that computes T and U: one iteration writes only one
// row of the table T.
TEST(Gather, IsNotPutBelowALoopWhoseIterationsEachWriteAPartOfItsTable) {
  const auto program = ParseProgram(R"(kiln.program v1
program rows
parameters X, Y
buffer X: i32[2, 4] input
buffer T: i32[2, 4] temporary
buffer U: i32[2, 4] temporary
buffer Y: i32[2, 4] output
for i < 2 { for j < 4 { block table { spatial i < 2 = i  spatial j < 4 = j  T[i, j] = X[i, j] } } }
for i < 2 { for j < 4 { block at { spatial i < 2 = i  spatial j < 4 = j  U[i, j] = T[i, j] } } }
for i < 2 { for j < 4 { block gather { spatial i < 2 = i  spatial j < 4 = j
  Y[i, j] = T[{index.cast(U[i, j])}, {index(j)}] } } }
)");
  ASSERT_TRUE(program.ok()) << program.status();
  NoChoices chooser;
  const Target target;
  Schedule s(*program, target, chooser);
  const Block at = s.GetBlock("at"), gather = s.GetBlock("gather");
  s.ReverseComputeAt(at, s.GetLoops(s.GetBlock("table"))[0], "last");
  ASSERT_TRUE(s.ok()) << s.status();
  s.ReverseComputeAt(gather, s.GetLoops(at)[1]);
  EXPECT_THAT(std::string(s.status().message()),
              HasSubstr("block \"gather\" reads more of T than block \"table\" has written"));
}

}  // namespace
}  // namespace kiln
