// Seven kernels scheduled by hand (09_by_hand.cc). Their traces for AVX2 are in
// tests/golden/trace/by_hand_*.trace, and tests/backends/by_hand_test.cc replays these.
#pragma once

#include "lang/schedule/schedule.h"

namespace kiln::by_hand {

// Keeps the accumulators of a tile in registers below `loop`. Unrolls the tile's loops `rows`, vectorizes `lanes`, and
// does the same to the loops that combine the accumulators into the result. row_dim and lane_dim are the result's
// dimensions of rows and lanes, counted from the last, which is 0.
inline void SumsInRegisters(Schedule& s, Block block, Loop loop, Loop rows, Loop lanes, size_t row_dim = 1,
                            size_t lane_dim = 0) {
  s.Unroll(rows);
  s.Vectorize(lanes);
  const std::vector<Loop> out = s.GetLoops(s.AccumulateAt(block, loop));
  s.Unroll(out[out.size() - 1 - row_dim]);
  s.Vectorize(out[out.size() - 1 - lane_dim]);
}

// Schedules a GEMM in Goto's order: for each k0, packs a block of B in panels of two vectors, each of which is
// multiplied with four rows of A. Accumulators of 4 x 2 vectors stay in registers for 256 steps. A is not packed, which
// was 3% faster.
inline void PackedGemm(Schedule& s) {
  const int64_t lanes = s.target().vector_bytes / 4;
  const Block gemm = s.GetBlock("matmul");
  const auto loops = s.GetLoops(gemm);
  const auto [i0, i1, i2] = s.Split<3>(loops[0], {kAuto, 32, 4});
  const auto [j0, j1, j2] = s.Split<3>(loops[1], {kAuto, 8, 2 * lanes});
  const auto [k0, k1] = s.Split<2>(loops[2], {kAuto, 256});
  s.Reorder({j0, k0, i0, j1, i1, k1, i2, j2});
  SumsInRegisters(s, gemm, i1, i2, j2);
  s.ComputeAt(s.CacheRead(gemm, 1), k0);
  s.TransformLayout(gemm, 1, "(k, n) -> (n/$0, k, n%$0)", {Factor(2 * lanes)});
  s.VectorizeInner(64);  // the copy: lanes as wide as a panel
}

// Schedules a convolution with loops over output rows and channels outside, and four pixels of two channel vectors in
// registers. Bias and ReLU follow each tile while it is in the L1 cache.
inline void Convolution(Schedule& s) {
  const int64_t lanes = s.target().vector_bytes / 4;
  const Block conv = s.GetBlock("conv_2d_nhwc_hwcf"), relu = s.GetBlock("max");
  for (const char* name : {"broadcast", "copy", "add"}) s.ComputeInline(s.GetBlock(name));
  const auto loops = s.GetLoops(conv);
  const auto [x0, x1] = s.Split<2>(loops[2], {kAuto, 4});
  const auto [c0, c1] = s.Split<2>(loops[3], {kAuto, 2 * lanes});
  s.Reorder({loops[0], loops[1], c0, x0, loops[4], loops[5], loops[6], x1, c1});
  s.ReverseComputeAt(relu, x0);
  SumsInRegisters(s, conv, x0, x1, c1);
  s.VectorizeInner(64);
}

// Schedules a convolution of planes (NCHW). Neighboring columns are neighbors in memory, so they become the lanes. A
// tile has eight columns, which divide the row, and eight channels. The input rows of an output row are padded just
// before it and stay in the caches for all channels.
inline void ConvolutionOfPlanes(Schedule& s) {
  const Block conv = s.GetBlock("conv_2d_nchw_fchw");
  s.ComputeInline(s.GetBlock("broadcast"));
  const auto loops = s.GetLoops(conv);  // n, channel, row, column, channel of the input, and the window
  const auto [c0, c1] = s.Split<2>(loops[1], {kAuto, 8});
  const auto [x0, x1] = s.Split<2>(loops[3], {kAuto, 8});
  s.Reorder({loops[0], loops[2], c0, x0, loops[4], loops[5], loops[6], c1, x1});
  s.ComputeAt(s.GetBlock("pad"), loops[2]);
  SumsInRegisters(s, conv, x0, c1, x1, 2);
  s.VectorizeInner(64);
}

// Schedules a depthwise convolution, in which each channel has nine weights. The window is unrolled, and a loaded row
// is used for all three output rows that need it.
inline void Depthwise(Schedule& s) {
  const int64_t lanes = s.target().vector_bytes / 4;
  const Block conv = s.GetBlock("depthwise_conv_2d_nchw_chw");
  const auto loops = s.GetLoops(conv);  // n, row, column, channel, and the window
  const auto [y0, y1] = s.Split<2>(loops[1], {kAuto, 4});
  const auto [x0, x1] = s.Split<2>(loops[2], {kAuto, 2 * lanes});
  s.Reorder({loops[0], loops[3], y0, x0, loops[4], loops[5], y1, x1});
  s.ComputeAt(s.GetBlock("pad"), y0);
  s.Unroll(loops[4]);
  s.Unroll(loops[5]);
  SumsInRegisters(s, conv, x0, y1, x1, 2, 1);
  s.VectorizeInner(64);
}

// Schedules a dense layer with GELU, in which packing transposes the weights: each panel is computed where it is
// needed.
inline void DenseGelu(Schedule& s) {
  const int64_t lanes = s.target().vector_bytes / 4;
  const Block gemm = s.GetBlock("matmul"), gelu = s.GetBlock("mul"), transpose = s.GetBlock("transpose");
  for (const char* name : {"broadcast"}) s.ComputeInline(s.GetBlock(name));
  const auto loops = s.GetLoops(gemm);
  const auto [i0, i1] = s.Split<2>(loops[0], {kAuto, 4});
  const auto [j0, j1, j2] = s.Split<3>(loops[1], {kAuto, 4, 2 * lanes});
  s.Reorder({j0, i0, j1, loops[2], i1, j2});
  s.ComputeAt(transpose, j0);
  s.TransformLayout(gemm, 1, "(k, n) -> (n/$0, k, n%$0)", {Factor(2 * lanes)});
  s.ReverseComputeAt(s.GetBlock("add"), j1);
  s.ReverseComputeAt(gelu, j1);
  SumsInRegisters(s, gemm, j1, i1, j2);
  s.VectorizeInner(64);
}

// Schedules a softmax to compute one row at a time, so that the row stays in the L1 cache from its maximum to its
// quotients.
inline void Softmax(Schedule& s) {
  const Loop row = s.GetLoops(s.GetBlock("div"))[0];
  s.ComputeInline(s.GetBlock("sub"));
  for (const char* name : {"reduce_sum", "exp", "reduce_max"}) s.ComputeAt(s.GetBlock(name), row);
  s.VectorizeInner(64);
}

// Schedules a layer norm to compute one row at a time. Values per row are computed once per row, and intermediate
// values per element are never stored.
inline void LayerNorm(Schedule& s) {
  const Loop row = s.GetLoops(s.GetBlock("add.1"))[1];
  for (const char* name : {"cast", "sub", "mul", "sub.1", "mul.1", "mul.2", "div.1", "cast.1", "add"})
    s.ComputeInline(s.GetBlock(name));
  for (const char* name : {"rsqrt", "div.2", "reduce_sum.2", "reduce_sum.1", "div", "reduce_sum"})
    s.ComputeAt(s.GetBlock(name), row);
  s.VectorizeInner(64);
}

struct Lesson {
  const char* file;
  void (*schedule)(Schedule& s);
};

inline constexpr Lesson kLessons[] = {
    {"examples/matmul.mlir", PackedGemm},
    {"tests/inputs/ops/jax_conv2d_nhwc_3x3_bias_relu.mlir", Convolution},
    {"tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir", ConvolutionOfPlanes},
    {"tests/inputs/ops/torch_conv2d_depthwise.mlir", Depthwise},
    {"tests/inputs/ops/torch_dense_bias_gelu.mlir", DenseGelu},
    {"tests/inputs/ops/torch_softmax.mlir", Softmax},
    {"tests/inputs/ops/torch_layernorm.mlir", LayerNorm}};

}  // namespace kiln::by_hand
