func.func @C3DF0(%x: tensor<1x3x16x224x224xf32>, %w: tensor<64x3x7x7x7xf32> {kiln.constant}) -> tensor<1x64x8x112x112xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 0, 3, 3, 3] high[0, 0, 3, 3, 3] {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      tensor.yield %zero : f32
    } : tensor<1x3x16x224x224xf32> to tensor<1x3x22x230x230xf32>
  %1 = tensor.empty() : tensor<1x64x8x112x112xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<1x64x8x112x112xf32>) -> tensor<1x64x8x112x112xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, f, o0, o1, o2, c, k0, k1, k2) -> (n, c, o0 * 2 + k0, o1 * 2 + k1, o2 * 2 + k2)>, affine_map<(n, f, o0, o1, o2, c, k0, k1, k2) -> (f, c, k0, k1, k2)>, affine_map<(n, f, o0, o1, o2, c, k0, k1, k2) -> (n, f, o0, o1, o2)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%0, %w : tensor<1x3x22x230x230xf32>, tensor<64x3x7x7x7xf32>) outs(%2 : tensor<1x64x8x112x112xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x64x8x112x112xf32>
  return %3 : tensor<1x64x8x112x112xf32>
}
