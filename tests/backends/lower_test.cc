// Compiles programs without schedules, as import makes them, runs them, and compares the results with plain C++ loops.
// Also tests what Lower prints and refuses.
#include "backends/lower/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "testing/compiled/run_program.h"
#include "tests/backends/with_loops.h"

namespace kiln {
namespace {

constexpr auto kF32 = DType::kF32;

// Compiles the program and calls it with `buffers`, one for each parameter in their order.
void RunOn(const Program& program, const std::vector<void*>& buffers, const LowerOptions& options = {}) {
  auto loaded = BuildProgram(program, options);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(CallKernel(*loaded, program.name, buffers), 0);
}

TEST(Lower, MultipliesMatrices) {
  const int M = 7, N = 11, K = 13;
  Builder b("matmul");
  const Id A = b.Input("A", kF32, {M, K}), B = b.Input("B", kF32, {K, N}), C = b.Output("C", kF32, {M, N});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("matmul", {{"i", M}, {"j", N}, {"k", K, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));
  auto a = Random<float>(M * K, 1), w = Random<float>(K * N, 2);
  Array<float> c(M * N, 99.f);
  RunOn(b.Finish(), {a.data(), w.data(), c.data()});
  for (int y = 0; y < M; ++y) {
    for (int x = 0; x < N; ++x) {
      float sum = 0;
      for (int z = 0; z < K; ++z) sum += a[y * K + z] * w[z * N + x];
      ASSERT_EQ(c[y * N + x], sum) << y << " " << x;
    }
  }
}

TEST(Lower, PadsAStridedConvolutionWhereItIsRead) {
  const int H = 9, W = 10, CI = 3, CO = 4, OH = 5, OW = 5;  // 3x3, stride 2, padding 1
  Builder b("conv");
  const Id X = b.Input("X", kF32, {H, W, CI}), F = b.Input("F", kF32, {3, 3, CI, CO}),
           Y = b.Output("Y", kF32, {OH, OW, CO});
  const IndexSum oh = b.Iter(0), ow = b.Iter(1), co = b.Iter(2), kh = b.Iter(3), kw = b.Iter(4),
                 ci = b.Iter(5);
  const IndexSum h = oh * 2 + kh + IndexSum::Constant(-1), w = ow * 2 + kw + IndexSum::Constant(-1);
  const Id x = b.Within({{h, H}, {w, W}}, b.Load(X, {h, w, ci}), b.Float(kF32, 0));
  b.Reduce("conv",
           {{"oh", OH},
            {"ow", OW},
            {"co", CO},
            {"kh", 3, IterKind::kReduction},
            {"kw", 3, IterKind::kReduction},
            {"ci", CI, IterKind::kReduction}},
           Monoid::Kind::kSum, {Y, {oh, ow, co}}, b.Mul(x, b.Load(F, {kh, kw, ci, co})));
  auto in = Random<float>(H * W * CI, 1), f = Random<float>(9 * CI * CO, 2);
  Array<float> out(OH * OW * CO);
  RunOn(b.Finish(), {in.data(), f.data(), out.data()});
  for (int y = 0; y < OH; ++y)
    for (int x0 = 0; x0 < OW; ++x0)
      for (int o = 0; o < CO; ++o) {
        float sum = 0;
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s)
            for (int c = 0; c < CI; ++c) {
              const int yy = y * 2 + r - 1, xx = x0 * 2 + s - 1;
              if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                sum += in[(yy * W + xx) * CI + c] * f[((r * 3 + s) * CI + c) * CO + o];
            }
        ASSERT_EQ(out[(y * OW + x0) * CO + o], sum) << y << " " << x0 << " " << o;
      }
}

TEST(Lower, ChainsASoftmaxThroughTemporaries) {
  const int M = 5, N = 17;
  Builder b("softmax");
  const Id X = b.Input("X", kF32, {M, N}), Y = b.Output("Y", kF32, {M, N});
  const Id top = b.Temporary("top", kF32, {M}), e = b.Temporary("e", kF32, {M, N}),
           total = b.Temporary("total", kF32, {M});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  const std::vector<Builder::IterSpec> reduce = {{"i", M}, {"j", N, IterKind::kReduction}},
                                       map = {{"i", M}, {"j", N}};
  b.Reduce("top", reduce, Monoid::Kind::kMax, {top, {i}}, b.Load(X, {i, j}));
  b.Compute("e", map, {e, {i, j}},
            b.Make(Op::kExp, kF32, b.Make(Op::kSub, kF32, b.Load(X, {i, j}), b.Load(top, {i}))));
  b.Reduce("total", reduce, Monoid::Kind::kSum, {total, {i}}, b.Load(e, {i, j}));
  b.Compute("softmax", map, {Y, {i, j}}, b.Make(Op::kDiv, kF32, b.Load(e, {i, j}), b.Load(total, {i})));
  auto x = Random<float>(M * N, 3);
  Array<float> y(M * N);
  RunOn(b.Finish(), {x.data(), y.data()});
  for (int r = 0; r < M; ++r) {
    double most = -1e30, sum = 0;
    for (int c = 0; c < N; ++c) most = std::max<double>(most, x[r * N + c]);
    for (int c = 0; c < N; ++c) sum += std::exp(x[r * N + c] - most);
    for (int c = 0; c < N; ++c) ASSERT_NEAR(y[r * N + c], std::exp(x[r * N + c] - most) / sum, 1e-6);
  }
}

TEST(Lower, AddsAnInitialValueOnceAndReducesWithoutLoops) {
  Builder b("sums");
  const Id X = b.Input("X", kF32, {4, 6}), Y = b.Output("Y", kF32, {4}), Z = b.Output("Z", kF32, {4});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Reduce("rows", {{"i", 4}, {"j", 6, IterKind::kReduction}}, Monoid::Kind::kSum, {Y, {i}},
           b.Load(X, {i, j}), b.Float(kF32, 10));
  const Id last = b.Reduce("last", {{"i", 4}, {"j", 6, IterKind::kReduction}}, Monoid::Kind::kMax, {Z, {i}},
                           b.Load(X, {i, j}));
  Program p = b.Finish();
  // Removes the loop over j from the program and binds j to 5, so that the block has one instance for each i.
  const Id loop = p.nodes[last].parent, outer = p.nodes[loop].parent;
  p.Detach(last);
  p.Kill(loop);
  p.Append(outer, last);
  p.Iters(p.block(last).iters)[1].binding = p.AddMark(IndexSum::Constant(5), 6);
  auto x = Random<float>(24, 4);
  Array<float> y(4), z(4);
  RunOn(p, {x.data(), y.data(), z.data()});
  for (int r = 0; r < 4; ++r) {
    float sum = 10;
    for (int c = 0; c < 6; ++c) sum += x[r * 6 + c];
    EXPECT_EQ(y[r], sum);
    EXPECT_EQ(z[r], x[r * 6 + 5]);
  }
}

TEST(Lower, MultipliesBytesIntoWordsAndRoundsHalves) {
  Builder b("narrow");
  const Id A = b.Input("A", DType::kI8, {3, 8}), B = b.Input("B", DType::kU8, {8, 5}),
           C = b.Output("C", DType::kI32, {3, 5});
  const Id H = b.Input("H", DType::kF16, {16}), G = b.Output("G", DType::kF16, {16});
  const Id P = b.Output("P", DType::kI1, {3, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("dot", {{"i", 3}, {"j", 5}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Cast(DType::kI32, b.Load(A, {i, k})), b.Cast(DType::kI32, b.Load(B, {k, j}))));
  b.Compute("half", {{"i", 16}}, {G, {i}}, b.Add(b.Load(H, {i}), b.Float(DType::kF16, 1)));
  b.Compute("positive", {{"i", 3}, {"j", 8}}, {P, {i, j}},
            b.Make(Op::kCmpGt, DType::kI1, b.Load(A, {i, j}), b.Integer(DType::kI8, 0)));
  auto a = Random<int8_t>(24, 5, -128, 127);
  auto w = Random<uint8_t>(40, 6, 0, 255);
  auto h = Random<_Float16>(16, 7);
  Array<int32_t> c(15);
  Array<_Float16> g(16);
  Array<uint8_t> positive(24, 7);
  RunOn(b.Finish(), {a.data(), w.data(), c.data(), h.data(), g.data(), positive.data()});
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) {
      int sum = 0;
      for (int z = 0; z < 8; ++z) sum += a[y * 8 + z] * w[z * 5 + x];
      EXPECT_EQ(c[y * 5 + x], sum);
    }
  }
  for (int n = 0; n < 16; ++n) EXPECT_EQ(static_cast<float>(g[n]), static_cast<float>(h[n]) + 1);
  for (int n = 0; n < 24; ++n) EXPECT_EQ(positive[n], a[n] > 0);
}

TEST(Lower, ReadsConstantsAndIndices) {
  const float table[] = {1, 2, 3, 4, 5, 6};
  Builder b("table");
  const Id T = b.Constant("T", kF32, {2, 3}, std::string(reinterpret_cast<const char*>(table), sizeof table));
  const Id Y = b.Output("Y", kF32, {3, 2});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("transpose", {{"i", 3}, {"j", 2}}, {Y, {i, j}},
            b.Add(b.Load(T, {j, i}), b.Cast(kF32, b.Index(i * 10 + j))));
  Array<float> y(6);
  RunOn(b.Finish(), {y.data()});
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 2; ++c) EXPECT_EQ(y[r * 2 + c], table[c * 3 + r] + r * 10 + c);
}

TEST(Lower, PreparesConstantsApart) {
  Builder b("scaled");
  const Id W = b.Constant("W", kF32, {4}), X = b.Input("X", kF32, {4}), Y = b.Output("Y", kF32, {4});
  const Id T = b.Temporary("T", kF32, {4});
  const IndexSum i = b.Iter(0);
  const Id twice = b.Compute("twice", {{"i", 4}}, {T, {i}}, b.Add(b.Load(W, {i}), b.Load(W, {i})));
  b.Compute("scaled", {{"i", 4}}, {Y, {i}}, b.Mul(b.Load(T, {i}), b.Load(X, {i})));
  Program p = b.Finish();
  p.nodes[p.nodes[twice].parent].prepare = true;
  EXPECT_EQ(EntryPoints(p), (std::vector<std::string>{"scaled", "scaled_prepare"}));
  auto w = Random<float>(4, 1), x = Random<float>(4, 2);
  Array<float> y(4), t(4);
  std::vector<size_t> prepared;
  const auto loaded = BuildProgram(p, {}, &prepared);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(prepared, std::vector<size_t>{16});
  EXPECT_EQ(CallKernel(*loaded, "scaled_prepare", {w.data(), x.data(), y.data(), t.data()}), 0);
  EXPECT_EQ(CallKernel(*loaded, "scaled", {w.data(), x.data(), y.data(), t.data()}), 0);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(y[n], 2 * w[n] * x[n]);
  Array<float> again(4);
  EXPECT_EQ(CallProgram(*loaded, p, {w.data(), x.data(), again.data()}, prepared), 0);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(again[n], y[n]);
}

TEST(Lower, RefusesTheLoopsOfAGpu) {
  Builder b("copy");
  const Id X = b.Input("X", kF32, {8}), Y = b.Output("Y", kF32, {8});
  const Id block = b.Compute("copy", {{"i", 8}}, {Y, {b.Iter(0)}}, b.Load(X, {b.Iter(0)}));
  Program p = b.Finish();
  p.loop(p.nodes[block].parent).kind = LoopKind::kThreadX;
  const auto module = Lower(p, Context());
  EXPECT_EQ(module.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(module.status().message(), "loop i is thread-x, which a CPU does not have");
}

// Returns the program for i < 3: for k < 50: y[i] sum= A[i, k]
Program RowSums() {
  Builder b("rows");
  const Id A = b.Input("A", kF32, {3, 50}), Y = b.Output("y", kF32, {3});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("sum", {{"i", 3}, {"k", 50, IterKind::kReduction}}, Monoid::Kind::kSum, {Y, {i}},
           b.Load(A, {i, k}));
  return b.Finish();
}

std::string Passes(const Program& program) {
  std::ostringstream passes;
  const auto module = Lower(program, Context(), {.print_after_all = &passes});
  return module.ok() ? passes.str() : module.status().ToString();
}

constexpr char kRowsBuffers[] = R"(kiln.program v1
program rows
parameters A, y
buffer A: f32[3, 50] input
buffer y: f32[3] output

)";

constexpr char kRowsDecomposed[] = R"(for i < 3 {
  block sum.init {
    spatial i < 3 = i
    spatial k < 50 = 0
    y[i] = f32(0)
    from init 3
  }
  for k < 50 {
    block sum {
      spatial i < 3 = i
      reduction k < 50 = k
      y[i] accumulate sum= A[i, k]
      from compute 3
    }
  }
}
)";

