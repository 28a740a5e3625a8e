// Tests compiled convolutions with padding. Terms of a sum that read beyond the bounds of the image are left out if
// factors are assumed to be finite, by separate code for tiles at the boundary, which
// tests/lower/plans/guards_boundary_*.txt show.
#include <gtest/gtest.h>

#include <cmath>

#include "lang/analysis/annotations.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "testing/compiled/run_program.h"
#include "testing/random_program.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

constexpr int64_t kSize = 7, kFilters = 32;

// Returns a schedule of C[h, w, f] sum= X[s*h + i - 1, s*w + j - 1] * W[i, j, f] with a 3x3 window and zeros around X,
// where s is the stride. Tiles of rows x columns are unrolled, f is vectorized, and factors are assumed to be finite.
Schedule Convolution(int64_t rows, int64_t columns, int64_t stride = 1) {
  Builder b("window");
  const int64_t out = (kSize - 1) / stride + 1;
  const Id x = b.Input("X", DType::kF32, {kSize, kSize}),
           weights = b.Input("W", DType::kF32, {3, 3, kFilters}),
           c = b.Output("C", DType::kF32, {out, out, kFilters});
  const IndexSum h = b.Iter(0), w = b.Iter(1), f = b.Iter(2), i = b.Iter(3), j = b.Iter(4);
  const IndexSum y = h * stride + i + IndexSum::Constant(-1), z = w * stride + j + IndexSum::Constant(-1);
  const Id pixel = b.Within({{y, kSize}, {z, kSize}}, b.Load(x, {y, z}), b.Float(DType::kF32, 0));
  b.Reduce("conv",
           {{"h", out},
            {"w", out},
            {"f", kFilters},
            {"i", 3, IterKind::kReduction},
            {"j", 3, IterKind::kReduction}},
           Monoid::Kind::kSum, {c, {h, w, f}}, b.Mul(pixel, b.Load(weights, {i, j, f})));
  Schedule s = Scheduled(b.Finish());
  const Block conv = s.GetBlock("conv");
  const std::vector<Loop> l = s.GetLoops(conv);
  const std::vector<Loop> hs = s.Split(l[0], {kAuto, rows}), ws = s.Split(l[1], {kAuto, columns});
  s.Reorder({hs[0], ws[0], l[3], l[4], hs[1], ws[1], l[2]});
  s.Unroll(hs[1]);
  s.Unroll(ws[1]);
  s.Vectorize(l[2]);
  s.Annotate(conv, kAssumeFinite, 1);
  EXPECT_TRUE(s.ok()) << s.status();
  return s;
}

TEST(BoundaryVersions, OfWhatMayBeInfiniteNothingIsLeftOut) {
  Schedule s = Convolution(1, kSize);
  s.Annotate(s.GetBlock("conv"), kAssumeFinite, 0);
  std::string weights(3 * 3 * kFilters * 4, '\0'), image(kSize * kSize * 4, '\0');
  const float infinity = INFINITY;
  std::memcpy(weights.data(), &infinity, 4);  // W[0, 0, 0], which the first pixel multiplies by padding
  for (const bool finite : {false, true}) {
    if (finite) s.Annotate(s.GetBlock("conv"), kAssumeFinite, 1);
    std::vector<std::string> found;
    EXPECT_EQ(RunCompiled(s.program(), {image, weights}, &found), 0);
    float first;
    std::memcpy(&first, found[0].data(), 4);
    EXPECT_EQ(std::isnan(first), !finite);
  }
}

// Expects the interpreter's results for strides from 1 to 3 and tiles of 1, 2, 3 or 7 rows and columns. Tiles that do
// not divide the image need guards.
TEST(BoundaryVersions, ComputeTheSameInAllTiles) {
  RandomDice dice(Engine{7});
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t rows : {1, 2, 3, 7}) {
      for (const int64_t columns : {1, 2, 3, 7}) {
        const Schedule s = Convolution(rows, columns, stride);
        const std::vector<std::string> inputs = RandomInputs(s.program(), dice);
        std::vector<std::string> found;
        EXPECT_EQ(RunCompiled(s.program(), inputs, &found), 0);
        EXPECT_EQ(found, kiln::Run(s.program(), inputs).value()) << stride << " " << rows << "x" << columns;
      }
    }
  }
}

}  // namespace
}  // namespace kiln
