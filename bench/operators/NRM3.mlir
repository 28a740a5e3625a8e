func.func @NRM3(%x: tensor<1x4096x1024xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1xf32>) -> tensor<1xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b)>],
        iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<1x4096x1024xf32>) outs(%1 : tensor<1xf32>) {
    ^bb0(%a: f32, %out: f32):
      %p = arith.mulf %a, %a : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<1xf32>
  %3 = tensor.empty() : tensor<1xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(b) -> (b)>, affine_map<(b) -> (b)>],
        iterator_types = ["parallel"]} ins(%2 : tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%a: f32, %out: f32):
      %r = math.sqrt %a : f32
      linalg.yield %r : f32
    } -> tensor<1xf32>
  return %4 : tensor<1xf32>
}
