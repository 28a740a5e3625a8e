func.func @MM_197x769x1023(%a: tensor<197x1023xf32>, %b: tensor<1023x769xf32>) -> tensor<197x769xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<197x769xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<197x769xf32>) -> tensor<197x769xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<197x1023xf32>, tensor<1023x769xf32>) outs(%1 : tensor<197x769xf32>) -> tensor<197x769xf32>
  return %2 : tensor<197x769xf32>
}
