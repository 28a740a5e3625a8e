func.func @GMM0(%a: tensor<1x128x128xf32>, %b: tensor<1x128x128xf32>) -> tensor<1x128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x128x128xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x128x128xf32>) -> tensor<1x128x128xf32>
  %2 = linalg.batch_matmul ins(%a, %b : tensor<1x128x128xf32>, tensor<1x128x128xf32>) outs(%1 : tensor<1x128x128xf32>) -> tensor<1x128x128xf32>
  return %2 : tensor<1x128x128xf32>
}
