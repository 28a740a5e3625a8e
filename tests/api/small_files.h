// MLIR texts of small programs, for the tests of api/.
#pragma once

#include <string>

namespace kiln::api {

// MLIR text of a sum of two tensors of 24x40 f32: one task. Its arguments are named `left` and `right`.
inline constexpr char kAdd[] =
    "func.func @add(%left: tensor<24x40xf32>, %right: tensor<24x40xf32>) -> tensor<24x40xf32> {\n"
    "  %e = tensor.empty() : tensor<24x40xf32>\n"
    "  %r = linalg.add ins(%left, %right : tensor<24x40xf32>, tensor<24x40xf32>) outs(%e : "
    "tensor<24x40xf32>) "
    "-> tensor<24x40xf32>\n"
    "  return %r : tensor<24x40xf32>\n}\n";

inline constexpr char kMatmul[] =
    "func.func @mm(%a: tensor<32x48xf32>, %b: tensor<48x64xf32>) -> tensor<32x64xf32> {\n"
    "  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : tensor<32x64xf32>\n"
    "  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>\n"
    "  %c = linalg.matmul ins(%a, %b : tensor<32x48xf32>, tensor<48x64xf32>) outs(%f : tensor<32x64xf32>) -> "
    "tensor<32x64xf32>\n"
    "  return %c : tensor<32x64xf32>\n}\n";

inline constexpr char kNothing[] =
    "func.func @f(%x: tensor<0x6xf32>) -> tensor<0x6xf32> {\n"
    "  %e = tensor.empty() : tensor<0x6xf32>\n"
    "  %r = linalg.exp ins(%x : tensor<0x6xf32>) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>\n"
    "  return %r : tensor<0x6xf32>\n}\n";

}  // namespace kiln::api
