// Tests that products whose sizes the tiles do not divide, and products of a matrix and its transpose, compute the same
// results after multi-level-tiling-with-intrinsic, under random decisions. tests/modules/cases_test.cc compares the
// sketches themselves with the text in cases/tiling.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "testing/matmul.h"
#include "testing/module_cases.h"
#include "tests/modules/products.h"

namespace kiln {
namespace {

Target Vnni() {
  Target target;
  target.features = "+avx2,+avxvnni";
  return target;
}

constexpr char kSpace[] = "each-block(multi-level-tiling-with-intrinsic)";

TEST(MultiLevelTilingWithIntrinsic, PadsWhatDoesNotFit) {
  ExpectSketchesCompute(kSpace, Matmul(7, 17, 5));
  ExpectSketchesCompute(kSpace, Bytes(3, 11, 6), Vnni());
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

}  // namespace
}  // namespace kiln
