// For tests of builders, the measurer and export: small programs, pools of builders, and functions that watch
// processes.
#pragma once

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/builder/pool.h"
#include "gtest/gtest.h"
#include "lang/text/serialize.h"
#include "test_paths.h"
#include "testing/matmul.h"

namespace kiln {

// Returns the program Y[i] = a * X[i] + c for n elements of f32.
inline Program Affine(int64_t n, double a = 2, double c = 1) {
  Builder b("affine");
  const Id X = b.Input("X", DType::kF32, {n}), Y = b.Output("Y", DType::kF32, {n});
  const IndexSum i = b.Iter(0);
  b.Compute("affine", {{"i", n}}, {Y, {i}},
            b.Add(b.Mul(b.Float(DType::kF32, a), b.Load(X, {i})), b.Float(DType::kF32, c)));
  return b.Finish();
}

// Returns the program P[i] = 2 * W[i];  Y[i] = X[i] + P[i], where W is a constant and P is computed in the prepare
// phase.
inline Program WithPrepare(int64_t n) {
  Builder b("prepared");
  const Id X = b.Input("X", DType::kF32, {n}), W = b.Constant("W", DType::kF32, {n}),
           Y = b.Output("Y", DType::kF32, {n});
  const Id P = b.Temporary("P", DType::kF32, {n});
  const IndexSum i = b.Iter(0);
  const Id pack = b.Compute("pack", {{"i", n}}, {P, {i}}, b.Mul(b.Float(DType::kF32, 2), b.Load(W, {i})));
  b.Compute("add", {{"i", n}}, {Y, {i}}, b.Add(b.Load(X, {i}), b.Load(P, {i})));
  Program p = b.Finish();
  Id top = pack;
  while (p.nodes[top].parent != kRoot) top = p.nodes[top].parent;
  p.nodes[top].prepare = true;
  return p;
}

// Returns a program that LLVM takes seconds to compile: `count` products of 24 x 24 matrices with unrolled loops.
inline Program Huge(int count = 24) {
  const int64_t n = 24;
  Builder b("huge");
  const Id A = b.Input("A", DType::kF32, {n, n}), B = b.Input("B", DType::kF32, {n, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  std::vector<Id> blocks;
  for (int c = 0; c < count; ++c) {
    const Id C = b.Output(absl::StrCat("C", c), DType::kF32, {n, n});
    blocks.push_back(b.Reduce(absl::StrCat("matmul", c), {{"i", n}, {"j", n}, {"k", n, IterKind::kReduction}},
                              Monoid::Kind::kSum, {C, {i, j}}, b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j}))));
  }
  Program p = b.Finish();
  for (const Id block : blocks) {
    for (Id node = p.nodes[block].parent; node != kRoot; node = p.nodes[node].parent)
      p.loop(node).kind = LoopKind::kUnrolled;
  }
  return p;
}

inline BuildRequest RequestFor(const Program& program,
                               std::vector<BuildOutput> outputs = {BuildOutput::kSharedObject}) {
  return {.program = Serialize(program), .outputs = std::move(outputs)};
}

inline std::string ProgramPath(const std::string& name) { return std::string(KILN_BUILD_DIR) + "/" + name; }

inline std::unique_ptr<BuilderPool> StartBuilders(int count = 1) {
  auto pool = BuilderPool::Start({.builder_path = ProgramPath("kiln-builder"),
                                  .cores = std::vector<std::vector<int>>(static_cast<size_t>(count))});
  EXPECT_TRUE(pool.ok()) << pool.status();
  return pool.ok() ? *std::move(pool) : nullptr;
}

inline bool IsRunning(pid_t pid) {
  std::string state;
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("State:", 0) == 0) state = line;
  }
  return !state.empty() && state.find('Z') == std::string::npos;
}

template <typename Condition>
bool Soon(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

// Returns the seconds of processor time that a process has used so far. Tests use it to see that a process is working.
inline double BusySeconds(pid_t pid) {
  std::ifstream stat(absl::StrCat("/proc/", pid, "/stat"));
  std::string field;
  double ticks = 0, value = 0;
  for (int i = 1; i <= 13; ++i) stat >> field;
  for (int i = 14; i <= 15 && stat >> value; ++i) ticks += value;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

inline void AwaitWork(pid_t pid, double seconds = 0.2) {
  const double before = BusySeconds(pid);
  EXPECT_TRUE(Soon([&] { return BusySeconds(pid) > before + seconds; }))
      << "process " << pid << " does nothing";
}

}  // namespace kiln
