// multi-level-tiling-with-intrinsic: the inner tile of a contraction is one intrinsic.
#include <gtest/gtest.h>

#include "testing/matmul.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// u8 times i8, as VNNI multiplies.
Program Bytes(int64_t m, int64_t n, int64_t k) {
  Builder b("bytes");
  const Id x = b.Input("A", DType::kI8, {m, k}), y = b.Input("B", DType::kI8, {k, n}),
           z = b.Output("C", DType::kI32, {m, n});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  b.Reduce("bytes", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(b.Make(Op::kCastUnsigned, DType::kI32, b.Load(x, {i, r})),
                 b.Cast(DType::kI32, b.Load(y, {r, j}))));
  return b.Finish();
}

Target Vnni() {
  Target target;
  target.features = "+avx2,+avxvnni";
  return target;
}

constexpr char kSpace[] = "each-block(multi-level-tiling-with-intrinsic)";

TEST(MultiLevelTilingWithIntrinsic, TilesAMatmulForFusedMultiplyAdds) {
  ExpectModule("multi_level_tiling_with_fma", kSpace, Matmul(12, 32, 8));
}

TEST(MultiLevelTilingWithIntrinsic, TilesBytesForDotProducts) {
  ExpectModule("multi_level_tiling_with_vnni", kSpace, Bytes(6, 32, 16), Vnni());
}

TEST(MultiLevelTilingWithIntrinsic, PadsWhatDoesNotFit) {
  ExpectSketchesCompute(kSpace, Matmul(7, 17, 5));
  ExpectSketchesCompute(kSpace, Bytes(3, 11, 6), Vnni());
}

// Of one matrix with itself: it is both factors.
Program Gram(DType type, int64_t m, int64_t k) {
  Builder b("gram");
  const Id x = b.Input("A", type, {m, k}), z = b.Output("C", DType::kF32, {m, m});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  const auto factor = [&](const Sum& row) {
    const Id load = b.Load(x, {row, r});
    return type == DType::kF32 ? load : b.Cast(DType::kF32, load);
  };
  b.Reduce("gram", {{"i", m}, {"j", m}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(factor(i), factor(j)));
  return b.Finish();
}

TEST(MultiLevelTilingWithIntrinsic, TilesProductsOfAMatrixWithItself) {
  ExpectSketchesCompute(kSpace, Gram(DType::kF32, 12, 8));
  for (const auto& [type, features] :
       {std::pair{DType::kBF16, "+avx512bf16,+amx-bf16"}, std::pair{DType::kF16, "+avx10.2,+amx-fp16"}}) {
    Target target;
    target.vector_bytes = 64;
    target.features = features;
    ExpectSketchesCompute(kSpace, Gram(type, 20, 8), target);
    EXPECT_NE(SketchesText(kSpace, Gram(type, 20, 8), target).find("tensorize"), std::string::npos);
  }
}

TEST(MultiLevelTilingWithIntrinsic, LeavesOtherBlocksAlone) {
  Target scalar;
  scalar.fma = false;
  EXPECT_EQ(SketchesText(kSpace, Matmul(12, 32, 8), scalar).find("einsum"), std::string::npos);
  EXPECT_EQ(SketchesText("each-block(multi-level-tiling-with-intrinsic families=vnni)", Matmul(12, 32, 8))
                .find("einsum"),
            std::string::npos);
}

TEST(DefaultSpaces, HaveIntrinsicsOfMatrixUnitsAndOfArm) {
  Target target;
  target.features = "+amx-int8";
  EXPECT_NE(SketchesText("cpu", Bytes(6, 32, 16), target).find("amx.u8s8"), std::string::npos);
  target.features = "+i8mm";
  target.vector_bytes = 16;
  EXPECT_NE(SketchesText("cpu", Bytes(6, 32, 16), target).find("usdot.4x4"), std::string::npos);
}

TEST(DefaultSpaces, HaveIntrinsicsForF16) {
  Target target;
  target.vector_bytes = 64;
  target.features = "+avx10.2";
  EXPECT_NE(SketchesText("cpu", Gram(DType::kF16, 20, 8), target).find("f16.16x2"), std::string::npos);
  target.features = "+amx-fp16";
  EXPECT_NE(SketchesText("cpu", Gram(DType::kF16, 20, 8), target).find("amx.f16"), std::string::npos);
  target.features = "";
  EXPECT_EQ(SketchesText("cpu", Gram(DType::kF16, 20, 8), target).find("tensorize"), std::string::npos);
}

TEST(DefaultSpaces, OfVnniHaveIntrinsicsForBytesAlone) {
  EXPECT_NE(SketchesText("cpu", Bytes(6, 32, 16), Vnni()).find("vnni.8x4"), std::string::npos);
  EXPECT_EQ(SketchesText("cpu", Matmul(12, 32, 8), Vnni()).find("tensorize"), std::string::npos);
}

}  // namespace
}  // namespace kiln
