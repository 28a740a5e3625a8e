func.func @LN2(%x: tensor<197x768xf32>, %scale: tensor<768xf32>, %offset: tensor<768xf32>) -> tensor<197x768xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %epsilon = arith.constant 1.0e-05 : f32
  %0 = tensor.empty() : tensor<197xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<197xf32>) -> tensor<197xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%x : tensor<197x768xf32>) outs(%1 : tensor<197xf32>) {
    ^bb0(%a: f32, %out: f32):
      %s = arith.addf %a, %out : f32
      linalg.yield %s : f32
    } -> tensor<197xf32>
  %3 = tensor.empty() : tensor<197xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%2 : tensor<197xf32>) outs(%3 : tensor<197xf32>) {
    ^bb0(%a: f32, %out: f32):
      %q = arith.divf %a, %n : f32
      linalg.yield %q : f32
    } -> tensor<197xf32>
  %5 = tensor.empty() : tensor<197xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%5 : tensor<197xf32>) -> tensor<197xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]} ins(%x, %4 : tensor<197x768xf32>, tensor<197xf32>) outs(%6 : tensor<197xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %d = arith.subf %a, %b : f32
      %p = arith.mulf %d, %d : f32
      %s = arith.addf %p, %out : f32
      linalg.yield %s : f32
    } -> tensor<197xf32>
  %8 = tensor.empty() : tensor<197xf32>
  %9 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%7 : tensor<197xf32>) outs(%8 : tensor<197xf32>) {
    ^bb0(%a: f32, %out: f32):
      %q = arith.divf %a, %n : f32
      %v = arith.addf %q, %epsilon : f32
      %r = math.rsqrt %v : f32
      linalg.yield %r : f32
    } -> tensor<197xf32>
  %10 = tensor.empty() : tensor<197x768xf32>
  %11 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%x, %4, %9, %scale, %offset : tensor<197x768xf32>, tensor<197xf32>, tensor<197xf32>, tensor<768xf32>, tensor<768xf32>) outs(%10 : tensor<197x768xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %out: f32):
      %p = arith.subf %a, %b : f32
      %q = arith.mulf %p, %c : f32
      %r = arith.mulf %q, %d : f32
      %s = arith.addf %r, %e : f32
      linalg.yield %s : f32
    } -> tensor<197x768xf32>
  return %11 : tensor<197x768xf32>
}
