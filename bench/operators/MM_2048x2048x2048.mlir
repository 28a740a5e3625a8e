func.func @MM_2048x2048x2048(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<2048x2048xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %2 = linalg.matmul ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%1 : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %2 : tensor<2048x2048xf32>
}
