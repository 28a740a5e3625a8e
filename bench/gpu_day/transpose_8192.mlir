func.func @transpose_8192(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %empty = tensor.empty() : tensor<8192x8192xf32>
  %y = linalg.transpose ins(%x : tensor<8192x8192xf32>) outs(%empty : tensor<8192x8192xf32>) permutation = [1, 0]
  return %y : tensor<8192x8192xf32>
}
