// Compiles programs with schedules (tiles, vectors, packed copies, guards), runs them, and compares the results with
// plain C++ loops.
#include <gtest/gtest.h>

#include <sstream>

#include "backends/codegen/context.h"
#include "backends/lower/lower.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "testing/compiled/run_program.h"
#include "testing/goto_matmul.h"

namespace kiln {
namespace {

constexpr auto kF32 = DType::kF32;

void CheckMatmul(const Program& program, int M, int N, int K) {
  auto loaded = BuildProgram(program);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto a = Random<float>(M * K, 1), w = Random<float>(K * N, 2);
  Array<float> c(M * N, 99.f);
  EXPECT_EQ(CallKernel(*loaded, "matmul", {a.data(), w.data(), c.data()}), 0);
  for (int y = 0; y < M; ++y) {
    for (int x = 0; x < N; ++x) {
      float sum = 0;
      for (int z = 0; z < K; ++z) sum += a[y * K + z] * w[z * N + x];
      ASSERT_EQ(c[y * N + x], sum) << y << " " << x;
    }
  }
}

TEST(Lower, ComputesATileOfSums) {  // tile_assembly_test.cc tests that the sums are in registers
  CheckMatmul(GotoMatmul(32, 64, 48, {8, 4, 32, 16, 16}, false), 32, 64, 48);
}

TEST(Lower, PacksATileOfAnOperand) {
  CheckMatmul(GotoMatmul(32, 64, 48, {8, 4, 32, 16, 16}, true), 32, 64, 48);
}

TEST(Lower, GuardsImperfectTiles) {
  CheckMatmul(GotoMatmul(30, 64, 48, {8, 4, 32, 16, 16}, false), 30, 64, 48);
  CheckMatmul(GotoMatmul(32, 61, 48, {8, 4, 32, 16, 16}, false), 32, 61, 48);
  CheckMatmul(GotoMatmul(32, 64, 45, {8, 4, 32, 16, 16}, false), 32, 64, 45);
  CheckMatmul(GotoMatmul(31, 61, 45, {12, 6, 24, 8, 16}, false), 31, 61, 45);
}

TEST(Lower, StoresThePartOfASumThatComesFirstAndAddsTheOthers) {  // the results begin with 99 in CheckMatmul
  for (const int64_t k : {48, 45}) {
    Program program = GotoMatmul(32, 64, k, {8, 4, 32, 16, 16}, false);
    DecomposeReductions(program);
    std::vector<std::string> cleared;
    for (const Id block : Blocks(program)) {
      if (program.block(block).provenance.kind == Provenance::Kind::kInit)
        cleared.push_back(std::string(program.Text(program.buffers[WrittenBuffers(program, block)[0]].name)));
    }
    EXPECT_EQ(cleared, std::vector<std::string>{"C.acc"});
  }
}

TEST(Lower, BeginsASumBesideWhatItAdds) {  // for k: T = 2 * A[k]; sum += T
  Builder b("rows");
  const Id a = b.Input("A", kF32, {8, 5}), t = b.Temporary("T", kF32, {8, 5}), c = b.Output("C", kF32, {8});
  const IndexSum i = Builder::Iter(0), k = Builder::Iter(1);
  b.Compute("twice", {{"i", 8}, {"k", 5}}, {t, {i, k}}, b.Mul(b.Load(a, {i, k}), b.Float(kF32, 2)));
  b.Reduce("sum", {{"i", 8}, {"k", 5, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {i}},
           b.Load(t, {i, k}));
  Schedule s = Scheduled(b.Finish());
  s.ComputeAt(s.GetBlock("twice"), s.GetLoops(s.GetBlock("sum"))[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  auto loaded = BuildProgram(s.program());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto in = Random<float>(40, 1);
  Array<float> out(8, 99.f);
  EXPECT_EQ(CallKernel(*loaded, "rows", {in.data(), out.data()}), 0);
  for (int row = 0; row < 8; ++row) {
    float sum = 0;
    for (int n = 0; n < 5; ++n) sum += 2 * in[row * 5 + n];
    EXPECT_FLOAT_EQ(out[row], sum);
  }
}

TEST(Lower, WritesOutAsManyStepsOfALoopAsItSays) {
  for (const int64_t steps : {4, 3}) {  // three do not divide sixteen: the loop runs them one by one
    Schedule s = Scheduled(GotoMatmul(32, 64, 48, {8, 4, 32, 16, 16}, false));
    s.Annotate(s.GetLoops(s.GetBlock("matmul"))[5], kUnrolledSteps, steps);
    ASSERT_TRUE(s.ok()) << s.status();
    CheckMatmul(s.program(), 32, 64, 48);
    int multiply_adds = 0;
    auto module = Lower(s.program(), Context());
    ASSERT_TRUE(module.ok()) << module.status();
    (*module)->walk(
        [&](mlir::Operation* op) { multiply_adds += op->getName().getStringRef() == "vector.fma"; });
    EXPECT_EQ(multiply_adds, steps == 4 ? 16 : 4);
  }
}

// A builder for a program named "grid", with the iters i and j of its blocks.
struct Grid {
  Builder b{"grid"};
  IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
};

Program Vectorized(Program program, const std::string& block, int loop, int64_t lanes) {
  Schedule s = Scheduled(std::move(program));
  const auto loops = s.GetLoops(s.GetBlock(block));
  const auto parts = s.Split(loops[loop], {kAuto, lanes});
  std::vector<Loop> order;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (static_cast<int>(i) == loop) {
      order.push_back(parts[0]);
    } else {
      order.push_back(loops[i]);
    }
  }
  order.push_back(parts[1]);
  s.Reorder(order);
  s.Vectorize(parts[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

void CallGrid(const Program& program, const std::vector<void*>& buffers) {
  auto loaded = BuildProgram(program);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(CallKernel(*loaded, program.name, buffers), 0);
}

TEST(Lower, TransposesWithLanesApart) {
  for (const int loop : {0, 1}) {
    Grid g;
    const Id X = g.b.Input("X", kF32, {20, 12}), Y = g.b.Output("Y", kF32, {12, 20});
    g.b.Compute("t", {{"i", 12}, {"j", 20}}, {Y, {g.i, g.j}}, g.b.Load(X, {g.j, g.i}));
    auto x = Random<float>(240, 1, -1000, 1000);
    Array<float> y(240);
    CallGrid(Vectorized(g.b.Finish(), "t", loop, 8), {x.data(), y.data()});
    for (int r = 0; r < 12; ++r)
      for (int c = 0; c < 20; ++c) ASSERT_EQ(y[r * 20 + c], x[c * 12 + r]) << loop;
  }
}

TEST(Lower, ReducesAcrossLanes) {
  for (const int64_t lanes : {4, 7, 8, 16}) {
    Grid g;
    const Id X = g.b.Input("X", kF32, {3, 29}), Y = g.b.Output("Y", kF32, {3}),
             Z = g.b.Output("Z", kF32, {3});
    const std::vector<Builder::IterSpec> iters = {{"i", 3}, {"j", 29, IterKind::kReduction}};
    g.b.Reduce("sum", iters, Monoid::Kind::kSum, {Y, {g.i}}, g.b.Load(X, {g.i, g.j}));
    g.b.Reduce("max", iters, Monoid::Kind::kMax, {Z, {g.i}}, g.b.Load(X, {g.i, g.j}));
    auto x = Random<float>(87, 1, -100, -1);
    Array<float> y(3), z(3);
    CallGrid(Vectorized(Vectorized(g.b.Finish(), "sum", 1, lanes), "max", 1, lanes),
             {x.data(), y.data(), z.data()});
    for (int r = 0; r < 3; ++r) {
      float sum = 0, most = -1e9;
      for (int c = 0; c < 29; ++c) sum += x[r * 29 + c], most = std::max(most, x[r * 29 + c]);
      EXPECT_EQ(y[r], sum) << lanes;
      EXPECT_EQ(z[r], most) << lanes;
    }
  }
}

TEST(Lower, ReducesLanesToSeveralElements) {
  Grid g;
  const Id X = g.b.Input("X", kF32, {5, 3}), Y = g.b.Output("Y", kF32, {5});
  g.b.Reduce("sum", {{"i", 5}, {"j", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {Y, {g.i}},
             g.b.Load(X, {g.i, g.j}), g.b.Float(kF32, 1));
  Schedule s = Scheduled(g.b.Finish());
  s.Vectorize(s.Fuse(s.GetLoops(s.GetBlock("sum"))));
  ASSERT_TRUE(s.ok()) << s.status();
  auto x = Random<float>(15, 1);
  Array<float> y(5);
  CallGrid(s.program(), {x.data(), y.data()});
  for (int r = 0; r < 5; ++r) EXPECT_EQ(y[r], 1 + x[3 * r] + x[3 * r + 1] + x[3 * r + 2]) << r;
}

TEST(Lower, PoolsAndPadsInLanes) {
  const int H = 9, W = 21;  // a window of 3x3 with padding 1; vectors along one of the dimensions
  for (const int loop : {0, 1}) {
    for (const int stride : {1, 2}) {
      const int OW = (W - 1) / stride + 1;
      Grid g;
      const Id X = g.b.Input("X", kF32, {H, W}), Y = g.b.Output("Y", kF32, {H, OW});
      const IndexSum h = g.i + g.b.Iter(2) + IndexSum::Constant(-1),
                     w = g.j * stride + g.b.Iter(3) + IndexSum::Constant(-1);
      const Id x = g.b.Within({{h, H}, {w, W}}, g.b.Load(X, {h, w}), g.b.Float(kF32, -1e30));
      g.b.Reduce("pool",
                 {{"i", H}, {"j", OW}, {"r", 3, IterKind::kReduction}, {"s", 3, IterKind::kReduction}},
                 Monoid::Kind::kMax, {Y, {g.i, g.j}}, x);
      auto in = Random<float>(H * W, 1, -100, 100);
      Array<float> out(H * OW);
      CallGrid(Vectorized(g.b.Finish(), "pool", loop, 8), {in.data(), out.data()});
      for (int y = 0; y < H; ++y)
        for (int c = 0; c < OW; ++c) {
          float most = -1e30f;
          for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s) {
              const int yy = y + r - 1, xx = c * stride + s - 1;
              if (yy >= 0 && yy < H && xx >= 0 && xx < W) most = std::max(most, in[yy * W + xx]);
            }
          ASSERT_EQ(out[y * OW + c], most) << loop << " " << stride << " " << y << " " << c;
        }
    }
  }
}

TEST(Lower, FusesLoopsIntoLanes) {
  Grid g;
  const Id X = g.b.Input("X", kF32, {6, 10}), B = g.b.Input("B", kF32, {10}),
           Y = g.b.Output("Y", kF32, {6, 10});
  const Id P = g.b.Output("P", DType::kI1, {6, 10}), H = g.b.Output("H", DType::kF16, {6, 10});
  const std::vector<Builder::IterSpec> iters = {{"i", 6}, {"j", 10}};
  const Id sum = g.b.Add(g.b.Load(X, {g.i, g.j}), g.b.Load(B, {g.j}));
  g.b.Compute("bias", iters, {Y, {g.i, g.j}}, g.b.Add(sum, g.b.Cast(kF32, g.b.Index(g.i))));
  g.b.Compute("sign", iters, {P, {g.i, g.j}}, g.b.Make(Op::kCmpGt, DType::kI1, sum, g.b.Float(kF32, 0)));
  g.b.Compute("half", iters, {H, {g.i, g.j}}, g.b.Cast(DType::kF16, sum));
  Schedule s = Scheduled(g.b.Finish());
  for (const char* block : {"bias", "sign", "half"}) {
    s.Vectorize(s.Split(s.Fuse(s.GetLoops(s.GetBlock(block))), {kAuto, 16})[1]);
  }
  ASSERT_TRUE(s.ok()) << s.status();
  auto x = Random<float>(60, 1), b = Random<float>(10, 2);
  Array<float> y(60);
  Array<uint8_t> p(60, 9);
  Array<_Float16> h(60);
  CallGrid(s.program(), {x.data(), b.data(), y.data(), p.data(), h.data()});
  for (int n = 0; n < 60; ++n) {
    const float expected = x[n] + b[n % 10];
    EXPECT_EQ(y[n], expected + n / 10) << n;
    EXPECT_EQ(p[n], expected > 0) << n;
    EXPECT_EQ(static_cast<float>(h[n]), expected) << n;
  }
}

TEST(Lower, StoresOneElementFromTheLanesThatExist) {
  Grid g;
  const Id X = g.b.Input("X", kF32, {1}), Y = g.b.Output("Y", kF32, {1});
  g.b.Compute("y", {{"i", 1}}, {Y, {IndexSum::Constant(0)}}, g.b.Load(X, {g.i}));
  Array<float> x(1, 5.f), y(1, 9.f);
  CallGrid(Vectorized(g.b.Finish(), "y", 0, 3), {x.data(), y.data()});
  EXPECT_EQ(y[0], 5.f);
}

TEST(Lower, KeepsOnlyWhatIsLiveBelowALoop) {
  Grid g;
  const Id X = g.b.Input("X", kF32, {64, 48}), T = g.b.Temporary("T", kF32, {64, 48}),
           Y = g.b.Output("Y", kF32, {64, 48});
  const std::vector<Builder::IterSpec> iters = {{"i", 64}, {"j", 48}};
  g.b.Compute("t", iters, {T, {g.i, g.j}}, g.b.Make(Op::kExp, kF32, g.b.Load(X, {g.i, g.j})));
  g.b.Compute("y", iters, {Y, {g.i, g.j}}, g.b.Add(g.b.Load(T, {g.i, g.j}), g.b.Load(T, {g.i, g.j})));
  Schedule s = Scheduled(g.b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("y"));
  const auto j = s.Split(loops[1], {kAuto, 16});
  s.Vectorize(j[1]);
  s.ComputeAt(s.GetBlock("t"), j[0]);
  s.Vectorize(s.GetLoops(s.GetBlock("t")).back());
  ASSERT_TRUE(s.ok()) << s.status();
  std::ostringstream plan;
  ASSERT_TRUE(Lower(s.program(), Context(), {.print_after_all = &plan}).ok());
  EXPECT_NE(plan.str().find("buffer T: 16 elements, alloca"), std::string::npos) << plan.str();
  auto x = Random<float>(64 * 48, 1);
  Array<float> y(64 * 48);
  CallGrid(s.program(), {x.data(), y.data()});
  for (int n = 0; n < 64 * 48; ++n) ASSERT_NEAR(y[n], 2 * std::exp(x[n]), 2e-6 * y[n]);
}

}  // namespace
}  // namespace kiln
