func.func @C3DL0(%x: tensor<1x16x224x224x3xf32>, %w: tensor<7x7x7x3x64xf32> {kiln.constant}) -> tensor<1x8x112x112x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 3, 3, 3, 0] high[0, 3, 3, 3, 0] {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      tensor.yield %zero : f32
    } : tensor<1x16x224x224x3xf32> to tensor<1x22x230x230x3xf32>
  %1 = tensor.empty() : tensor<1x8x112x112x64xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<1x8x112x112x64xf32>) -> tensor<1x8x112x112x64xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, o2, f, k0, k1, k2, c) -> (n, o0 * 2 + k0, o1 * 2 + k1, o2 * 2 + k2, c)>, affine_map<(n, o0, o1, o2, f, k0, k1, k2, c) -> (k0, k1, k2, c, f)>, affine_map<(n, o0, o1, o2, f, k0, k1, k2, c) -> (n, o0, o1, o2, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%0, %w : tensor<1x22x230x230x3xf32>, tensor<7x7x7x3x64xf32>) outs(%2 : tensor<1x8x112x112x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x8x112x112x64xf32>
  return %3 : tensor<1x8x112x112x64xf32>
}
