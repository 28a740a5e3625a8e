// Programs for tests of features for accelerators: the prepare phase, owners, pipelines.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "testing/scheduled.h"

namespace kiln {

// Returns the program Y[i] = X[i];  P[j] = W[j] + 1;  Q[j] = P[j]*P[j];  Z[i] = Y[i]*Q[i], of 8 elements each. W is a
// constant.
inline Program Packed() {
  Builder b("packed");
  const Id X = b.Input("X", DType::kF32, {8}), W = b.Constant("W", DType::kF32, {8});
  const Id Y = b.Temporary("Y", DType::kF32, {8}), P = b.Temporary("P", DType::kF32, {8}),
           Q = b.Temporary("Q", DType::kF32, {8});
  const Id Z = b.Output("Z", DType::kF32, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("copy", {{"i", 8}}, {Y, {i}}, b.Load(X, {i}));
  b.Compute("pack", {{"j", 8}}, {P, {i}}, b.Add(b.Load(W, {i}), b.Float(DType::kF32, 1)));
  b.Compute("square", {{"j", 8}}, {Q, {i}}, b.Mul(b.Load(P, {i}), b.Load(P, {i})));
  b.Compute("scale", {{"i", 8}}, {Z, {i}}, b.Mul(b.Load(Y, {i}), b.Load(Q, {i})));
  return b.Finish();
}

// Returns the program S[k, i] = A[k, i];  C[i] = Σ_k S[k, i], of 6 by 8 elements.
inline Program Fed() {
  Builder b("fed");
  const Id A = b.Input("A", DType::kF32, {6, 8}), S = b.Temporary("S", DType::kF32, {6, 8});
  const Id C = b.Output("C", DType::kF32, {8});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Compute("load", {{"k", 6}, {"i", 8}}, {S, {b.Iter(0), b.Iter(1)}}, b.Load(A, {b.Iter(0), b.Iter(1)}));
  b.Reduce("sum", {{"i", 8}, {"k", 6, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i}},
           b.Load(S, {k, i}));
  return b.Finish();
}

// Returns a schedule of T[i] = A[i];  C[i] = T[i] in two kernels of 8 threads, with T in global memory.
inline Schedule InTwoKernels() {
  Builder b("apart");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {8}),
           C = b.Output("C", DType::kF32, {8});
  const std::vector<IndexSum> i = {b.Iter(0)};
  b.Compute("make", {{"i", 8}}, {T, i}, b.Load(A, i));
  b.Compute("use", {{"i", 8}}, {C, i}, b.Load(T, i));
  Schedule s = Scheduled(b.Finish());
  for (const char* block : {"make", "use"}) s.Bind(s.GetLoops(s.GetBlock(block))[0], LoopKind::kThreadX);
  return s;
}

// Collects error messages of refused steps, each under a title, as text for a golden file.
class Refusals {
 public:
  void Add(const std::string& title, Program program, const std::function<void(Schedule&)>& steps) {
    Schedule s = Scheduled(std::move(program));
    steps(s);
    EXPECT_FALSE(s.ok()) << title << " is not refused";
    // Takes the message and the primitive out of an error of these two lines:
    //    step 3 does not apply: MESSAGE
    //      step 3:  results = PRIMITIVE operands
    const std::vector<std::string> lines = absl::StrSplit(s.status().message(), '\n');
    const std::string message = lines[0].substr(lines[0].find(": ") + 2);
    std::string step = lines.size() < 2 ? "" : lines[1].substr(lines[1].find(":  ") + 3);
    if (const size_t at = step.find(" = "); at != std::string::npos) step = step.substr(at + 3);
    absl::StrAppend(&text_, "# ", title, "\n", step.substr(0, step.find(' ')), ": ", message, "\n\n");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace kiln
