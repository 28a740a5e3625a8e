func.func @TBG2(%q: tensor<1x64x12x128xf32>, %k: tensor<1x64x12x128xf32>) -> tensor<1x12x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x12x64x128xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, h, s, d) -> (b, s, h, d)>, affine_map<(b, h, s, d) -> (b, h, s, d)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<1x64x12x128xf32>) outs(%0 : tensor<1x12x64x128xf32>) {
    ^bb0(%a: f32, %out: f32):
      linalg.yield %a : f32
    } -> tensor<1x12x64x128xf32>
  %2 = tensor.empty() : tensor<1x12x128x64xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(b, h, d, s) -> (b, s, h, d)>, affine_map<(b, h, d, s) -> (b, h, d, s)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<1x64x12x128xf32>) outs(%2 : tensor<1x12x128x64xf32>) {
    ^bb0(%a: f32, %out: f32):
      linalg.yield %a : f32
    } -> tensor<1x12x128x64xf32>
  %4 = tensor.empty() : tensor<1x12x64x64xf32>
  %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<1x12x64x64xf32>) -> tensor<1x12x64x64xf32>
  %6 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, d, j)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%1, %3 : tensor<1x12x64x128xf32>, tensor<1x12x128x64xf32>) outs(%5 : tensor<1x12x64x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x12x64x64xf32>
  return %6 : tensor<1x12x64x64xf32>
}
