// use-matrix-unit: the inner tile of a contraction is one intrinsic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/shadow.h"
#include "lang/text.h"
#include "modules/space.h"
#include "tests/support/tiled_matmul.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

class Picks final : public Chooser {
 public:
  explicit Picks(int unit) : unit_(unit) {}
  Decision Choose(const Site& site) override { return site.distribution.Sample(dice_); }
  int ChooseStructure(absl::string_view name, int) override {
    return name.find("intrinsic") == name.npos ? 1 : unit_;
  }

 private:
  int unit_;
  RandomDice dice_{Engine({3})};
};

void UseMatrixUnit(Schedule& s) {
  const auto space = ParseSpace("each-block(use-matrix-unit)");
  ASSERT_TRUE(space.ok()) << space.status();
  (*space)(s);
}

TEST(UseMatrixUnit, TilesAMatmulForFusedMultiplyAdds) {
  const Program matmul = Matmul(12, 32, 8);
  Picks picks(1);
  Schedule s(matmul, Target(), picks);
  UseMatrixUnit(s);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("block matmul.tile intrinsic fma.6x16.compute {"));
  std::string sketch;
  for (const Step& step : s.steps()) sketch += absl::StrCat(ToString(step), "\n");
  EXPECT_EQ(sketch, R"(b0 = get-block "matmul"
l0, l1, l2 = einsum b0 multiples=[6 16 1]
l3, l4 = split l0 -1 6
l5, l6 = split l1 -1 16
l7, l8 = split l2 -1 1
v0 = sample-perfect-tile l3 n=2 innermost=64 @use-matrix-unit/matmul/m -> 2 1
l9, l10 = split l3 v0
v1 = sample-perfect-tile l5 n=2 innermost=64 @use-matrix-unit/matmul/n -> 2 1
l11, l12 = split l5 v1
v2 = sample-perfect-tile l7 n=2 innermost=64 @use-matrix-unit/matmul/k -> 8 1
l13, l14 = split l7 v2
reorder l9 l11 l13 l10 l12 l14 l4 l6 l8
b1 = accumulate-at b0 l12 "register"
l15, l16, l17, l18, l19, l20, l21 = get-loops b1
unroll l20
vectorize l21
b2 = cache-read b0 operand=1 storage="global"
compute-at b2 l13
b3 = blockize l4
tensorize b3 "fma.6x16.compute"
)");
  const auto wanted = RunShadow(matmul);
  ASSERT_TRUE(wanted.ok());
  EXPECT_TRUE(CheckShadow(s.program(), *wanted).ok());
}

TEST(UseMatrixUnit, PadsWhatDoesNotFit) {
  const Program matmul = Matmul(7, 17, 5);
  Picks picks(1);
  Schedule s(matmul, Target(), picks);
  UseMatrixUnit(s);
  ASSERT_TRUE(s.ok()) << s.status();
  const auto wanted = RunShadow(matmul);
  EXPECT_TRUE(CheckShadow(s.program(), *wanted).ok());
}

TEST(UseMatrixUnit, LeavesOtherBlocksAlone) {
  Target scalar;
  scalar.fma = false;
  Picks picks(1);
  Schedule s(Matmul(12, 32, 8), scalar, picks);
  UseMatrixUnit(s);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_TRUE(s.steps().empty() || ToString(s.program()).find("intrinsic") == std::string::npos);
}

}  // namespace
}  // namespace kiln
