// Tests FoldAffine, which moves scales and shifts by constants into the weights of the product before them.
#include "lang/graph/fold_affine.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "lang/base/random.h"
#include "lang/graph/simplify_model.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/random_model.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr DType kF32 = DType::kF32;
const IndexSum n = Builder::Iter(0), f = Builder::Iter(1), c = Builder::Iter(2);

// Builds the program C[n, f] sum= X[n, c]*W[c, f], followed by the blocks that a test adds with Store. The last of them
// computes the result.
class Product {
 public:
  Product()
      : x(b.Input("X", kF32, {5, 7})),
        w(b.Constant("W", kF32, {7, 6})),
        scale(b.Constant("s", kF32, {6})),
        shift(b.Constant("t", kF32, {6})),
        sums(b.Temporary("C", kF32, {5, 6})) {}

  void AddSums(Id initial = kNone) {
    b.Reduce("dense", {{"n", 5}, {"f", 6}, {"c", 7, IterKind::kReduction}}, Monoid::Kind::kSum,
             {sums, {n, f}}, b.Mul(b.Load(x, {n, c}), b.Load(w, {c, f})), initial);
  }
  // Adds a block that stores the value to a new buffer, and returns an expression that loads it from there.
  Id Store(absl::string_view name, Id value) {
    last = b.Temporary(absl::StrCat(name, "_out"), kF32, {5, 6});
    b.Compute(name, {{"n", 5}, {"f", 6}}, {last, {n, f}}, value);
    return b.Load(last, {n, f});
  }
  Id Sums() { return b.Load(sums, {n, f}); }
  Id Scale() { return b.Load(scale, {f}); }
  Id Shift() { return b.Load(shift, {f}); }
  Program Finish() {
    b.MakeOutput(last);
    return b.Finish();
  }

  Builder b{"net"};
  Id x, w, scale, shift, sums, last = kNone;
};

