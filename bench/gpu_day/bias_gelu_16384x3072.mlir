#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
func.func @bias_gelu_16384x3072(%x: tensor<16384x3072xf32>, %bias: tensor<3072xf32>) -> tensor<16384x3072xf32> {
  %empty = tensor.empty() : tensor<16384x3072xf32>
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %y = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : tensor<16384x3072xf32>, tensor<3072xf32>) outs(%empty : tensor<16384x3072xf32>) {
    ^bb0(%in: f32, %b: f32, %out: f32):
      %0 = arith.addf %in, %b : f32
      %1 = arith.mulf %0, %root : f32
      %2 = math.erf %1 : f32
      %3 = arith.addf %2, %one : f32
      %4 = arith.mulf %0, %half : f32
      %5 = arith.mulf %4, %3 : f32
      linalg.yield %5 : f32
    } -> tensor<16384x3072xf32>
  return %y : tensor<16384x3072xf32>
}
