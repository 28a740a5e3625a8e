// Tests where compute-at and reverse-compute-at put a block among the children of a loop: first, last or at a number,
// and not where an order would break.
#include "lang/schedule/place.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns the program a = A; b = a + 1; c = a + 2; d = b + c, each over 8 elements.
Program Diamond() {
  Builder b("diamond");
  const DType t = DType::kI32;
  const Id A = b.Input("A", t, {8}), D = b.Output("D", t, {8});
  const Id a = b.Temporary("ta", t, {8}), x = b.Temporary("tb", t, {8}), y = b.Temporary("tc", t, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("a", {{"i", 8}}, {a, {i}}, b.Load(A, {i}));
  b.Compute("b", {{"i", 8}}, {x, {i}}, b.Add(b.Load(a, {i}), b.Integer(t, 1)));
  b.Compute("c", {{"i", 8}}, {y, {i}}, b.Add(b.Load(a, {i}), b.Integer(t, 2)));
  b.Compute("d", {{"i", 8}}, {D, {i}}, b.Add(b.Load(x, {i}), b.Load(y, {i})));
  return b.Finish();
}

std::vector<std::string> Order(const Program& p) {
  std::vector<std::string> names;
  for (const Id block : Blocks(p)) names.emplace_back(p.Text(p.block(block).name));
  return names;
}

Schedule ComputedAt(absl::string_view place) {
  Schedule s = Scheduled(Diamond());
  const Loop d = s.GetLoops(s.GetBlock("d"))[0];
  s.ComputeAt(s.GetBlock("c"), d);
  s.ComputeAt(s.GetBlock("b"), d, place);
  return s;
}

TEST(Place, ComputeAtPutsABlockFirstOrLastOrByNumber) {
  for (const auto& [place, order] :
       std::vector<std::pair<const char*, std::vector<std::string>>>{{"", {"a", "c", "b", "d"}},
                                                                     {"last", {"a", "c", "b", "d"}},
                                                                     {"first", {"a", "b", "c", "d"}},
                                                                     {"0", {"a", "b", "c", "d"}},
                                                                     {"1", {"a", "c", "b", "d"}}}) {
    Schedule s = ComputedAt(place);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_EQ(Order(s.program()), order) << place;
    ExpectSameResults(Diamond(), s.program());
  }
}

TEST(Place, RefusesANumberAfterTheFirstConsumer) {
  EXPECT_THAT(Refusal(ComputedAt("2")),
              HasSubstr("place 2 of loop i is not between what it reads and who reads it: 0 .. 1"));
}

TEST(Place, RefusesWhatIsNoPlace) {
  const Schedule s = ComputedAt("middle");
  EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("unknown place \"middle\""));
}

TEST(Place, ReverseComputeAtPutsABlockFirstOrLastOrByNumber) {
  for (const auto& [place, order] :
       std::vector<std::pair<const char*, std::vector<std::string>>>{{"", {"a", "c", "b", "d"}},
                                                                     {"first", {"a", "c", "b", "d"}},
                                                                     {"last", {"a", "b", "c", "d"}},
                                                                     {"2", {"a", "b", "c", "d"}}}) {
    Schedule s = Scheduled(Diamond());
    const Loop a = s.GetLoops(s.GetBlock("a"))[0];
    s.ReverseComputeAt(s.GetBlock("b"), a);
    s.ReverseComputeAt(s.GetBlock("c"), a, place);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_EQ(Order(s.program()), order) << place;
    ExpectSameResults(Diamond(), s.program());
  }
  Schedule s = Scheduled(Diamond());
  s.ReverseComputeAt(s.GetBlock("b"), s.GetLoops(s.GetBlock("a"))[0], "0");
  EXPECT_THAT(Refusal(s),
              HasSubstr("place 0 of loop i is not between what it reads and who reads it: 1 .. 1"));
}

TEST(Place, ReverseComputeAtKeepsTheOrderOfTwoWhoWriteOneBuffer) {
  // Refuses to move B = x into the loop of x = A, since B = 5 stands between: the last store of B may not come before
  // the first.
  //    x = A;  B = 5;  B = x
  Builder b("sum");
  const DType t = DType::kI32;
  const Id A = b.Input("A", t, {8}), x = b.Temporary("x", t, {8}), B = b.Output("B", t, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("copy", {{"i", 8}}, {x, {i}}, b.Load(A, {i}));
  const Id fill = b.Compute("fill", {{"i", 8}}, {B, {i}}, b.Integer(t, 5));
  const Id over = b.Compute("over", {{"i", 8}}, {B, {i}}, b.Load(x, {i}));
  const Program p = b.Finish();
  ASSERT_NE(fill, over);
  Schedule s = Scheduled(p);
  s.ReverseComputeAt(s.GetBlock("over"), s.GetLoops(s.GetBlock("copy"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"fill\", between loop i and it, uses B too"));
}

}  // namespace
}  // namespace kiln
