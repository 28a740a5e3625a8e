// Tests the monoids of argmax and argmin: they are commutative, associative and idempotent on all values with NaN, and
// choose the extremum, with ties decided by the index (the first or the last), and NaN before all numbers.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lang/reference/body_code.h"

namespace kiln {
namespace {

struct Pair {
  double value;
  int64_t index;
};

// The function combine(left, right) of an argmax or argmin, over pairs of a value (f32) and its index (i64).
class Arg {
 public:
  Arg(Monoid::Kind kind, bool last) {
    monoid_ = p_.AddArgMonoid(kind, DType::kF32, DType::kI64, last);
    code_ = BodyCode(p_, p_.List(p_.monoids[monoid_].combine), 4, [](Source) { return 0; });
  }
  Pair identity() const {
    const auto list = p_.List(p_.monoids[monoid_].identity);
    return {ConstantValue(p_.exprs[list[0]]).f, ConstantValue(p_.exprs[list[1]]).i};
  }
  Pair operator()(Pair l, Pair r) const {
    std::vector<Scalar> registers = code_.initial();
    registers[0].f = l.value, registers[1].i = l.index, registers[2].f = r.value, registers[3].i = r.index;
    code_.Run(nullptr, registers.data(), [](const CodeAccess&, int64_t, Scalar*) { return false; });
    return {registers[code_.result(0)].f, registers[code_.result(1)].i};
  }

 private:
  Program p_;
  Id monoid_;
  BodyCode code_;
};

bool Same(Pair a, Pair b) {
  return (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value))) && a.index == b.index;
}

std::vector<Pair> Pairs() {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<Pair> pairs;
  for (const double value : {-inf, -2.0, -0.0, 0.0, 1.0, inf, std::nan("")}) {
    for (const int64_t index : {0, 1, 7}) pairs.push_back({value, index});
  }
  return pairs;
}

TEST(ArgMonoid, IsCommutativeAssociativeAndIdempotentOnAllValuesNaNIncluded) {
  for (const Monoid::Kind kind : {Monoid::Kind::kMax, Monoid::Kind::kMin}) {
    for (const bool last : {false, true}) {
      const Arg combine(kind, last);
      for (const Pair a : Pairs()) {
        EXPECT_TRUE(Same(combine(a, a), a));
        EXPECT_TRUE(Same(combine(a, combine.identity()), a)) << a.value << " at " << a.index;
        EXPECT_TRUE(Same(combine(combine.identity(), a), a)) << a.value << " at " << a.index;
        for (const Pair b : Pairs()) {
          EXPECT_TRUE(Same(combine(a, b), combine(b, a))) << a.value << " " << b.value;
          for (const Pair c : Pairs())
            ASSERT_TRUE(Same(combine(a, combine(b, c)), combine(combine(a, b), c)));
        }
      }
    }
  }
}

TEST(ArgMonoid, ChoosesTheGreatestOrLeastWithTiesByIndexAndNaNFirstOfAll) {
  const double nan = std::nan("");
  const Arg first(Monoid::Kind::kMax, false), last(Monoid::Kind::kMax, true),
      least(Monoid::Kind::kMin, false);
  EXPECT_TRUE(Same(first({1, 0}, {3, 4}), {3, 4}));
  EXPECT_TRUE(Same(least({1, 5}, {3, 4}), {1, 5}));
  EXPECT_TRUE(Same(first({3, 2}, {3, 4}), {3, 2}));
  EXPECT_TRUE(Same(last({3, 2}, {3, 4}), {3, 4}));
  EXPECT_TRUE(Same(first({nan, 6}, {9, 1}), {nan, 6}));
  EXPECT_TRUE(Same(least({nan, 6}, {nan, 1}), {nan, 1}));
}

}  // namespace
}  // namespace kiln
