#include "lang/text/text.h"

#include <cmath>
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/text/hash.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Program Matmul() {
  Builder b("matmul");
  const Id A = b.Input("A", DType::kF32, {109, 32}), B = b.Input("B", DType::kF32, {32, 16}),
           C = b.Output("C", DType::kF32, {109, 16});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("matmul", {{"i", 109}, {"j", 16}, {"k", 32, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {i, j}}, b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));
  return b.Finish();
}

void ExpectRoundTrip(const Program& program) {
  const absl::StatusOr<Program> parsed = ParseProgram(ToString(program));
  ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << ToString(program);
  EXPECT_TRUE(Equal(program, *parsed));
  EXPECT_EQ(ToString(program), ToString(*parsed));
}

TEST(Text, PrintsAScheduledMatmul) {
  Schedule s = Scheduled(Matmul());
  const Block block = s.GetBlock("matmul");
  const std::vector<Loop> loops = s.GetLoops(block);
  const std::vector<Loop> parts = s.Split(loops[0], {7, 16});
  s.Parallel(parts[0]);
  s.Reorder({loops[2], loops[1], parts[1]});
  s.Vectorize(loops[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ToString(s.program()), R"(kiln.program v1
program matmul
parameters A, B, C
buffer A: f32[109, 32] input
buffer B: f32[32, 16] input
buffer C: f32[109, 16] output

for i_0 < 7 parallel {
  for k < 32 {
    for j < 16 vectorized {
      for i_1 < 16 {
        block matmul {
          spatial i < 109 = i_0*16 + i_1
          spatial j < 16 = j
          reduction k < 32 = k
          C[i, j] sum= A[i, k]*B[k, j]
          from compute 4
        }
      }
    }
  }
}
)");
  ExpectRoundTrip(s.program());
}

TEST(Text, NamesGuardsOfImperfectTilesThatAreNotAnItersOwn) {
  Schedule s = Scheduled(Matmul());
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("matmul"));
  s.Split(s.Fuse({loops[0], loops[1]}), {-1, 48});  // 109 * 16 = 36 * 48 + 16
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_THAT(text, HasSubstr("let m0 = i_j_0*48 + i_j_1 < 1744\n"));
  EXPECT_THAT(text, HasSubstr("spatial j < 16 = i_j_1%16 where m0\n"));
  ExpectRoundTrip(s.program());
}

TEST(Text, OrdersNamedValuesAsTheyArePrinted) {
  Builder b("copied");
  const Id A = b.Input("A", DType::kF32, {2, 3, 2}), T = b.Temporary("T", DType::kF32, {2, 3, 2}),
           C = b.Output("C", DType::kF32, {2, 3, 2});
  const std::vector<Builder::IterSpec> iters = {{"i", 2}, {"j", 3}, {"k", 2}};
  const std::vector<IndexSum> index = {b.Iter(0), b.Iter(1), b.Iter(2)};
  b.Compute("make", iters, {T, index}, b.Load(A, index));
  b.Compute("use", iters, {C, index}, b.Load(T, index));
  Schedule s = Scheduled(b.Finish());
  const Block make = s.GetBlock("make");
  s.ComputeAt(make, s.GetLoops(s.GetBlock("use"))[1]);
  s.Split(s.GetLoops(make)[3], {5, 1});
  s.CooperativeFetch(make, 5);
  s.BindRest(1, 2);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("= m0%3 + m1/2"));
  ExpectRoundTrip(s.program());
}

