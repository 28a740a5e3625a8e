#include "lang/program/layout.h"

#include <set>

#include "gmock/gmock.h"
#include "lang/reference/symbolic.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kSame[] = "(i, j) -> (i, j)";

// Returns the program T[i, j] = A[i, j];  C[j, i] = T[i, j], of `rows` by 8 elements.
Program Transposed(int64_t rows = 8) {
  Builder b("transposed");
  const Id A = b.Input("A", DType::kF32, {rows, 8}), C = b.Output("C", DType::kF32, {8, rows}),
           T = b.Temporary("T", DType::kF32, {rows, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("make", {{"i", rows}, {"j", 8}}, {T, {i, j}}, b.Load(A, {i, j}));
  b.Compute("use", {{"j", 8}, {"i", rows}}, {C, {i, j}}, b.Load(T, {j, i}));
  return b.Finish();
}

TEST(Swizzle, PermutesTheAddresses) {
  for (const Swizzle s :
       {Swizzle{3, 0, 3}, Swizzle{0, 3, 3}, Swizzle{4, 1, 2}, Swizzle{1, 0, 3}, Swizzle{0, 1, 3}}) {
    std::set<int64_t> addresses;
    for (int64_t a = 0; a < 64; ++a) addresses.insert(Swizzled(s, a));
    EXPECT_EQ(addresses.size(), 64u);
    EXPECT_EQ(*addresses.rbegin(), 63);
  }
  EXPECT_EQ(Swizzled({3, 0, 3}, 0b101110), 0b101011);
}

TEST(Swizzle, IsOneToOneWhereNoAddressLeavesTheMemory) {
  for (int bits = 0; bits < 32; ++bits) {
    const Swizzle s{static_cast<int8_t>(bits % 4), static_cast<int8_t>(bits / 4 % 4),
                    static_cast<int8_t>(1 + bits / 16)};
    for (int64_t elements = 1; elements < 40; ++elements) {
      std::set<int64_t> addresses;
      for (int64_t a = 0; a < elements; ++a) addresses.insert(Swizzled(s, a));
      const bool wanted =
          static_cast<int64_t>(addresses.size()) == elements && *addresses.rbegin() == elements - 1;
      if (s.from != s.to) {
        EXPECT_EQ(IsOneToOne(s, elements), wanted) << elements;
      }
    }
  }
}

TEST(TransformLayout, TakesASwizzle) {
  const Program before = Transposed();
  Schedule s = Scheduled(before);
  s.TransformLayout(s.GetBlock("make"), -1, kSame, Swizzle{3, 0, 3});
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_THAT(text, HasSubstr("layout (d0 < 8, d1 < 8) swizzle (3, 0, 3)"));
  EXPECT_EQ(ToString(*ParseProgram(text)), text);
  EXPECT_TRUE(Equal(*ParseProgram(text), s.program()));
  EXPECT_TRUE(Equal(*Deserialize(Serialize(s.program())), s.program()));
  EXPECT_TRUE(CheckSymbolic(s.program(), *RunSymbolic(before)).ok());
  Schedule plain = Scheduled(before);
  plain.TransformLayout(plain.GetBlock("make"), -1, kSame);
  EXPECT_FALSE(Equal(plain.program(), s.program()));
}

TEST(TransformLayout, MultipliesInMaps) {
  Schedule s = Scheduled(Transposed());
  s.TransformLayout(s.GetBlock("make"), -1, "(i, j) -> (j*8 + i)");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("layout (d1*8 + d0 < 64)"));
}

TEST(TransformLayout, CutsBySampledNumbersAndKeepsRoomForTheLastTile) {
  Schedule s = Scheduled(Transposed(7));
  const Block make = s.GetBlock("make");
  s.TransformLayout(make, -1, "(i, j) -> (i/$0, j/$1, i%$0, j%$1)", {s.SampleCategorical({3}), 4});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("layout (d0/3 < 3, d1/4 < 2, d0%3 < 3, d1%4 < 4)"));
  EXPECT_EQ(LayoutElements(s.program(), 2), 9 * 8);
}

TEST(TransformLayout, GivesFragmentsTheirAxes) {
  Schedule s = Scheduled(Transposed());
  s.SetScope(s.GetBlock("make"), "warp");
  s.TransformLayout(s.GetBlock("make"), -1, "(i, j) -> (i, j/2, j%2)", "lane, lane, register");
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_THAT(text, HasSubstr("warp/warp layout (d0 < 8, d1/2 < 4, d1%2 < 2) kinds (lane, lane, register)"));
  EXPECT_TRUE(Equal(*ParseProgram(text), s.program()));
}

TEST(TransformLayout, IsRefusedWhereElementsHaveNoPlace) {
  Refusals refusals;
  const auto swizzle = [](Swizzle bits) {
    return [=](Schedule& s) { s.TransformLayout(s.GetBlock("make"), -1, kSame, bits); };
  };
  refusals.Add("bits that it reads would be cleared", Transposed(), swizzle({2, 2, 3}));
  refusals.Add("the memory is not a multiple of what is permuted", Transposed(6), swizzle({0, 3, 3}));
  refusals.Add("no bits", Transposed(), swizzle({3, 0, 0}));
  refusals.Add("more bits than an address has", Transposed(), swizzle({50, 0, 3}));
  const auto fragment = [](const char* storage, const char* map, const char* kinds) {
    return [=](Schedule& s) {
      s.SetScope(s.GetBlock("make"), storage);
      s.TransformLayout(s.GetBlock("make"), -1, map, kinds);
    };
  };
  refusals.Add("lanes are of warps", Transposed(), fragment("shared", kSame, "lane, register"));
  refusals.Add("too many lanes", Transposed(), fragment("warp", kSame, "lane, lane"));
  refusals.Add("too many warps", Transposed(), fragment("warpgroup", kSame, "warp, lane"));
  refusals.Add("a warp has no warps", Transposed(),
               fragment("warp", "(i, j) -> (i/4, i%4, j)", "warp, lane, lane"));
  refusals.Add("addresses among registers", Transposed(), fragment("warp", kSame, "lane, address"));
  refusals.Add("other axes", Transposed(), fragment("warp", kSame, "lane"));
  refusals.Add("another kind", Transposed(), fragment("warp", kSame, "lane, tape"));
  refusals.Add("a fragment elsewhere", Transposed(), [&](Schedule& s) {
    fragment("warp", kSame, "lane, register")(s);
    s.SetScope(s.GetBlock("make"), "global");
  });
  refusals.Add("there is no such number", Transposed(), [](Schedule& s) {
    s.TransformLayout(s.GetBlock("make"), -1, "(i, j) -> (j/$1, i, j%$1)", {Factor(4)});
  });
  refusals.Add("a parameter", Transposed(),
               [](Schedule& s) { s.TransformLayout(s.GetBlock("use"), -1, kSame, Swizzle{3, 0, 3}); });
  ExpectGolden("lang/layout_refusals.txt", refusals.text());
}

TEST(Verify, HoldsSwizzlesOneToOne) {
  Schedule s = Scheduled(Transposed());
  s.TransformLayout(s.GetBlock("make"), -1, kSame, Swizzle{3, 0, 3});
  Program p = s.program();
  for (Buffer& b : p.buffers) {
    if (b.layout.swizzle.bits != 0) b.layout.swizzle.from = b.layout.swizzle.to;
  }
  EXPECT_THAT(std::string(Verify(p).message()), HasSubstr("clears the bits that it reads"));
}

}  // namespace
}  // namespace kiln
