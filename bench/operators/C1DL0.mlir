func.func @C1DL0(%x: tensor<1x256x64xf32>, %w: tensor<3x64x128xf32> {kiln.constant}) -> tensor<1x128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
    ^bb0(%p0: index, %p1: index, %p2: index):
      tensor.yield %zero : f32
    } : tensor<1x256x64xf32> to tensor<1x258x64xf32>
  %1 = tensor.empty() : tensor<1x128x128xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<1x128x128xf32>) -> tensor<1x128x128xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, o0, f, k0, c) -> (n, o0 * 2 + k0, c)>, affine_map<(n, o0, f, k0, c) -> (k0, c, f)>, affine_map<(n, o0, f, k0, c) -> (n, o0, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0, %w : tensor<1x258x64xf32>, tensor<3x64x128xf32>) outs(%2 : tensor<1x128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x128x128xf32>
  return %3 : tensor<1x128x128xf32>
}
