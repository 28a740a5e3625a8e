// Lesson 6: kernels by hand. A GEMM with packed operands, convolutions in both layouts and a depthwise one, a
// dense layer with its GELU, a softmax and a layer norm, each a straight program, measured on this machine
// and compared with what it was made from.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "backends/cpu/measurer.h"
#include "backends/import/import.h"
#include "lang/schedule.h"

using namespace kiln;

namespace {

// The sums of a tile in registers: `rows` and `lanes` are its loops. Below `loop`, one instance after the
// other; their combination into the result is straight line too. It walks the dimensions of the result: of
// rows and lanes, so many from the last are given.
void SumsInRegisters(Schedule& s, Block block, Loop loop, Loop rows, Loop lanes, size_t row_dim = 1,
                     size_t lane_dim = 0) {
  s.Unroll(rows);
  s.Vectorize(lanes);
  const std::vector<Loop> out = s.GetLoops(s.AccumulateAt(block, loop));
  s.Unroll(out[out.size() - 1 - row_dim]);
  s.Vectorize(out[out.size() - 1 - lane_dim]);
}

// Goto's order: a block of B is packed for each k0, in panels of two vectors; four rows of A meet each panel.
// Sums of 4 x 2 vectors stay in registers for 256 steps.
void PackedGemm(Schedule& s) {
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

// Output rows and channels outside; four pixels of two vectors of channels in registers. Bias and ReLU follow
// each tile while it is in the first cache.
void Convolution(Schedule& s) {
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

// Columns are next to each other here, so they are the lanes: eight of them, which divide the row, for eight
// channels. The rows that an output row needs are padded when it is made, and stay in the caches for all
// channels.
void ConvolutionOfPlanes(Schedule& s) {
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

// A channel has nine weights of its own: the window is written out, and a row that was loaded serves the
// three output rows that see it.
void Depthwise(Schedule& s) {
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

// The transposition of the weights is the packing: it is made where a panel is needed, and laid out as one.
void DenseGelu(Schedule& s) {
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

// A row at a time, which stays in the first cache from its maximum to its quotients.
void Softmax(Schedule& s) {
  const Loop row = s.GetLoops(s.GetBlock("div"))[0];
  s.ComputeInline(s.GetBlock("sub"));
  for (const char* name : {"reduce_sum", "exp", "reduce_max"}) s.ComputeAt(s.GetBlock(name), row);
  s.VectorizeInner(64);
}

// A row at a time again. What is one number a row is computed once for it; what is one for each element is
// never stored.
void LayerNorm(Schedule& s) {
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

absl::Status Show(const Lesson& lesson, CpuMeasurer& measurer) {
  const auto imported = ImportFile(lesson.file);
  if (!imported.ok()) return imported.status();
  const Program& original = imported->program;
  RandomDice dice(Engine{0});
  RandomChooser nobody(dice);
  Schedule s(original, measurer.target(), nobody);
  lesson.schedule(s);
  if (!s.ok()) return s.status();

  const MeasureRequest requests[] = {{.original = &original, .scheduled = &original},
                                     {.original = &original, .scheduled = &s.program()}};
  const std::vector<MeasureResult> results = measurer.Measure(requests);
  for (const MeasureResult& result : results) {
    if (!result.ok()) return absl::InternalError(absl::StrCat(lesson.file, ": ", result.error));
  }
  const double plain = results[0].samples[0], by_hand = results[1].samples[0];
  std::cout << lesson.file << ": " << plain * 1e3 << " ms as it is, " << by_hand * 1e3 << " ms by hand, "
            << plain / by_hand << " times as fast\n";
  if (by_hand < plain) return absl::OkStatus();
  return absl::InternalError("by hand it is slower");
}

}  // namespace

int main() {
  auto measurer = CpuMeasurer::Start({.run_seconds = 60});  // as it is, one takes seconds
  if (!measurer.ok()) return std::cerr << measurer.status() << "\n", 1;
  for (const Lesson& lesson :
       {Lesson{"examples/matmul.mlir", PackedGemm},
        Lesson{"tests/inputs/ops/jax_conv2d_nhwc_3x3_bias_relu.mlir", Convolution},
        Lesson{"tests/inputs/ops/torch_conv2d_nchw_3x3_bias.mlir", ConvolutionOfPlanes},
        Lesson{"tests/inputs/ops/torch_conv2d_depthwise.mlir", Depthwise},
        Lesson{"tests/inputs/ops/torch_dense_bias_gelu.mlir", DenseGelu},
        Lesson{"tests/inputs/ops/torch_softmax.mlir", Softmax},
        Lesson{"tests/inputs/ops/torch_layernorm.mlir", LayerNorm}}) {
    if (const absl::Status shown = Show(lesson, *measurer); !shown.ok()) {
      std::cerr << lesson.file << ": " << shown << "\n";
      return 1;
    }
  }
}