constexpr char kRowsPlan[] = R"(kiln.plan v1
buffer A: 150 elements, parameter
buffer y: 3 elements, parameter
entry rows {
  for i 3 {
    sum.init
    for k 50 {
      sum
    }
  }
}
)";

TEST(Lower, PrintsTheProgramAfterEachPass) {
  const std::string passes = Passes(RowSums());
  EXPECT_THAT(passes,
              testing::StartsWith(absl::StrCat("// ----- program -----\n", kRowsBuffers, "for i < 3 {")));
  EXPECT_THAT(passes, testing::HasSubstr("// ----- inline-nested-blocks -----\n(unchanged)\n"));
  EXPECT_THAT(passes, testing::HasSubstr(
                          absl::StrCat("// ----- decompose-reductions -----\n", kRowsBuffers, kRowsDecomposed,
                                       "// ----- plan-indices -----\nbuffer A: 150 elements")));
  EXPECT_THAT(passes, testing::HasSubstr(
                          absl::StrCat("// ----- unroll-short-loops -----\n", kRowsBuffers, kRowsDecomposed,
                                       "// ----- share-storage -----\nbuffer A: 150 elements")));
  EXPECT_THAT(passes, testing::HasSubstr("// ----- build -----\n"));
  EXPECT_THAT(passes, testing::HasSubstr(kRowsPlan));
  EXPECT_THAT(passes, testing::HasSubstr("// ----- guards -----\n(unchanged)\n"));
  EXPECT_THAT(passes, testing::HasSubstr("// ----- emit -----\nmodule {\n"));
}

