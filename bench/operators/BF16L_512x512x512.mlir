func.func @BF16L_512x512x512(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16> {kiln.constant}) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<512x512xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%1 : tensor<512x512xf32>) {
    ^bb0(%x: bf16, %y: bf16, %out: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %product = arith.mulf %u, %v : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<512x512xf32>
  return %2 : tensor<512x512xf32>
}
