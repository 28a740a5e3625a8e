func.func @R2(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x1x1xf32> {kiln.constant}) -> tensor<1x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x64x56x56xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, f, o0, o1, c, k0, k1) -> (n, c, o0 + k0, o1 + k1)>, affine_map<(n, f, o0, o1, c, k0, k1) -> (f, c, k0, k1)>, affine_map<(n, f, o0, o1, c, k0, k1) -> (n, f, o0, o1)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) outs(%1 : tensor<1x64x56x56xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x64x56x56xf32>
  return %2 : tensor<1x64x56x56xf32>
}
