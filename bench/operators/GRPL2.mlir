func.func @GRPL2(%x: tensor<1x14x14x256xf32>, %w: tensor<3x3x64x256xf32> {kiln.constant}) -> tensor<1x14x14x256xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
      tensor.yield %zero : f32
    } : tensor<1x14x14x256xf32> to tensor<1x16x16x256xf32>
  %1 = tensor.expand_shape %0 [[0], [1], [2], [3, 4]] output_shape [1, 16, 16, 4, 64] : tensor<1x16x16x256xf32> into tensor<1x16x16x4x64xf32>
  %2 = tensor.expand_shape %w [[0], [1], [2], [3, 4]] output_shape [3, 3, 64, 4, 64] : tensor<3x3x64x256xf32> into tensor<3x3x64x4x64xf32>
  %3 = tensor.empty() : tensor<1x14x14x4x64xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<1x14x14x4x64xf32>) -> tensor<1x14x14x4x64xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, g, f, k0, k1, c) -> (n, o0 + k0, o1 + k1, g, c)>, affine_map<(n, o0, o1, g, f, k0, k1, c) -> (k0, k1, c, g, f)>, affine_map<(n, o0, o1, g, f, k0, k1, c) -> (n, o0, o1, g, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%1, %2 : tensor<1x16x16x4x64xf32>, tensor<3x3x64x4x64xf32>) outs(%4 : tensor<1x14x14x4x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x14x14x4x64xf32>
  %6 = tensor.collapse_shape %5 [[0], [1], [2], [3, 4]] : tensor<1x14x14x4x64xf32> into tensor<1x14x14x256xf32>
  return %6 : tensor<1x14x14x256xf32>
}
