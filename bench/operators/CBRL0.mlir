func.func @CBRL0(%x: tensor<1x56x56x64xf32>, %w: tensor<3x3x64x64xf32> {kiln.constant}, %bias: tensor<64xf32> {kiln.constant}, %scale: tensor<64xf32> {kiln.constant}, %offset: tensor<64xf32> {kiln.constant}) -> tensor<1x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):
      tensor.yield %zero : f32
    } : tensor<1x56x56x64xf32> to tensor<1x58x58x64xf32>
  %1 = tensor.empty() : tensor<1x56x56x64xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0 + k0, o1 + k1, c)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (k0, k1, c, f)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0, o1, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0, %w : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%2 : tensor<1x56x56x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x56x56x64xf32>
  %4 = tensor.empty() : tensor<1x56x56x64xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (n, h, w, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3, %bias, %scale, %offset : tensor<1x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%4 : tensor<1x56x56x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
      %t = arith.addf %a, %b : f32
      %u = arith.mulf %t, %c : f32
      %v = arith.addf %u, %d : f32
      %r = arith.maximumf %v, %zero : f32
      linalg.yield %r : f32
    } -> tensor<1x56x56x64xf32>
  return %5 : tensor<1x56x56x64xf32>
}
