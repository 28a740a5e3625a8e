func.func @T2DF0(%x: tensor<1x512x4x4xf32>, %w: tensor<512x256x4x4xf32> {kiln.constant}) -> tensor<1x256x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x512x11x11xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x512x11x11xf32>) -> tensor<1x512x11x11xf32>
  %2 = tensor.insert_slice %x into %1[0, 0, 2, 2] [1, 512, 4, 4] [1, 1, 2, 2] : tensor<1x512x4x4xf32> into tensor<1x512x11x11xf32>
  %last = arith.constant 3 : index
  %3 = tensor.empty() : tensor<4x4x512x256xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j, c, f) -> (i, j, c, f)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%3 : tensor<4x4x512x256xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %c = linalg.index 2 : index
      %f = linalg.index 3 : index
      %y = arith.subi %last, %i : index
      %x1 = arith.subi %last, %j : index
      %v = tensor.extract %w[%c, %f, %y, %x1] : tensor<512x256x4x4xf32>
      linalg.yield %v : f32
    } -> tensor<4x4x512x256xf32>
  %5 = tensor.empty() : tensor<1x256x8x8xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<1x256x8x8xf32>) -> tensor<1x256x8x8xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(n, f, h, w, i, j, c) -> (n, c, h + i, w + j)>, affine_map<(n, f, h, w, i, j, c) -> (i, j, c, f)>, affine_map<(n, f, h, w, i, j, c) -> (n, f, h, w)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%2, %4 : tensor<1x512x11x11xf32>, tensor<4x4x512x256xf32>) outs(%6 : tensor<1x256x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %product = arith.mulf %a, %b : f32
      %sum = arith.addf %out, %product : f32
      linalg.yield %sum : f32
    } -> tensor<1x256x8x8xf32>
  return %7 : tensor<1x256x8x8xf32>
}
