func.func @FDN0(%x: tensor<128x768xf32>, %w: tensor<768x3072xf32>, %bias: tensor<3072xf32>) -> tensor<128x3072xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678118654757 : f32
  %0 = tensor.empty() : tensor<128x3072xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<128x768xf32>, tensor<768x3072xf32>) outs(%1 : tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %3 = tensor.empty() : tensor<128x3072xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%2, %bias : tensor<128x3072xf32>, tensor<3072xf32>) outs(%3 : tensor<128x3072xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %d = arith.addf %a, %b : f32
      %s = arith.mulf %d, %root : f32
      %e = math.erf %s : f32
      %g = arith.addf %e, %one : f32
      %h = arith.mulf %g, %half : f32
      %r = arith.mulf %d, %h : f32
      linalg.yield %r : f32
    } -> tensor<128x3072xf32>
  return %4 : tensor<128x3072xf32>
}
