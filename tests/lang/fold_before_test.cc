// Tests FoldBefore, which moves scales and shifts of an operand into the constants of the products that read it.
#include "lang/graph/fold_before.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "lang/graph/fold_affine.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/random_model.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum n = Builder::Iter(0), f = Builder::Iter(1), c = Builder::Iter(2);

// Builds the program A[n, c] = exp(X[n, c])*s[c] + t[c] (without t unless `shifts`);  C[n, f] sum= A[n, c]*W[c, f]. A
// test may add blocks between the two, and let the product read their results.
struct Net {
  Net()
      : x(b.Input("X", kF32, {5, 7})),
        w(b.Constant("W", kF32, {7, 6})),
        s(b.Constant("s", kF32, {7})),
        t(b.Constant("t", kF32, {7})),
        a(b.Temporary("A", kF32, {5, 7})),
        out(b.Output("C", kF32, {5, 6})) {}

  void AddStore(bool shifts = true) {
    const Id scaled = b.Mul(b.Make(Op::kExp, kF32, b.Load(x, {n, f})), b.Load(s, {f}));
    b.Compute("norm", {{"n", 5}, {"c", 7}}, {a, {n, f}}, shifts ? b.Add(scaled, b.Load(t, {f})) : scaled);
  }
  void AddProduct(Id of, const IndexSum& column = c) {
    b.Reduce("dense", {{"n", 5}, {"f", 6}, {"c", 7, IterKind::kReduction}}, Monoid::Kind::kSum, {out, {n, f}},
             b.Mul(b.Load(of, {n, column}), b.Load(w, {c, f})));
  }

  Builder b{"net"};
  Id x, w, s, t, a, out;
};

std::vector<float> Floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<float> Results(const Program& p) {
  std::vector<std::string> inputs;
  for (const Id id : p.parameters) {
    if (!IsGiven(p.buffers[id].role)) continue;
    std::string& bytes = inputs.emplace_back();
    for (int64_t at = 0; at < ElementsOf(p, id); ++at) {
      const float value = std::sin(static_cast<float>(at + 1));
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  const auto run = kiln::Run(p, inputs);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? Floats((*run)[0]) : std::vector<float>();
}

TEST(FoldBefore, MovesScalesAndShiftsIntoTheConstants) {
  Net net;
  net.AddStore();
  net.AddProduct(net.a);
  const Program before = net.b.Finish();
  Program after = before;
  EXPECT_EQ(FoldBefore(after), 1);
  ASSERT_TRUE(Verify(after).ok()) << Verify(after);
  EXPECT_THAT(ToString(after), HasSubstr("A[n, c] = exp(X[n, c])\n"));
  EXPECT_THAT(ToString(after), HasSubstr("W.scaled[d0, d1] = W[d0, d1]*s[d0]"));
  EXPECT_THAT(ToString(after), HasSubstr("W.sum[f] sum= t[c]*W[c, f]"));
  EXPECT_THAT(ToString(after), HasSubstr("C[n, f] sum= A[n, c]*W.scaled[c, f]"));
  const std::vector<float> wanted = Results(before), found = Results(after);
  // The tolerance is the bound in lang/graph/fold_before.h, for |exp(X)*s| + |t| <= 4 and |W| <= 1.
  for (size_t at = 0; at < wanted.size(); ++at) EXPECT_NEAR(found[at], wanted[at], 2 * 11 * 0x1p-24 * 7 * 4);
}

TEST(FoldBefore, ASumOfStartsBecomesAStoreWithFoldAffine) {
  Net net;
  net.AddStore();
  const Id sums = net.b.Temporary("S", kF32, {5, 6});
  net.b.Reduce("dense", {{"n", 5}, {"f", 6}, {"c", 7, IterKind::kReduction}}, Monoid::Kind::kSum,
               {sums, {n, f}}, net.b.Mul(net.b.Load(net.a, {n, c}), net.b.Load(net.w, {c, f})));
  net.b.Compute("relu", {{"n", 5}, {"f", 6}}, {net.out, {n, f}},
                net.b.Make(Op::kMax, kF32, net.b.Load(sums, {n, f}), net.b.Float(kF32, 0)));
  Program program = net.b.Finish();
  EXPECT_EQ(FoldBefore(program), 1);
  EXPECT_EQ(FoldAffine(program), 1);
  EXPECT_THAT(ToString(program), HasSubstr("C[n, f] = max(S[n, f] + W.sum[f], f32(0))"));
}

TEST(FoldBefore, OthersStay) {
  const std::function<void(Net&)> nets[] = {
      [](Net& net) {  // something else reads the store
        net.AddStore();
        net.AddProduct(net.a);
        net.b.MakeOutput(net.a);
      },
      [](Net& net) {  // the columns are read in another order
        net.AddStore();
        net.AddProduct(net.a, IndexSum::Constant(6) + c * -1);
      },
      [](Net& net) {  // zeros are put around it
        net.AddStore();
        const Id padded = net.b.Temporary("P", kF32, {5, 7});
        net.b.Compute("pad", {{"n", 5}, {"c", 7}}, {padded, {n, f}},
                      net.b.Within({{f + IndexSum::Constant(-1), 7}},
                                   net.b.Load(net.a, {n, f + IndexSum::Constant(-1)}), net.b.Float(kF32, 0)));
        net.AddProduct(padded);
      },
      [](Net& net) {  // a shift alone saves nothing
        net.b.Compute("norm", {{"n", 5}, {"c", 7}}, {net.a, {n, f}},
                      net.b.Add(net.b.Load(net.x, {n, f}), net.b.Load(net.t, {f})));
        net.AddProduct(net.a);
      },
  };
  for (const auto& make : nets) {
    Net net;
    make(net);
    const Program before = net.b.Finish();
    Program after = before;
    EXPECT_EQ(FoldBefore(after), 0);
    EXPECT_EQ(ToString(after), ToString(before));
  }
}

// Checks on 300 random models that FoldBefore keeps the results. Data are whole numbers, so small that nothing rounds.
TEST(FoldBefore, RandomModelsKeepTheirResults) {
  int folded = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Program before = RandomModel(seed);
    Program after = before;
    folded += FoldBefore(after);
    ASSERT_TRUE(Verify(after).ok()) << "seed " << seed << ": " << Verify(after) << ToString(after);
    const std::vector<std::string> inputs = RandomModelInputs(before, seed);
    const auto wanted = kiln::Run(before, inputs), found = kiln::Run(after, inputs);
    ASSERT_EQ(wanted.ok(), found.ok()) << "seed " << seed << ": " << found.status();
    for (size_t r = 0; wanted.ok() && r < wanted->size(); ++r)
      EXPECT_EQ(Floats((*found)[r]), Floats((*wanted)[r])) << "seed " << seed << ToString(after);
  }
  EXPECT_GT(folded, 50);
}

}  // namespace
}  // namespace kiln
