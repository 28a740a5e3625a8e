func.func @MM_1x4096x4096(%a: tensor<1x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x4096xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<1x4096xf32>, tensor<4096x4096xf32>) outs(%1 : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %2 : tensor<1x4096xf32>
}