// Expects that both programs give results within `tolerance` for the same drawn inputs.
void ExpectNear(const Program& before, const Program& after, double tolerance) {
  ASSERT_TRUE(Verify(after).ok()) << Verify(after);
  RandomDice dice(Engine({17}));
  std::vector<std::string> inputs;
  for (const Id id : before.parameters) {
    if (!IsGiven(before.buffers[id].role)) continue;
    std::string& bytes = inputs.emplace_back();
    for (int64_t i = 0; i < ElementsOf(before, id); ++i) {
      const float value = static_cast<float>(dice.Below(1000)) / 500.0F - 0.999F;
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  const auto wanted = kiln::Run(before, inputs), found = kiln::Run(after, inputs);
  ASSERT_TRUE(wanted.ok() && found.ok()) << wanted.status() << found.status();
  for (size_t o = 0; o < wanted->size(); ++o) {
    for (size_t at = 0; at < (*wanted)[o].size(); at += sizeof(float)) {
      float x = 0, y = 0;
      std::memcpy(&x, (*wanted)[o].data() + at, sizeof x);
      std::memcpy(&y, (*found)[o].data() + at, sizeof y);
      EXPECT_NEAR(x, y, tolerance) << "element " << at / sizeof(float) << " of result " << o;
    }
  }
}

TEST(FoldAffine, ScalesWeightsOnceAndLeavesOneAddition) {
  Product p;
  p.AddSums();
  p.Store("norm",
          p.b.Make(Op::kMax, kF32, p.b.Add(p.b.Mul(p.Sums(), p.Scale()), p.Shift()), p.b.Float(kF32, 0)));
  const Program before = p.Finish();
  Program after = before;
  EXPECT_EQ(FoldAffine(after), 1);
  EXPECT_THAT(ToString(after), HasSubstr("W.scaled[d0, d1] = W[d0, d1]*s[d1]"));
  EXPECT_THAT(ToString(after), HasSubstr("C[n, f] sum= X[n, c]*W.scaled[c, f]"));
  EXPECT_THAT(ToString(after), HasSubstr("norm_out[n, f] = max(C[n, f] + t[f], f32(0))"));
  ExpectNear(before, after, 1e-5);
}

TEST(FoldAffine, StaysWithinItsBound) {
  Product p;
  p.AddSums();
  p.Store("norm", p.b.Add(p.b.Mul(p.Sums(), p.Scale()), p.Shift()));
  Program net = p.Finish();
  EXPECT_EQ(FoldAffine(net), 1);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomDice dice(Engine({seed}));
    std::vector<std::vector<float>> given;  // X, W, s, t
    std::vector<std::string> inputs;
    for (const int count : {35, 42, 6, 6}) {
      given.emplace_back();
      for (int e = 0; e < count; ++e)
        given.back().push_back(static_cast<float>(std::ldexp(
            static_cast<double>(dice.Below(2000001)) / 1e6 - 1, static_cast<int>(dice.Below(17)) - 8)));
      inputs.emplace_back(reinterpret_cast<const char*>(given.back().data()), count * sizeof(float));
    }
    const std::string found = kiln::Run(net, inputs).value()[0];
    for (int at = 0; at < 30; ++at) {
      const int row = at / 6, column = at % 6;
      double sum = 0, size = 0;
      for (int term = 0; term < 7; ++term) {
        const double product = static_cast<double>(given[0][row * 7 + term]) * given[1][term * 6 + column];
        sum += product, size += std::abs(product);
      }
      const double scale = given[2][column], shift = given[3][column];
      float value = 0;
      std::memcpy(&value, found.data() + at * sizeof value, sizeof value);
      const double bound = (7 + 2 + 1) * 0x1p-23 * (std::abs(scale) * size + std::abs(shift));
      EXPECT_NEAR(value, scale * sum + shift, bound) << "seed " << seed << ", element " << at;
    }
  }
}

// Folds a batch norm into the product C before it, as PyTorch's exporter writes it, with a block for each operation:
//    relu((C - s) * rsqrt(var * var + 1) + t)
TEST(FoldAffine, FollowsBlocksThatOnlyScaleAndShift) {
  Product p;
  p.AddSums();
  const Id spread = p.b.Constant("var", kF32, {6}), root = p.b.Temporary("root", kF32, {6});
  Id at = p.Store("sub", p.b.Make(Op::kSub, kF32, p.Sums(), p.Scale()));
  const IndexSum i = Builder::Iter(0);
  p.b.Compute("rsqrt", {{"f", 6}}, {root, {i}},
              p.b.Make(Op::kRsqrt, kF32,
                       p.b.Add(p.b.Mul(p.b.Load(spread, {i}), p.b.Load(spread, {i})), p.b.Float(kF32, 1))));
  at = p.Store("mul", p.b.Mul(at, p.b.Load(root, {f})));
  at = p.Store("add", p.b.Add(at, p.Shift()));
  p.Store("relu", p.b.Make(Op::kMax, kF32, at, p.b.Float(kF32, 0)));
  const Program before = p.Finish();
  Program after = before;
  EXPECT_EQ(FoldAffine(after), 1);
  EXPECT_THAT(ToString(after), HasSubstr("W.scaled[d0, d1] = W[d0, d1]*root[d1]"));
  EXPECT_THAT(ToString(after), HasSubstr("C.shift[f] = neg(s[f])*root[f] + t[f]"));
  EXPECT_THAT(ToString(after), HasSubstr("relu_out[n, f] = max(C[n, f] + C.shift[f], f32(0))"));
  EXPECT_THAT(ToString(after), Not(HasSubstr("block sub")));
  ExpectNear(before, after, 1e-5);
}

TEST(FoldAffine, AStartValueBecomesAPartOfTheShift) {
  Product p;
  p.AddSums(p.Shift());
  p.Store("scale", p.b.Mul(p.Sums(), p.Scale()));
  const Program before = p.Finish();
  Program after = before;
  EXPECT_EQ(FoldAffine(after), 1);
  EXPECT_THAT(ToString(after), HasSubstr("C.shift[f] = t[f]*s[f]"));
  EXPECT_THAT(ToString(after), HasSubstr("scale_out[n, f] = C[n, f] + C.shift[f]"));
  ExpectNear(before, after, 1e-5);
}

TEST(FoldAffine, AStartValueOfWhatSeveralReadIsAStore) {
  Product p;
  p.AddSums(p.Shift());
  p.Store("twice", p.b.Add(p.Sums(), p.Sums()));
  p.b.MakeOutput(p.last);
  p.Store("gate", p.b.Mul(p.Sums(), p.Sums()));
  const Program before = p.Finish();
  Program after = before;
  EXPECT_EQ(FoldAffine(after), 1);
  EXPECT_THAT(ToString(after), HasSubstr("C.sum[n, f] sum= X[n, c]*W[c, f]\n"));
  EXPECT_THAT(ToString(after), HasSubstr("C[n, f] = C.sum[n, f] + t[f]"));
  ExpectNear(before, after, 1e-5);
}

TEST(FoldAffine, LeavesWhatItCannotFold) {
  const auto expect_unchanged = [](const Program& before) {
    Program after = before;
    EXPECT_EQ(FoldAffine(after), 0);
    EXPECT_EQ(ToString(after), ToString(before));
  };
  {  // the scale varies along rows, which no weight does
    Product p;
    const Id rows = p.b.Constant("rows", kF32, {5});
    p.AddSums();
    p.Store("scale", p.b.Mul(p.Sums(), p.b.Load(rows, {n})));
    expect_unchanged(p.Finish());
  }
  {  // another block reads the sums
    Product p;
    p.AddSums();
    const Id scaled = p.Store("scale", p.b.Mul(p.Sums(), p.Scale()));
    p.Store("add", p.b.Add(scaled, p.Sums()));
    expect_unchanged(p.Finish());
  }
  {  // the scale is an input
    Product p;
    const Id gate = p.b.Input("gate", kF32, {6});
    p.AddSums();
    p.Store("scale", p.b.Mul(p.Sums(), p.b.Load(gate, {f})));
    expect_unchanged(p.Finish());
  }
  {  // two different affine functions of the sums
    Product p;
    p.AddSums();
    p.Store("both", p.b.Make(Op::kMax, kF32, p.b.Mul(p.Sums(), p.Scale()), p.b.Add(p.Sums(), p.Shift())));
    expect_unchanged(p.Finish());
  }
}

// Returns arrays of f32 in which each value v is replaced by of(v).
template <typename Of>
std::vector<std::string> Each(std::vector<std::string> arrays, const Of& of) {
  for (std::string& bytes : arrays) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, bytes.data() + at, sizeof value);
      value = of(value);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  }
  return arrays;
}

