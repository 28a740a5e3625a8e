#include <cmath>
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

struct Broken {
  Program program;
  Id T, C, first, second;  // buffers; blocks: T[i] = A[i]; C[] sum= T[k]
};

Broken Chain() {
  Builder b("chain");
  Broken x;
  const Id A = b.Input("A", DType::kF32, {4});
  x.T = b.Temporary("T", DType::kF32, {4});
  x.C = b.Output("C", DType::kF32, {});
  x.first = b.Compute("copy", {{"i", 4}}, {x.T, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  x.second = b.Reduce("sum", {{"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {x.C, {}},
                      b.Load(x.T, {b.Iter(0)}));
  x.program = b.Finish();
  return x;
}

// Returns the message with which Verify refuses a valid program after `damage` has broken it.
std::string After(const std::function<void(Program&, const Broken&)>& damage) {
  Broken x = Chain();
  damage(x.program, x);
  const absl::Status status = Verify(x.program);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  return std::string(status.message());
}

IndexMark& BindingOf(Program& p, Id block) { return p.marks[p.iters[p.block(block).iters.begin].binding]; }

TEST(Verify, AcceptsWhatTheBuilderMakes) { EXPECT_TRUE(Verify(Chain().program).ok()); }

TEST(Verify, LinksOfTheTreeAgree) {
  EXPECT_THAT(After([](Program& p, const Broken& x) { p.nodes[x.first].parent = kRoot; }),
              HasSubstr("has wrong links"));
}

TEST(Verify, LoopsAreNotEmpty) {
  EXPECT_THAT(After([](Program& p, const Broken& x) { p.Detach(x.first); }), HasSubstr("loop i is empty"));
}

TEST(Verify, ExtentsArePositive) {
  EXPECT_THAT(After([](Program& p, const Broken& x) { p.loop(p.nodes[x.first].parent).extent = 0; }),
              HasSubstr("loop i has an extent of 0"));
}

TEST(Verify, BindingsUseLoopsAroundTheBlock) {
  EXPECT_THAT(After([](Program& p, const Broken& x) {
                p.splits[BindingOf(p, x.first).splits.begin].source = Source::Loop(p.nodes[x.second].parent);
              }),
              HasSubstr("block \"copy\": the binding of iter i uses loop k, which is not around it"));
}

TEST(Verify, DeadLoopsHaveDefinitions) {
  EXPECT_THAT(After([](Program& p, const Broken& x) {
                const Id loop = p.nodes[x.first].parent, other = p.AddLoop("j", 4);
                p.Replace(loop, other);
                p.Detach(x.first);
                p.Append(other, x.first);
                p.Kill(loop);
              }),
              HasSubstr("uses loop i, which is gone without a definition"));
}

TEST(Verify, BindingsHaveTheExtentOfTheirIter) {
  EXPECT_THAT(After([](Program& p, const Broken& x) { BindingOf(p, x.first).extent = 5; }),
              HasSubstr("the binding of iter i has another extent"));
}

TEST(Verify, ReductionItersNeedAMonoid) {
  EXPECT_THAT(After([](Program& p, const Broken& x) { p.block(x.second).monoid = kNone; }),
              HasSubstr("block \"sum\": it has a reduction iter and no monoid"));
}

TEST(Verify, IndicesLieInTheirDimensions) {
  EXPECT_THAT(After([](Program& p, const Broken&) { p.marks[p.List(p.accesses[0].index)[0]].offset = 1; }),
              HasSubstr("dimension 0 of T has extent 4, and its index is 1 .. 4"));
}

TEST(Verify, LoadsThatNoInstanceReachesMayLieAnywhere) {
  Builder b("never");
  const Id A = b.Input("A", DType::kF32, {4}), B = b.Output("B", DType::kF32, {4});
  const IndexSum before = IndexSum::Constant(-1);
  b.Compute("never", {{"i", 4}}, {B, {b.Iter(0)}},
            b.Within({{before, 4}}, b.Load(A, {before}), b.Float(DType::kF32, 0)));
  EXPECT_TRUE(Verify(b.Finish()).ok());
}

TEST(Verify, AccessesHaveTheRankOfTheirBuffer) {
  EXPECT_THAT(After([](Program& p, const Broken&) { p.accesses[0].index.count = 0; }),
              HasSubstr("it writes T with 0 indices, wanted 1"));
}

TEST(Verify, InputsAreNotWritten) {
  EXPECT_THAT(After([](Program& p, const Broken&) { p.accesses[0].buffer = p.parameters[0]; }),
              HasSubstr("it writes A, which is neither an output nor a temporary"));
}

TEST(Verify, OperandsHaveOneDType) {
  EXPECT_THAT(After([](Program& p, const Broken&) {
                Expr zero;
                zero.dtype = DType::kI32;
                const Id i = p.AddExpr(zero);
                zero.dtype = DType::kF32;
                p.AddExpr({Op::kAdd, DType::kF32, p.AddExpr(zero), i});
              }),
              HasSubstr("has operands of different dtypes"));
}

TEST(Verify, IdentitiesOfMonoidsAreConstants) {
  EXPECT_THAT(After([](Program& p, const Broken& x) {
                const Id monoid = p.block(x.second).monoid;
                p.monoids[monoid].identity = p.block(x.second).values;
              }),
              HasSubstr("has an identity that is not constant"));
}

TEST(Verify, OperationsAreDefinedOnTheirDType) {
  EXPECT_THAT(After([](Program& p, const Broken&) {
                Expr zero;
                zero.dtype = DType::kI32;
                p.AddExpr({Op::kExp, DType::kI32, p.AddExpr(zero)});
              }),
              HasSubstr("(exp) is not defined on i32"));
}

TEST(Verify, ValuesHaveTheDTypeOfTheirDestination) {
  EXPECT_THAT(After([](Program& p, const Broken& x) {
                Expr zero;
                zero.dtype = DType::kI32;
                p.block(x.first).values = p.AddList({p.AddExpr(zero)});
              }),
              HasSubstr("its value has another dtype than T"));
}

TEST(Verify, ParametersAreTheBuffersWithARole) {
  EXPECT_THAT(After([](Program& p, const Broken&) { p.parameters.pop_back(); }),
              HasSubstr("buffer C is 0 times among the parameters"));
}

TEST(Verify, WhatIsReadIsWrittenBefore) {
  EXPECT_THAT(After([](Program& p, const Broken& x) {
                const Id nest = p.nodes[x.first].parent;
                p.Detach(nest);
                p.Append(kRoot, nest);
              }),
              HasSubstr("block \"sum\": it reads T, which nothing before it writes"));
}

TEST(Verify, AccumulationNeedsAnInitialization) {
  EXPECT_THAT(After([](Program& p, const Broken& x) { p.block(x.second).accumulates = true; }),
              HasSubstr("it accumulates into C, which nothing before it initializes"));
}

}  // namespace
}  // namespace kiln