TEST(Text, PrintsAPaddedConvolution) {
  Builder b("conv");
  const Id A = b.Input("in put", DType::kF32, {8}), B = b.Output("B", DType::kF32, {8});
  IndexSum at = b.Iter(0) + b.Iter(1);
  at.offset = -1;
  b.Reduce("conv", {{"i", 8}, {"for", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {B, {b.Iter(0)}},
           b.Within({{at, 8}}, b.Load(A, {at}), b.Float(DType::kF32, 0)), b.Float(DType::kF32, 0.5));
  const Program p = b.Finish();
  EXPECT_EQ(ToString(p), R"(kiln.program v1
program conv
parameters "in put", B
buffer "in put": f32[8] input
buffer B: f32[8] output

for i < 8 {
  for "for" < 3 {
    block conv {
      spatial i < 8 = i
      reduction "for" < 3 = "for"
      B[i] sum= within((i + "for" - 1 < 8), "in put"[i + "for" - 1], f32(0)) initial f32(0.5)
      from compute 3
    }
  }
}
)");
  ExpectRoundTrip(p);
}

TEST(Text, KeepsConstantsLayoutsScopesAndNotes) {
  Builder b("all");
  const Id W = b.Constant("W", DType::kI8, {4}, "abcd"), A = b.Input("A", DType::kF64, {4, 4}),
           T = b.Temporary("T", DType::kF64, {4, 4}), B = b.Output("B", DType::kF64, {4, 4});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("t", {{"i", 4}, {"j", 4}}, {T, {i, j}},
            b.Make(Op::kMax, DType::kF64, b.Load(A, {i, j}), b.Cast(DType::kF64, b.Load(W, {j}))));
  const Id x = b.Load(T, {j, i}), y = b.Float(DType::kF64, -0.1);
  b.Compute("b", {{"i", 4}, {"j", 4}}, {B, {i, j}},
            b.Make(Op::kSub, DType::kF64, x,
                   b.Make(Op::kSub, DType::kF64, b.Mul(b.Add(x, y), y), b.Float(DType::kF64, HUGE_VAL))));
  Schedule s = Scheduled(b.Finish());
  s.TransformLayout(s.GetBlock("t"), -1, "(i, j) -> (j/2, i, j%2)");
  s.SetScope(s.GetBlock("t"), "stack");
  s.Annotate(s.GetBlock("b"), "vector-width", 8);
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_THAT(text, HasSubstr("buffer W: i8[4] constant data \"61626364\""));
  EXPECT_THAT(text,
              HasSubstr("buffer T: f64[4, 4] temporary stack/thread layout (d1/2 < 2, d0 < 4, d1%2 < 2)"));
  EXPECT_THAT(text, HasSubstr("block b @\"vector-width\"=8 {"));
  EXPECT_THAT(text, HasSubstr("B[i, j] = T[j, i] - ((T[j, i] + f64(-0.1))*f64(-0.1) - f64(inf))"));
  ExpectRoundTrip(s.program());
}

// Returns the program y = f(x), element by element.
Program Elementwise(const std::function<Id(Builder&, Id x)>& f) {
  Builder b("elementwise");
  const Id x = b.Input("x", DType::kF32, {8}), y = b.Output("y", DType::kF32, {8});
  b.Compute("y", {{"i", 8}}, {y, {b.Iter(0)}}, f(b, b.Load(x, {b.Iter(0)})));
  return b.Finish();
}

TEST(Text, NamesValuesThatAreUsedMoreThanOnce) {
  const Program p = Elementwise([](Builder& b, Id x) {
    const Id square = b.Mul(x, x);
    return b.Add(b.Make(Op::kExp, DType::kF32, square), b.Mul(square, x));
  });
  EXPECT_THAT(ToString(p), HasSubstr("    value v0 = x[i]*x[i]\n"
                                     "    y[i] = exp(v0) + v0*x[i]\n"));
  ExpectRoundTrip(p);
}

TEST(Text, IsAsLongAsTheExpressionsAreMany) {
  const auto squared = [](int times) {
    return Elementwise([&](Builder& b, Id x) {
      for (int i = 0; i < times; ++i) x = b.Mul(x, x);
      return x;
    });
  };
  EXPECT_LT(ToString(squared(200)).size(), 3 * ToString(squared(100)).size());
  ExpectRoundTrip(squared(200));
}

TEST(Text, ExpressionsThatAreNestedDeeplyAreReadBack) {
  ExpectRoundTrip(Elementwise([](Builder& b, Id x) {
    for (int i = 0; i < 1000; ++i) x = b.Make(Op::kSin, DType::kF32, x);
    return x;
  }));
}

TEST(Text, ABufferMayBeCalledValue) {
  Builder b("named");
  const Id x = b.Input("x", DType::kF32, {8}), y = b.Output("value", DType::kF32, {8});
  const Id square = b.Mul(b.Load(x, {b.Iter(0)}), b.Load(x, {b.Iter(0)}));
  b.Compute("y", {{"i", 8}}, {y, {b.Iter(0)}}, b.Add(square, square));
  ExpectRoundTrip(b.Finish());
}

TEST(Text, AValueHasOneMeaning) {
  std::string text = ToString(Elementwise([](Builder& b, Id x) {
    const Id square = b.Mul(x, x);
    return b.Add(square, square);
  }));
  const std::string line = "value v0 = x[i]*x[i]\n";
  text.insert(text.find(line), line);
  EXPECT_THAT(ParseProgram(text).status().message(), HasSubstr("the block has a value \"v0\" already"));
}

// The text of a program names loops with one iteration in bindings: primitives ask which loops feed a reduction, also
// after the text was read back.
TEST(Text, KeepsLoopsOfOneIteration) {
  Builder b("unit");
  const Id x = b.Input("X", DType::kF32, {8}), y = b.Output("Y", DType::kF32, {8});
  b.Reduce("sum", {{"i", 8}, {"p", 1, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {Builder::Iter(0)}},
           b.Load(x, {Builder::Iter(0)}));
  const std::string text = ToString(b.Finish());
  EXPECT_THAT(text, HasSubstr("reduction p < 1 = p"));
  const Program read = ParseProgram(text).value();
  const Id block = Blocks(read)[0];
  EXPECT_THAT(Feeds(read, block, IterKind::kReduction), ElementsAre(false, true));
}

TEST(Text, ErrorsSayWhereWhatAndWhatWasWanted) {
  const std::string head = "kiln.program v1\nprogram p\nparameters A\nbuffer A: f32[4] output\n";
  const auto error = [&](const std::string& text) {
    return std::string(ParseProgram(text).status().message());
  };
  EXPECT_EQ(error("kiln.trace v1"), "1:1: found \"kiln.trace\", wanted \"kiln.program\"");
  EXPECT_EQ(error("kiln.program v1\nprogram p\nbuffer A: f33[4] output"),
            "3:11: found \"f33\", wanted a dtype");
  EXPECT_EQ(error(head + "for i < {"), "5:9: found \"{\", wanted an extent");
  EXPECT_EQ(error(head + "for i < 4 { block b { spatial i < 4 = j A[i] = f32(1) } }"),
            "5:39: \"j\" is not an index here");
  EXPECT_EQ(error(head + "for i < 4 { block b { spatial i < 4 = i B[i] = f32(1) } }"),
            "5:41: no buffer is called \"B\"");
  EXPECT_EQ(error(head + "for i < 4 { block b { spatial i < 4 = i A[i, i] = f32(1) } }"),
            "5:41: found 2 indices, wanted 1");
  EXPECT_EQ(error(head + "for i < 4 { block b { spatial i < 4 = i A[i] = gamma(f32(1)) } }"),
            "5:48: there is no operation \"gamma\"");
  EXPECT_EQ(error(head + "for i < 4 { block b { spatial i < 4 = i A[i] = f32(1) }"),
            "5:56: found the end, wanted \"for\" or \"block\"");
}

TEST(Text, ACastOfWhatDoesNotParseIsNoExpression) {
  EXPECT_EQ(
      ParseProgram("kiln.program v1 program p parameters y buffer y: f64[1] output block b { y[0] = f64(?) }")
          .status()
          .message(),
      "1:85: found \"?\", wanted an expression");
}

TEST(Text, WhatVerifyRefusesDoesNotParse) {
  const auto parsed = ParseProgram(
      "kiln.program v1 program p parameters A buffer A: f32[4] output for i < 5 { block b { spatial i < 5 = "
      "i A[i] = f32(1) } }");
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(parsed.status().message()),
              HasSubstr("dimension 0 of A has extent 4, and its index is 0 .. 4"));
}

TEST(Text, CustomMonoidsHaveSeveralResults) {
  // Prints, reads back and runs an argmax, whose monoid has two results.
  const auto p = ParseProgram(R"(kiln.program v1 program argmax parameters A, V, I
    buffer A: f32[5] input  buffer V: f32[] output  buffer I: i64[] output
    monoid pick identity (f32(-inf), i64(0)) combine (select(gt(r0, l0), r0, l0), select(gt(r0, l0), r1, l1))
    for k < 5 { block argmax { reduction k < 5 = k  V[], I[] pick= (A[k], i64(index(k))) } })");
  ASSERT_TRUE(p.ok()) << p.status();
  ExpectRoundTrip(*p);
  const float in[] = {1, 7, 3, 9, 2};
  const auto out = kiln::Run(*p, {std::string(reinterpret_cast<const char*>(in), sizeof in)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(*reinterpret_cast<const int64_t*>((*out)[1].data()), 3);
}

}  // namespace
}  // namespace kiln
