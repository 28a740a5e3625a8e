func.func @DEPF0(%x: tensor<1x32x112x112xf32>, %w: tensor<32x3x3xf32> {kiln.constant}) -> tensor<1x32x112x112xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
      tensor.yield %zero : f32
    } : tensor<1x32x112x112xf32> to tensor<1x32x114x114xf32>
  %1 = tensor.empty() : tensor<1x32x112x112xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<1x32x112x112xf32>) -> tensor<1x32x112x112xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, c, o0, o1, k0, k1) -> (n, c, o0 + k0, o1 + k1)>, affine_map<(n, c, o0, o1, k0, k1) -> (c, k0, k1)>, affine_map<(n, c, o0, o1, k0, k1) -> (n, c, o0, o1)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0, %w : tensor<1x32x114x114xf32>, tensor<32x3x3xf32>) outs(%2 : tensor<1x32x112x112xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x32x112x112xf32>
  return %3 : tensor<1x32x112x112xf32>
}
