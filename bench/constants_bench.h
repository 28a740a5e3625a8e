// The constants that constants_bench checks, how it checks each, and on which operators. Run from the root of the
// sources, because the operators are files there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/import/import.h"
#include "lang/graph/outline.h"
#include "lang/program/builder.h"
#include "testing/matmul.h"

namespace kiln {

// An operator on which a constant is checked: its name and a function that makes its program. Task returns the first
// task of that program, which is tuned.
struct Operator {
  std::string name;
  std::function<Program()> make;

  Program Task(const CostTable& costs) const {
    return ExtractTasks(make(), {}, costs).value().front().program;
  }
};

inline Operator File(const std::string& name) {
  const char* folder = absl::ascii_isupper(name[0]) ? "bench/operators/" : "tests/inputs/ops/";
  return {name, [path = absl::StrCat(folder, name, ".mlir")] { return ImportFile(path).value().program; }};
}

inline std::vector<Operator> Files(absl::string_view names) {
  std::vector<Operator> operators;
  for (const absl::string_view name : absl::StrSplit(names, ' '))
    operators.push_back(File(std::string(name)));
  return operators;
}

// Returns matrix products of 256 x 256 elements, one for each number of terms in `depths`.
inline std::vector<Operator> Products(const std::vector<int64_t>& depths) {
  std::vector<Operator> operators;
  for (const int64_t depth : depths)
    operators.push_back({absl::StrCat("product over ", depth), [depth] { return Matmul(256, 256, depth); }});
  return operators;
}

// Returns convolutions with windows of one element and a stride of two, one for each number of output channels in
// `reuses`. Each input element that the stride does not skip is read once for each output channel.
inline std::vector<Operator> Strided(const std::vector<int64_t>& reuses) {
  std::vector<Operator> operators;
  for (const int64_t reuse : reuses)
    operators.push_back({absl::StrCat("steps of two, read ", reuse, " times"), [reuse] {
                           Builder b("strided");
                           const IndexSum h = b.Iter(0), w = b.Iter(1), f = b.Iter(2), c = b.Iter(3);
                           const Id X = b.Input("X", DType::kF32, {56, 56, 64}),
                                    W = b.Input("W", DType::kF32, {64, reuse}),
                                    Y = b.Output("Y", DType::kF32, {28, 28, reuse});
                           b.Reduce("strided",
                                    {{"h", 28}, {"w", 28}, {"f", reuse}, {"c", 64, IterKind::kReduction}},
                                    Monoid::Kind::kSum, {Y, {h, w, f}},
                                    b.Mul(b.Load(X, {h * 2, w * 2, c}), b.Load(W, {c, f})));
                           return b.Finish();
                         }});
  return operators;
}

// How a constant is checked: by replayed traces, by searches, or by the instructions and the time of a loop
// (constants_bench.cc).
enum class How { kTraces, kSearches, kCode };

struct ConstantCheck {
  const char* constant;
  How how;
  std::vector<Operator> operators = {};  // of searches
};

inline std::vector<Operator> OperatorsOfTraces() {
  return Files(
      "torch_matmul_1024 jax_conv2d_nhwc_3x3_bias_relu torch_conv2d_nchw_3x3_bias torch_conv2d_depthwise "
      "jax_conv2d_group4 torch_dense_bias_gelu torch_softmax torch_layernorm torch_maxpool torch_conv2d_dilated "
      "RL1 RL23 DIL0 DILL0 DEP1 DEPL0 T2D0 T2DL0 C3DL0 GRPL1 CBR0 SFM1 SFM3 NRM3 MM_197x769x1023");
}

inline std::vector<Operator> OperatorsWithPlaces() {
  return Files(
      "torch_conv2d_nchw_3x3_bias jax_conv2d_group4 torch_conv2d_depthwise torch_layernorm torch_softmax DEPL0 "
      "T2DL0 GRPL1 CBR0 LN1 BNR0 TBG0 GEL1");
}

inline std::vector<ConstantCheck> Checks() {
  return {{"call-instructions", How::kCode},
          {"gather-instructions", How::kCode},
          {"function-line", How::kTraces},
          {"most-repeats", How::kSearches, OperatorsWithPlaces()},
          {"least-tile-registers", How::kSearches, Products({256})},
          {"least-tile", How::kSearches, Products({134, 142, 146, 268, 284, 292})},
          {"most-tile", How::kSearches, Products({74, 82, 86, 134, 142, 146})},
          {"padded-tile", How::kSearches, Products({131, 146, 163, 194})},
          {"dense-reuse", How::kSearches, Strided({8, 10, 12, 16, 20, 24, 40, 64})},
          {"nest-versions", How::kTraces},
          {"edge-values", How::kTraces},
          {"edge-versions", How::kTraces},
          {"prefetch-bytes", How::kTraces},
          {"prefetch-lines", How::kTraces},
          {"padding-line", How::kTraces},
          {"sum-body", How::kTraces},
          {"sum-line", How::kTraces},
          {"held-line", How::kTraces},
          {"held-vectors", How::kTraces},
          {"held-copies", How::kTraces},
          {"stepping-pointers", How::kTraces}};
}

}  // namespace kiln
