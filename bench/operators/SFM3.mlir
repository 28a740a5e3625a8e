func.func @SFM3(%x: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<2048xf32>
  %1 = linalg.fill ins(%low : f32) outs(%0 : tensor<2048xf32>) -> tensor<2048xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2048x2048xf32>) outs(%1 : tensor<2048xf32>) {
    ^bb0(%a: f32, %out: f32):
      %t = arith.maximumf %a, %out : f32
      linalg.yield %t : f32
    } -> tensor<2048xf32>
  %3 = tensor.empty() : tensor<2048x2048xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%x, %2 : tensor<2048x2048xf32>, tensor<2048xf32>) outs(%3 : tensor<2048x2048xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    } -> tensor<2048x2048xf32>
  %5 = tensor.empty() : tensor<2048xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<2048xf32>) -> tensor<2048xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<2048x2048xf32>) outs(%6 : tensor<2048xf32>) {
    ^bb0(%a: f32, %out: f32):
      %s = arith.addf %a, %out : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
  %8 = tensor.empty() : tensor<2048x2048xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%4, %7 : tensor<2048x2048xf32>, tensor<2048xf32>) outs(%8 : tensor<2048x2048xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %q : f32
    } -> tensor<2048x2048xf32>
  return %9 : tensor<2048x2048xf32>
}
