// Tests ChannelsLast (lang/graph/channels_last.h): it makes channels the last dimension of a model's temporaries,
// except those that must keep their order, and keeps the results.
#include "lang/graph/channels_last.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lang/graph/one_form.h"
#include "lang/graph/outline.h"
#include "lang/graph/simplify_model.h"
#include "lang/program/builder.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "testing/random_model.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr DType kF32 = DType::kF32;
constexpr IterKind kReduction = IterKind::kReduction;
const IndexSum d0 = Builder::Iter(0), d1 = Builder::Iter(1), d2 = Builder::Iter(2), d3 = Builder::Iter(3),
               d4 = Builder::Iter(4), d5 = Builder::Iter(5);

// Builds a model of images with channels first, layer by layer. Conv, Depthwise, Store, Relu and Pad each add a layer
// and return the buffer of its result.
class Net {
 public:
  Id Conv(const std::string& y, Id x, const std::string& w, int64_t channels, int64_t window) {
    const auto [c, h, width] = ShapeOf(x);
    const int64_t rows = h - window + 1, columns = width - window + 1;
    const Id weights = b.Constant(w, kF32, {channels, c, window, window});
    const Id out = b.Temporary(y, kF32, {channels, rows, columns});
    const std::vector<Builder::IterSpec> iters = {{"f", channels},
                                                  {"h", rows},
                                                  {"w", columns},
                                                  {"c", c, kReduction},
                                                  {"p", window, kReduction},
                                                  {"q", window, kReduction}};
    b.Reduce(absl::StrCat("conv", y), iters, Monoid::Kind::kSum, {out, {d0, d1, d2}},
             b.Mul(b.Load(x, {d3, d1 + d4, d2 + d5}), b.Load(weights, {d0, d3, d4, d5})));
    return out;
  }
  Id Depthwise(const std::string& y, Id x, const std::string& w) {
    const auto [c, h, width] = ShapeOf(x);
    const Id weights = b.Constant(w, kF32, {c, 1, 3, 3}), out = b.Temporary(y, kF32, {c, h - 2, width - 2});
    const std::vector<Builder::IterSpec> iters = {
        {"c", c}, {"h", h - 2}, {"w", width - 2}, {"p", 3, kReduction}, {"q", 3, kReduction}};
    b.Reduce(absl::StrCat("depthwise", y), iters, Monoid::Kind::kSum, {out, {d0, d1, d2}},
             b.Mul(b.Load(x, {d0, d1 + d3, d2 + d4}), b.Load(weights, {d0, IndexSum::Constant(0), d3, d4})));
    return out;
  }
  // Adds the block Y[f, h, w] = value, in the shape of x. Returns Y, a temporary.
  Id Store(const std::string& y, Id x, Id value) {
    const auto [c, h, width] = ShapeOf(x);
    const Id out = b.Temporary(y, kF32, {c, h, width});
    b.Compute(absl::StrCat("store", y), {{"f", c}, {"h", h}, {"w", width}}, {out, {d0, d1, d2}}, value);
    return out;
  }
  Id Relu(const std::string& y, Id x) { return Store(y, x, b.Make(Op::kMax, kF32, At(x), b.Float(kF32, 0))); }
  Id Pad(const std::string& y, Id x) {
    const auto [c, h, width] = ShapeOf(x);
    const Id out = b.Temporary(y, kF32, {c, h + 2, width + 2});
    const IndexSum up = d1 + IndexSum::Constant(-1), left = d2 + IndexSum::Constant(-1);
    b.Compute(absl::StrCat("pad", y), {{"f", c}, {"h", h + 2}, {"w", width + 2}}, {out, {d0, d1, d2}},
              b.Within({{up, h}, {left, width}}, b.Load(x, {d0, up, left}), b.Float(kF32, 0)));
    return out;
  }
  Id At(Id x) { return b.Load(x, {d0, d1, d2}); }
  std::array<int64_t, 3> ShapeOf(Id x) const {
    const auto dims = b.program().Dims(b.program().buffers[x].shape);
    return {dims[0].Known(), dims[1].Known(), dims[2].Known()};
  }
  Program Finish(Id result) {
    b.MakeOutput(result);
    return b.Finish();
  }

  Builder b{"net"};
  const Id x = b.Input("X", kF32, {3, 8, 8});
};

// Returns the text of the program after ChannelsLast. Expects that ChannelsLast permutes `temporaries` temporaries and
// keeps the results.
std::string Permuted(const Program& before, int temporaries) {
  Program after = before;
  EXPECT_EQ(ChannelsLast(after), temporaries) << ToString(after);
  ExpectSameResults(before, after);
  return ToString(after);
}

