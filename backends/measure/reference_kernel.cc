#include "backends/measure/reference_kernel.h"

#include "lang/base/check.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"

namespace kiln {

Program ReferenceKernelProgram(const Target& target) {
  constexpr int64_t kTileRows = 6, kRows = 11 * kTileRows, kSize = 64;
  Builder b("kernel");
  const Id A = b.Input("A", DType::kF32, {kRows, kSize}), B = b.Input("B", DType::kF32, {kSize, kSize}),
           C = b.Output("C", DType::kF32, {kRows, kSize});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("matmul", {{"i", kRows}, {"j", kSize}, {"k", kSize, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {i, j}}, b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));

  RandomDice dice{Engine({1})};
  RandomChooser none(dice);  // never asked, since nothing is sampled
  Schedule s(b.Finish(), target, none);
  const Block matmul = s.GetBlock("matmul");
  const std::vector<Loop> loops = s.GetLoops(matmul);
  const int64_t lanes = target.vector_bytes / 4;
  const auto rows = s.Split(loops[0], {kAuto, kTileRows}), columns = s.Split(loops[1], {kAuto, 2 * lanes});
  s.Reorder({rows[0], columns[0], loops[2], rows[1], columns[1]});
  s.Unroll(rows[1]);
  s.Vectorize(columns[1]);
  const std::vector<Loop> out = s.GetLoops(s.AccumulateAt(matmul, columns[0]));
  s.Unroll(out[out.size() - 2]);
  s.Vectorize(out.back());
  KILN_CHECK(s.ok(), s.status().ToString());
  return s.program();
}

Program GpuReferenceKernelProgram() {
  constexpr int64_t kBlocks = 512, kThreads = 256, kSteps = 512;
  Builder b("kernel");
  const Id X = b.Input("X", DType::kF32, {kBlocks * kThreads}), W = b.Input("W", DType::kF32, {kSteps}),
           Y = b.Output("Y", DType::kF32, {kBlocks * kThreads});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("sum", {{"i", kBlocks * kThreads}, {"k", kSteps, IterKind::kReduction}}, Monoid::Kind::kSum,
           {Y, {i}}, b.Mul(b.Load(X, {i}), b.Load(W, {k})));

  RandomDice dice{Engine({1})};
  RandomChooser none(dice);  // never asked, since nothing is sampled
  Schedule s(b.Finish(), Target(), none);
  const Block sum = s.GetBlock("sum");
  const auto parts = s.Split(s.GetLoops(sum)[0], {kBlocks, kThreads});
  s.AccumulateAt(sum, parts[1], "register");
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
  KILN_CHECK(s.ok(), s.status().ToString());
  return s.program();
}

}  // namespace kiln
