// A convolution with a 3x3 window and zeros around the image: 28x28 pixels, 32 to 64 channels, channels last.
func.func @convolution(%x: tensor<1x28x28x32xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<1x28x28x64xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x28x28x32xf32> to tensor<1x30x30x32xf32>
  %empty = tensor.empty() : tensor<1x28x28x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
         ins(%padded, %w : tensor<1x30x30x32xf32>, tensor<3x3x32x64xf32>)
         outs(%init : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  return %y : tensor<1x28x28x64xf32>
}