TEST(ChannelsLast, PermutesWhatLiesBetweenConvolutions) {
  Net net;
  const Id a = net.Relu("R", net.Conv("A", net.x, "W", 4, 3));
  const Program before = net.Finish(net.Conv("Y", a, "V", 5, 3));
  EXPECT_THAT(
      Permuted(before, 2),
      AllOf(HasSubstr("buffer A: f32[6, 6, 4] temporary"),
            HasSubstr("W.last[d2, d3, d1, d0] = W[d0, d1, d2, d3]"),
            HasSubstr("A[h, w, f] sum= X[c, h + p, w + q]*W.last[p, q, c, f]"),  // as the caller has it
            HasSubstr("R[h, w, f] = max(A[h, w, f], f32(0))"),
            HasSubstr("Y[f, h, w] sum= R[h + p, w + q, c]*V.last[p, q, c, f]")));
}

TEST(ChannelsLast, CopiesOfConstantsArePrepared) {
  Net net;
  const Id a = net.Conv("A", net.x, "W", 4, 3);
  Program after = net.Finish(net.Conv("Y", a, "V", 5, 3));
  ChannelsLast(after);
  const std::vector<char> prepared = PreparedBuffers(after);
  EXPECT_EQ(std::count(prepared.begin(), prepared.end(), 1), 2);  // W.last and V.last
}

TEST(ChannelsLast, PermutesDepthwiseConvolutionsTheirPaddingAndProducts) {
  Net net;
  const Id a = net.Relu("R", net.Conv("A", net.x, "W", 4, 1));
  const Id c = net.Depthwise("D", net.Pad("P", a), "V");
  const Program before = net.Finish(net.Depthwise("Y", net.Conv("B", c, "U", 6, 1), "T"));
  EXPECT_THAT(Permuted(before, 5),
              AllOf(HasSubstr("A[h, w, f] sum= X[c, h + p, w + q]*W.last[p, q, c, f]"),
                    HasSubstr("P[h, w, f] = within((h - 1 < 8, w - 1 < 8), R[h - 1, w - 1, f], f32(0))"),
                    HasSubstr("D[h, w, c] sum= P[h + p, w + q, c]*V.last[0, p, q, c]"),
                    HasSubstr("B[h, w, f] sum= D[h + p, w + q, c]*U.last[p, q, c, f]")));
}

TEST(ChannelsLast, FollowsSumsOfTwoBranchesAndPooling) {
  Net net;
  const Id a = net.Relu("R", net.Conv("A", net.x, "W", 4, 3));
  const Id s = net.Store("S", a, net.b.Add(net.At(a), net.At(net.Conv("B", a, "V", 4, 1))));
  const Id pool = net.b.Temporary("M", kF32, {4, 3, 3});
  net.b.Reduce("pool", {{"f", 4}, {"h", 3}, {"w", 3}, {"p", 2, kReduction}, {"q", 2, kReduction}},
               Monoid::Kind::kMax, {pool, {d0, d1, d2}}, net.b.Load(s, {d0, d1 * 2 + d3, d2 * 2 + d4}));
  const Id mean = net.b.Temporary("Y", kF32, {4});
  net.b.Reduce("sum", {{"f", 4}, {"h", 3, kReduction}, {"w", 3, kReduction}}, Monoid::Kind::kSum,
               {mean, {d0}}, net.At(net.Relu("Q", pool)));
  EXPECT_THAT(Permuted(net.Finish(mean), 6),
              AllOf(HasSubstr("S[h, w, f] = R[h, w, f] + B[h, w, f]"),
                    HasSubstr("M[h, w, f] max= S[h*2 + p, w*2 + q, f]"), HasSubstr("Y[f] sum= Q[h, w, f]")));
}

TEST(ChannelsLast, PermutesConcatenationsAlongChannels) {
  Net net;
  const Id a = net.Conv("A", net.x, "W", 4, 3), c = net.Conv("C", net.x, "V", 4, 3);
  const Id both = net.b.Temporary("B", kF32, {8, 6, 6});
  for (const auto& [part, first, count] : {std::tuple(a, 0, 4), std::tuple(c, 4, 4)})
    net.b.Compute("put", {{"f", count}, {"h", 6}, {"w", 6}}, {both, {d0 + IndexSum::Constant(first), d1, d2}},
                  net.At(part));
  EXPECT_THAT(Permuted(net.Finish(net.Conv("Y", both, "U", 5, 3)), 3),
              AllOf(HasSubstr("B[h, w, f] = A[h, w, f]"), HasSubstr("B[h, w, f + 4] = C[h, w, f]")));
}

