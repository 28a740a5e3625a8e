func.func @GRPF0(%x: tensor<1x64x56x56xf32>, %w: tensor<128x16x3x3xf32> {kiln.constant}) -> tensor<1x128x28x28xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
      tensor.yield %zero : f32
    } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2], [3], [4]] output_shape [1, 4, 16, 58, 58] : tensor<1x64x58x58xf32> into tensor<1x4x16x58x58xf32>
  %2 = tensor.expand_shape %w [[0, 1], [2], [3], [4]] output_shape [4, 32, 16, 3, 3] : tensor<128x16x3x3xf32> into tensor<4x32x16x3x3xf32>
  %3 = tensor.empty() : tensor<1x4x32x28x28xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<1x4x32x28x28xf32>) -> tensor<1x4x32x28x28xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(n, g, f, o0, o1, c, k0, k1) -> (n, g, c, o0 * 2 + k0, o1 * 2 + k1)>, affine_map<(n, g, f, o0, o1, c, k0, k1) -> (g, f, c, k0, k1)>, affine_map<(n, g, f, o0, o1, c, k0, k1) -> (n, g, f, o0, o1)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%1, %2 : tensor<1x4x16x58x58xf32>, tensor<4x32x16x3x3xf32>) outs(%4 : tensor<1x4x32x28x28xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x4x32x28x28xf32>
  %6 = tensor.collapse_shape %5 [[0], [1, 2], [3], [4]] : tensor<1x4x32x28x28xf32> into tensor<1x128x28x28xf32>
  return %6 : tensor<1x128x28x28xf32>
}