float Sign(float value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }
float WithoutMinusZero(float value) { return value + 0.0F; }

// Checks on 400 random models that SimplifyModel keeps the results, up to the sign of zeros. The inputs are -1, 0 and
// 1, whose sums and products are exact.
TEST(FoldAffine, RandomModelsKeepTheirResults) {
  int folded = 0, narrowed = 0, assumed = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Program before = RandomModel(seed);
    Program after = before;
    const ModelSimplifications done = SimplifyModel(after);
    folded += done.folded;
    narrowed += done.narrowed;
    assumed += done.assumed;
    ASSERT_TRUE(Verify(after).ok()) << "seed " << seed << ": " << Verify(after) << ToString(after);
    const std::vector<std::string> inputs = Each(RandomModelInputs(before, seed), Sign);
    const auto wanted = kiln::Run(before, inputs), found = kiln::Run(after, inputs);
    ASSERT_EQ(wanted.ok(), found.ok()) << "seed " << seed << ": " << found.status();
    if (wanted.ok())
      EXPECT_EQ(Each(*found, WithoutMinusZero), Each(*wanted, WithoutMinusZero))
          << "seed " << seed << "\n"
          << ToString(before) << ToString(after);
  }
  EXPECT_GT(folded, 100);
  EXPECT_GT(narrowed, 40);
  EXPECT_GT(assumed, 100);
}

}  // namespace
}  // namespace kiln