// Y[o] sums R * U over one iter that walks all dimensions of R, as a dense layer behind a flattening does. So R keeps
// its order of dimensions, and so does A, which only R reads.
TEST(ChannelsLast, KeepsWhatIsReadAsAVector) {
  Net net;
  const Id r = net.Relu("R", net.Conv("A", net.Relu("Q", net.Conv("B", net.x, "W", 4, 3)), "V", 5, 3));
  const Id w = net.b.Constant("U", kF32, {7, 80}), y = net.b.Temporary("Y", kF32, {7});
  const IndexSum f{0, {{Source::Iter(1), 1, 16, 0}}}, row{0, {{Source::Iter(1), 1, 4, 4}}},
      column{0, {{Source::Iter(1), 1, 1, 4}}};
  net.b.Reduce("dense", {{"o", 7}, {"k", 80, kReduction}}, Monoid::Kind::kSum, {y, {d0}},
               net.b.Mul(net.b.Load(r, {f, row, column}), net.b.Load(w, {d0, d1})));
  EXPECT_THAT(Permuted(net.Finish(y), 2),
              AllOf(HasSubstr("Y[o] sum= R[k/16, k/4%4, k%4]*U[o, k]"),
                    HasSubstr("A[f, h, w] sum= Q[h + p, w + q, c]*V.last[p, q, c, f]")));
}

// In a grouped convolution, R[g*2 + c, h + p, w + q] has group and channel in one index, along which no window moves.
// So the groups count as channels: they become the last dimensions of R and of the result G.
TEST(ChannelsLast, GroupsOfChannelsAreChannels) {
  Net net;
  const Id a = net.Relu("R", net.Conv("A", net.x, "W", 4, 3));
  const Id w = net.b.Constant("V", kF32, {2, 3, 2, 3, 3}), y = net.b.Temporary("G", kF32, {2, 3, 4, 4});
  const IndexSum d6 = Builder::Iter(6);
  net.b.Reduce(
      "groups",
      {{"g", 2},
       {"f", 3},
       {"h", 4},
       {"w", 4},
       {"c", 2, kReduction},
       {"p", 3, kReduction},
       {"q", 3, kReduction}},
      Monoid::Kind::kSum, {y, {d0, d1, d2, d3}},
      net.b.Mul(net.b.Load(a, {d0 * 2 + d4, d2 + d5, d3 + d6}), net.b.Load(w, {d0, d1, d4, d5, d6})));
  const Id m = net.b.Temporary("Y", kF32, {2, 3});
  net.b.Reduce("sum", {{"g", 2}, {"f", 3}, {"h", 4, kReduction}, {"w", 4, kReduction}}, Monoid::Kind::kSum,
               {m, {d0, d1}}, net.b.Load(y, {d0, d1, d2, d3}));
  EXPECT_THAT(Permuted(net.Finish(m), 3),
              HasSubstr("G[h, w, g, f] sum= R[h + p, w + q, g*2 + c]*V.last[p, q, c, g, f]"));
}

TEST(ChannelsLast, ImagesOfABatchStayFirst) {
  Builder b("net");
  const Id x = b.Input("X", kF32, {2, 3, 8}), w = b.Constant("W", kF32, {4, 3, 3}),
           a = b.Temporary("A", kF32, {2, 4, 6}), y = b.Output("Y", kF32, {2, 4});
  b.Reduce("conv", {{"n", 2}, {"f", 4}, {"h", 6}, {"c", 3, kReduction}, {"p", 3, kReduction}},
           Monoid::Kind::kSum, {a, {d0, d1, d2}},
           b.Mul(b.Load(x, {d0, d3, d2 + d4}), b.Load(w, {d1, d3, d4})));
  b.Reduce("sum", {{"n", 2}, {"f", 4}, {"h", 6, kReduction}}, Monoid::Kind::kSum, {y, {d0, d1}},
           b.Load(a, {d0, d1, d2}));
  EXPECT_THAT(Permuted(b.Finish(), 1), HasSubstr("A[n, h, f] sum= X[n, c, h + p]*W.last[p, c, f]"));
}

