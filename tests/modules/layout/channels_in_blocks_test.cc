// channels-in-blocks: convolutions whose channels come first compute in workspaces with channels in blocks.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// y[o, h] += pad(x)[c, h + k] * w[o, c, k]; or x itself.
Program Conv(int64_t in, int64_t out, bool padded) {
  Builder b("conv");
  const Id x = b.Input("x", DType::kF32, {in, padded ? 7 : 9}), w = b.Input("w", DType::kF32, {out, in, 3}),
           y = b.Output("y", DType::kF32, {out, 7});
  const Sum o = b.Iter(0), h = b.Iter(1), c = b.Iter(2), k = b.Iter(3);
  Id image = x;
  if (padded) {
    image = b.Temporary("pad", DType::kF32, {in, 9});
    const Sum from = h + Sum::Constant(-1);
    b.Compute("pad", {{"c", in}, {"h", 9}}, {image, {o, h}},
              b.Within({{from, 7}}, b.Load(x, {o, from}), b.Float(DType::kF32, 0)));
  }
  b.Reduce("conv", {{"o", out}, {"h", 7}, {"c", in, IterKind::kReduction}, {"k", 3, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {o, h}}, b.Mul(b.Load(image, {c, h + k}), b.Load(w, {o, c, k})));
  return b.Finish();
}

constexpr char kSpace[] = "each-block(channels-in-blocks)";

TEST(ChannelsInBlocks, CopiesTheImageAndTheResult) {
  ExpectModule("channels_in_blocks", kSpace, Conv(8, 16, false), Target());
}

TEST(ChannelsInBlocks, PadsIntoBlocks) {
  const std::string text = SketchesText(kSpace, Conv(8, 16, true), Target());
  EXPECT_EQ(text.find("cache-read"), std::string::npos) << text;
  EXPECT_NE(text.find("(d0/8, d1, d0%8)"), std::string::npos) << text;
}

TEST(ChannelsInBlocks, LeavesChannelsThatVectorsDoNotFill) {
  EXPECT_EQ(SketchesText(kSpace, Conv(3, 16, false), Target()).find("cache-read"), std::string::npos);
  EXPECT_EQ(SketchesText(kSpace, Conv(8, 9, false), Target()).find("cache-write"), std::string::npos);
  EXPECT_EQ(SketchesText(kSpace, Conv(3, 9, false), Target()).find("transform-layout"), std::string::npos);
}

TEST(ChannelsInBlocks, AreTiled) {
  ExpectSketchesCompute(
      "each-block(channels-in-blocks | multi-level-tiling) | random-compute-location | "
      "parallelize-vectorize-unroll",
      Conv(8, 16, true));
}

TEST(ChannelsInBlocks, LeavesProductsOfMatrices) {
  Builder b("product");
  const Id x = b.Input("x", DType::kF32, {16, 16}), w = b.Input("w", DType::kF32, {16, 16}),
           y = b.Output("y", DType::kF32, {16, 16});
  const Sum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("product", {{"i", 16}, {"j", 16}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum,
           {y, {i, j}}, b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  EXPECT_EQ(SketchesText(kSpace, b.Finish(), Target()).find("transform-layout"), std::string::npos);
}

}  // namespace
}  // namespace kiln
