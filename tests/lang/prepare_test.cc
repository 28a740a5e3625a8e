#include "gmock/gmock.h"
#include "lang/reference/interpreter.h"
#include "lang/reference/symbolic.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

using ::testing::HasSubstr, ::testing::Not;

TEST(Prepare, PutsNestsThatReadConstantsFirst) {
  const Program before = Packed();
  Schedule s = Scheduled(before);
  s.Prepare(s.GetBlock("pack"));
  s.Prepare(s.GetBlock("square"));
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_LT(text.find("prepare for j < 8 {\n  block pack"), text.find("prepare for j < 8 {\n  block square"));
  EXPECT_LT(text.find("block square"), text.find("block copy"));
  EXPECT_TRUE(CheckSymbolic(s.program(), *RunSymbolic(before)).ok());
  EXPECT_TRUE(Equal(*ParseProgram(text), s.program()));
  EXPECT_TRUE(Equal(*Deserialize(Serialize(s.program())), s.program()));
  EXPECT_FALSE(Equal(before, s.program()));
}

TEST(Prepare, CoversWhatLaterStepsMakeOfANest) {
  Schedule s = Scheduled(Packed());
  const Block pack = s.GetBlock("pack");
  s.Prepare(pack);
  s.Split(s.GetLoops(pack)[0], {2, 4});
  s.CacheRead(pack, 0);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("prepare for c0 < 8 {\n  block W.cache.1 {"));
  EXPECT_TRUE(Verify(s.program()).ok());
}

TEST(Prepare, IsOfTheBlockThatANestBecomes) {
  Schedule s = Scheduled(Packed());
  const Block pack = s.GetBlock("pack");
  s.Prepare(pack);
  s.Blockize(s.GetLoops(pack)[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("prepare block pack"));
  EXPECT_THAT(ToString(s.program()), Not(HasSubstr("prepare for")));
  EXPECT_TRUE(Verify(s.program()).ok());
}

TEST(Prepare, IsRefusedWhereThePhaseCouldNotRunApart) {
  Refusals refusals;
  const auto prepare = [](const char* name) { return [=](Schedule& s) { s.Prepare(s.GetBlock(name)); }; };
  refusals.Add("an input is read", Packed(), prepare("copy"));
  refusals.Add("what is read is not prepared", Packed(), prepare("square"));
  refusals.Add("it is prepared already", Packed(), [](Schedule& s) {
    s.Prepare(s.GetBlock("pack"));
    s.Prepare(s.GetBlock("pack"));
  });
  Builder b("result");
  const Id W = b.Constant("W", DType::kF32, {8}), Z = b.Output("Z", DType::kF32, {8});
  b.Compute("double", {{"i", 8}}, {Z, {b.Iter(0)}}, b.Add(b.Load(W, {b.Iter(0)}), b.Load(W, {b.Iter(0)})));
  refusals.Add("a result is written", b.Finish(), prepare("double"));
  refusals.Add("what is prepared for others would be on the stack", Packed(), [](Schedule& s) {
    s.Prepare(s.GetBlock("pack"));
    s.SetScope(s.GetBlock("pack"), "stack");
  });
  refusals.Add("a block that reads inputs would move into the phase", Packed(), [](Schedule& s) {
    s.Prepare(s.GetBlock("pack"));
    s.Prepare(s.GetBlock("square"));
    s.ReverseComputeAt(s.GetBlock("scale"), s.GetLoops(s.GetBlock("square"))[0]);
  });
  refusals.Add("another phase would write it too", Packed(), [](Schedule& s) {
    const auto parts = s.LoopPartition(s.GetLoops(s.GetBlock("pack"))[0], {3, 5});
    s.Prepare(s.GetBlock("pack"));
  });
  ExpectGolden("lang/prepare_refusals.txt", refusals.text());
}

TEST(Prepare, IsHeldByVerify) {
  Schedule s = Scheduled(Packed());
  s.Prepare(s.GetBlock("pack"));
  Program p = s.program();
  p.nodes[p.nodes[kRoot].last].prepare = true;
  EXPECT_THAT(std::string(Verify(p).message()), HasSubstr("is prepared, but does not come first"));
}

}  // namespace
}  // namespace kiln