// Keeps the order of dimensions of P, which padding makes of the input, and of B, of which an elementwise block makes
// the result Y: they have the order of the caller's arrays. A, between two convolutions, is permuted.
TEST(ChannelsLast, KeepsTheOrderOfPaddedInputsAndOfWhatBecomesAResult) {
  Net net;
  const Id a = net.Conv("A", net.Pad("P", net.Relu("R", net.x)), "W", 4, 3);
  const Program before = net.Finish(net.Relu("Y", net.Conv("B", a, "V", 5, 3)));
  EXPECT_THAT(Permuted(before, 1), AllOf(HasSubstr("A[h, w, f] sum= P[c, h + p, w + q]*W.last[p, q, c, f]"),
                                         HasSubstr("B[f, h, w] sum= A[h + p, w + q, c]*V.last[p, q, c, f]")));
}

// Keeps the order of dimensions of Y, which has only three channels, too few to fill a vector, and of R and A, from
// which the result Y is summed.
TEST(ChannelsLast, KeepsFewChannelsAndWhatTheyAreSumsOf) {
  Net net;
  const Id q = net.Relu("Q", net.Conv("B", net.x, "W", 4, 3));
  const Id y = net.Conv("Y", net.Relu("R", net.Conv("A", q, "V", 5, 3)), "U", 3, 3);
  EXPECT_THAT(Permuted(net.Finish(y), 2),
              AllOf(HasSubstr("A[f, h, w] sum= Q[h + p, w + q, c]*V.last[p, q, c, f]"),
                    HasSubstr("Y[f, h, w] sum= R[c, h + p, w + q]*U[f, c, p, q]")));
}

TEST(ChannelsLast, ConstantsOfTheFileStayInTheirTask) {
  Builder b("net");
  const Id x = b.Input("X", kF32, {3, 8}), y = b.Output("Y", kF32, {4});
  const Id w = b.Constant("W", kF32, {4, 3, 3}, std::string(4 * 3 * 3 * sizeof(float), '\0')),
           a = b.Temporary("A", kF32, {4, 6});
  b.Reduce("conv", {{"f", 4}, {"h", 6}, {"c", 3, kReduction}, {"p", 3, kReduction}}, Monoid::Kind::kSum,
           {a, {d0, d1}}, b.Mul(b.Load(x, {d2, d1 + d3}), b.Load(w, {d0, d2, d3})));
  b.Reduce("sum", {{"f", 4}, {"h", 6, kReduction}}, Monoid::Kind::kSum, {y, {d0}}, b.Load(a, {d0, d1}));
  EXPECT_THAT(Permuted(b.Finish(), 1),
              AllOf(HasSubstr("A[h, f] sum= X[c, h + p]*W[f, c, p]"), Not(HasSubstr(".last"))));
}

void ExpectUntouched(const Program& before) {
  Program after = before;
  EXPECT_EQ(ChannelsLast(after), 0);
  EXPECT_EQ(ToString(after), ToString(before));
}

TEST(ChannelsLast, LeavesModelsWithChannelsLast) {
  Builder b("net");
  const Id x = b.Input("X", kF32, {8, 3}), w = b.Constant("W", kF32, {4, 3, 3}),
           a = b.Temporary("A", kF32, {6, 4}), y = b.Output("Y", kF32, {4});
  b.Reduce("conv", {{"h", 6}, {"f", 4}, {"p", 3, kReduction}, {"c", 3, kReduction}}, Monoid::Kind::kSum,
           {a, {d0, d1}}, b.Mul(b.Load(x, {d0 + d2, d3}), b.Load(w, {d1, d3, d2})));
  b.Reduce("sum", {{"f", 4}, {"h", 6, kReduction}}, Monoid::Kind::kSum, {y, {d0}}, b.Load(a, {d1, d0}));
  ExpectUntouched(b.Finish());
}

TEST(ChannelsLast, LeavesProductsWithoutWindows) {
  Builder b("net");
  const Id x = b.Input("X", kF32, {3, 8}), w = b.Constant("W", kF32, {4, 3}),
           t = b.Temporary("T", kF32, {4, 8}), y = b.Output("Y", kF32, {4});
  b.Reduce("dense", {{"f", 4}, {"n", 8}, {"c", 3, kReduction}}, Monoid::Kind::kSum, {t, {d0, d1}},
           b.Mul(b.Load(x, {d2, d1}), b.Load(w, {d0, d2})));
  b.Reduce("sum", {{"f", 4}, {"n", 8, kReduction}}, Monoid::Kind::kSum, {y, {d0}}, b.Load(t, {d0, d1}));
  ExpectUntouched(b.Finish());
}

