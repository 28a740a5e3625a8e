func.func @GRPL1(%x: tensor<1x56x56x64xf32>, %w: tensor<1x1x16x64xf32> {kiln.constant}) -> tensor<1x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.expand_shape %x [[0], [1], [2], [3, 4]] output_shape [1, 56, 56, 4, 16] : tensor<1x56x56x64xf32> into tensor<1x56x56x4x16xf32>
  %1 = tensor.expand_shape %w [[0], [1], [2], [3, 4]] output_shape [1, 1, 16, 4, 16] : tensor<1x1x16x64xf32> into tensor<1x1x16x4x16xf32>
  %2 = tensor.empty() : tensor<1x56x56x4x16xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<1x56x56x4x16xf32>) -> tensor<1x56x56x4x16xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, g, f, k0, k1, c) -> (n, o0 + k0, o1 + k1, g, c)>, affine_map<(n, o0, o1, g, f, k0, k1, c) -> (k0, k1, c, g, f)>, affine_map<(n, o0, o1, g, f, k0, k1, c) -> (n, o0, o1, g, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %1 : tensor<1x56x56x4x16xf32>, tensor<1x1x16x4x16xf32>) outs(%3 : tensor<1x56x56x4x16xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x56x56x4x16xf32>
  %5 = tensor.collapse_shape %4 [[0], [1], [2], [3, 4]] : tensor<1x56x56x4x16xf32> into tensor<1x56x56x64xf32>
  return %5 : tensor<1x56x56x64xf32>
}
