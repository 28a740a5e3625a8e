// Small programs after reports from the field, one kind a test; each computes what its file says.
#include "gtest/gtest.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

TEST(Field, AProductOfARowAndItsSumAgreesInEachWay) {
  ExpectRight(R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4x6xf32>, tensor<4xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%x: f32, %t: f32, %o: f32):
    %0 = arith.mulf %x, %t : f32
    linalg.yield %0 : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
})",
              {.traces = 2});
}

}  // namespace
}  // namespace kiln
