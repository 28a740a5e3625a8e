func.func @BNR0(%x: tensor<1x64x112x112xf32>, %scale: tensor<64xf32> {kiln.constant}, %offset: tensor<64xf32> {kiln.constant}, %mean: tensor<64xf32> {kiln.constant}, %variance: tensor<64xf32> {kiln.constant}) -> tensor<1x64x112x112xf32> {
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant 1.0e-05 : f32
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(f) -> (f)>, affine_map<(f) -> (f)>, affine_map<(f) -> (f)>],
        iterator_types = ["parallel"]} ins(%variance, %scale : tensor<64xf32>, tensor<64xf32>) outs(%0 : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %v = arith.addf %a, %epsilon : f32
      %q = math.rsqrt %v : f32
      %r = arith.mulf %q, %b : f32
      linalg.yield %r : f32
    } -> tensor<64xf32>
  %2 = tensor.empty() : tensor<1x64x112x112xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %mean, %1, %offset : tensor<1x64x112x112xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) outs(%2 : tensor<1x64x112x112xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
      %s = arith.subf %a, %b : f32
      %p = arith.mulf %s, %c : f32
      %q = arith.addf %p, %d : f32
      %r = arith.maximumf %q, %zero : f32
      linalg.yield %r : f32
    } -> tensor<1x64x112x112xf32>
  return %3 : tensor<1x64x112x112xf32>
}
