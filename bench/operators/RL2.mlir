func.func @RL2(%x: tensor<1x56x56x64xf32>, %w: tensor<1x1x64x64xf32> {kiln.constant}) -> tensor<1x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x56x56x64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0 + k0, o1 + k1, c)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (k0, k1, c, f)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0, o1, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x56x56x64xf32>, tensor<1x1x64x64xf32>) outs(%1 : tensor<1x56x56x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x56x56x64xf32>
  return %2 : tensor<1x56x56x64xf32>
}
