func.func @SFM2(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<1024xf32>
  %1 = linalg.fill ins(%low : f32) outs(%0 : tensor<1024xf32>) -> tensor<1024xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1024x1024xf32>) outs(%1 : tensor<1024xf32>) {
    ^bb0(%a: f32, %out: f32):
      %t = arith.maximumf %a, %out : f32
      linalg.yield %t : f32
    } -> tensor<1024xf32>
  %3 = tensor.empty() : tensor<1024x1024xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%x, %2 : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%3 : tensor<1024x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    } -> tensor<1024x1024xf32>
  %5 = tensor.empty() : tensor<1024xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<1024xf32>) -> tensor<1024xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%4 : tensor<1024x1024xf32>) outs(%6 : tensor<1024xf32>) {
    ^bb0(%a: f32, %out: f32):
      %s = arith.addf %a, %out : f32
      linalg.yield %s : f32
    } -> tensor<1024xf32>
  %8 = tensor.empty() : tensor<1024x1024xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%4, %7 : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%8 : tensor<1024x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %q = arith.divf %a, %b : f32
      linalg.yield %q : f32
    } -> tensor<1024x1024xf32>
  return %9 : tensor<1024x1024xf32>
}
