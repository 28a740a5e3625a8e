func.func @CBR2(%x: tensor<1x28x28x128xf32>, %w: tensor<1x1x128x256xf32>, %bias: tensor<256xf32>, %scale: tensor<256xf32>, %offset: tensor<256xf32>) -> tensor<1x14x14x256xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x14x14x256xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0 * 2 + k0, o1 * 2 + k1, c)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (k0, k1, c, f)>, affine_map<(n, o0, o1, f, k0, k1, c) -> (n, o0, o1, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x28x28x128xf32>, tensor<1x1x128x256xf32>) outs(%1 : tensor<1x14x14x256xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x14x14x256xf32>
  %3 = tensor.empty() : tensor<1x14x14x256xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (n, h, w, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %bias, %scale, %offset : tensor<1x14x14x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) outs(%3 : tensor<1x14x14x256xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
      %t = arith.addf %a, %b : f32
      %u = arith.mulf %t, %c : f32
      %v = arith.addf %u, %d : f32
      %r = arith.maximumf %v, %zero : f32
      linalg.yield %r : f32
    } -> tensor<1x14x14x256xf32>
  return %4 : tensor<1x14x14x256xf32>
}
