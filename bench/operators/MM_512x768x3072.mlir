func.func @MM_512x768x3072(%a: tensor<512x3072xf32>, %b: tensor<3072x768xf32>) -> tensor<512x768xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<512x768xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<512x768xf32>) -> tensor<512x768xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<512x3072xf32>, tensor<3072x768xf32>) outs(%1 : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %2 : tensor<512x768xf32>
}
