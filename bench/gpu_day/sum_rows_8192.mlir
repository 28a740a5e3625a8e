func.func @sum_rows_8192(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192xf32>) -> tensor<8192xf32>
  %y = linalg.reduce ins(%x : tensor<8192x8192xf32>) outs(%init : tensor<8192xf32>) dimensions = [1]
    (%in: f32, %sum: f32) {
      %0 = arith.addf %in, %sum : f32
      linalg.yield %0 : f32
    }
  return %y : tensor<8192xf32>
}
