func.func @add_transposed_8192(%x: tensor<8192x8192xf32>, %z: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %empty = tensor.empty() : tensor<8192x8192xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %z : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%empty : tensor<8192x8192xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<8192x8192xf32>
  return %y : tensor<8192x8192xf32>
}
