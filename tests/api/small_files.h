// MLIR texts of small programs, for the tests of api/.
#pragma once

#include <string>

#include "api/model.h"

namespace kiln::api {

// The source of an MLIR text.
inline Source Text(const char* text) { return {.path = "", .text = text, .name = "", .function = ""}; }

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

// MLIR text of a model of two convolutions in a row, with constant weights and channels first: two tasks. The buffer
// between the two may get a layout with channels last.
inline constexpr char kConvolutions[] =
    "func.func @convs(%x: tensor<1x4x10x10xf32>, %w: tensor<8x4x3x3xf32> {kiln.constant},\n"
    "                 %v: tensor<8x8x3x3xf32> {kiln.constant}) -> tensor<1x8x6x6xf32> {\n"
    "  %z = arith.constant 0.0 : f32\n"
    "  %ae = tensor.empty() : tensor<1x8x8x8xf32>\n"
    "  %ai = linalg.fill ins(%z : f32) outs(%ae : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>\n"
    "  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x4x10x10xf32>, tensor<8x4x3x3xf32>)\n"
    "      outs(%ai : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>\n"
    "  %be = tensor.empty() : tensor<1x8x6x6xf32>\n"
    "  %bi = linalg.fill ins(%z : f32) outs(%be : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>\n"
    "  %b = linalg.conv_2d_nchw_fchw ins(%a, %v : tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>)\n"
    "      outs(%bi : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>\n"
    "  return %b : tensor<1x8x6x6xf32>\n}\n";

inline constexpr char kNothing[] =
    "func.func @f(%x: tensor<0x6xf32>) -> tensor<0x6xf32> {\n"
    "  %e = tensor.empty() : tensor<0x6xf32>\n"
    "  %r = linalg.exp ins(%x : tensor<0x6xf32>) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>\n"
    "  return %r : tensor<0x6xf32>\n}\n";

}  // namespace kiln::api
