func.func @permute_0231(%x: tensor<32x1024x16x128xf32>) -> tensor<32x16x128x1024xf32> {
  %empty = tensor.empty() : tensor<32x16x128x1024xf32>
  %y = linalg.transpose ins(%x : tensor<32x1024x16x128xf32>) outs(%empty : tensor<32x16x128x1024xf32>) permutation = [0, 2, 3, 1]
  return %y : tensor<32x16x128x1024xf32>
}