// After SimplifyModel with channels-last, a convolution of a model with channels first has its iters in the order h, w,
// f, c, as if the file had channels last.
TEST(ChannelsLast, TheItersOfOneFormFollow) {
  Net net;
  const Id a = net.Relu("R", net.Conv("A", net.x, "W", 4, 3));
  const Id y = net.b.Temporary("Y", kF32, {4});
  net.b.Reduce("sum", {{"f", 4}, {"h", 6, kReduction}, {"w", 6, kReduction}}, Monoid::Kind::kSum, {y, {d0}},
               net.At(net.Relu("S", net.Conv("B", a, "V", 4, 1))));
  Program model = net.Finish(y);
  EXPECT_EQ(SimplifyModel(model, Policies::Without("+channels-last").value()).permuted, 4);
  EXPECT_THAT(ToString(model), HasSubstr("          spatial h < 6 = h\n"
                                         "          spatial w < 6 = w\n"
                                         "          spatial f < 4 = f\n"
                                         "          reduction c < 4 = c\n"
                                         "          B[h, w, f] sum= R[h, w, c]*V.last[c, f]"));
}

std::vector<Task> TasksOf(Program model) {
  SimplifyModel(model, Policies::Without("+channels-last").value());
  return ExtractTasks(model).value();
}

TEST(ChannelsLast, TasksAreThoseOfFilesWithChannelsLast) {
  Net net;
  const Id inner = net.Conv("B", net.Conv("A", net.x, "W", 4, 3), "V", 5, 3),
           sums = net.b.Temporary("Y", kF32, {5});
  net.b.Reduce("sum", {{"f", 5}, {"h", 4, kReduction}, {"w", 4, kReduction}}, Monoid::Kind::kSum,
               {sums, {d0}}, net.At(inner));
  Builder b("last");
  const auto conv = [&](Id x, const std::string& w, const std::string& y, int64_t size, int64_t c,
                        int64_t f) {
    const Id weights = b.Constant(w, kF32, {3, 3, c, f}), out = b.Temporary(y, kF32, {size, size, f});
    b.Reduce("conv",
             {{"h", size},
              {"w", size},
              {"f", f},
              {"p", 3, kReduction},
              {"q", 3, kReduction},
              {"c", c, kReduction}},
             Monoid::Kind::kSum, {out, {d0, d1, d2}},
             b.Mul(b.Load(x, {d0 + d3, d1 + d4, d5}), b.Load(weights, {d3, d4, d5, d2})));
    return out;
  };
  const Id last = conv(conv(b.Input("X", kF32, {8, 8, 3}), "W", "A", 6, 3, 4), "V", "B", 4, 4, 5);
  b.Reduce("sum", {{"f", 5}, {"h", 4, kReduction}, {"w", 4, kReduction}}, Monoid::Kind::kSum,
           {b.Output("Y", kF32, {5}), {d0}}, b.Load(last, {d1, d2, d0}));
  const std::vector<Task> first = TasksOf(net.Finish(sums)), wanted = TasksOf(b.Finish());
  ASSERT_EQ(first.size(), 3);
  ASSERT_EQ(wanted.size(), 3);
  for (const int task : {1, 2})  // the first one reads the input
    EXPECT_TRUE(Equal(first[task].program, wanted[task].program)) << ToString(first[task].program);
}

// Checks on 400 random models that ChannelsLast, alone and between two calls of BringToOneForm, keeps every bit of the
// results. Data are whole numbers, whose sums are exact in any order.
TEST(ChannelsLast, RandomModelsKeepTheirResults) {
  int permuted = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Program before = RandomModel(seed);
    Program after = before, formed = before;
    permuted += ChannelsLast(after) > 0 ? 1 : 0;
    BringToOneForm(formed);
    ChannelsLast(formed);
    BringToOneForm(formed);
    const std::vector<std::string> inputs = RandomModelInputs(before, seed);
    const auto wanted = kiln::Run(before, inputs);
    for (const Program& model : {after, formed}) {
      ASSERT_TRUE(Verify(model).ok()) << "seed " << seed << ": " << Verify(model) << ToString(model);
      const auto found = kiln::Run(model, inputs);
      ASSERT_EQ(wanted.ok(), found.ok()) << "seed " << seed << ": " << found.status();
      if (wanted.ok())
        EXPECT_EQ(*found, *wanted) << "seed " << seed << "\n" << ToString(before) << ToString(model);
    }
  }
  EXPECT_GT(permuted, 40);
}

}  // namespace
}  // namespace kiln