TEST(Lower, SaysWhichPassesChangeNothing) {
  Builder b("copy");
  const Id X = b.Input("X", kF32, {3}), Y = b.Output("Y", kF32, {3});
  b.Compute("copy", {{"i", 3}}, {Y, {b.Iter(0)}}, b.Load(X, {b.Iter(0)}));
  const std::string passes = Passes(b.Finish());
  EXPECT_THAT(passes, testing::HasSubstr("// ----- decompose-reductions -----\n(unchanged)\n"));
  EXPECT_THAT(passes, testing::HasSubstr("// ----- rematerialize-loads -----\n(unchanged)\n"));
}

TEST(Lower, RefusesVectorsInsideOfVectors) {
  Builder b("copy");
  const Id x = b.Input("x", DType::kF32, {4, 8}), y = b.Output("y", DType::kF32, {4, 8});
  b.Compute("copy", {{"i", 4}, {"j", 8}}, {y, {b.Iter(0), b.Iter(1)}}, b.Load(x, {b.Iter(0), b.Iter(1)}));
  const Program p = WithLoops(b.Finish(), LoopKind::kVectorized);
  EXPECT_EQ(Lower(p, Context()).status().ToString(),
            "FAILED_PRECONDITION: loop j is vectorized inside of loop i, which is vectorized too");
}

TEST(Lower, RefusesRegistersIndexedByALoopThatRuns) {
  Program p = RowSums();
  p.buffers[p.parameters[1]].scope.storage = Storage::kRegister;
  EXPECT_EQ(Passes(p),
            "FAILED_PRECONDITION: block \"sum\" indexes buffer y, which is in registers, by loop i, which is "
            "serial; it must be unrolled or vectorized");
}

}  // namespace
}  // namespace kiln
