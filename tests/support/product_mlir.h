// The text of an MLIR file with a product of 32x48 by 48x64 matrices in f32, for tests of the command kiln.
#pragma once

namespace kiln {

inline constexpr char kProduct[] =
    "func.func @product(%a: tensor<32x48xf32>, %b: tensor<48x64xf32>) -> tensor<32x64xf32> {\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %e = tensor.empty() : tensor<32x64xf32>\n"
    "  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>\n"
    "  %c = linalg.matmul ins(%a, %b : tensor<32x48xf32>, tensor<48x64xf32>) outs(%f : tensor<32x64xf32>) -> "
    "tensor<32x64xf32>\n"
    "  return %c : tensor<32x64xf32>\n"
    "}\n";

}  // namespace kiln
