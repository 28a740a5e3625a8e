// Tests contraction of multiplications and additions to fused multiply-adds: LLVM fuses only operations that lowering
// marked, and lowering marks those of the program only if asked.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "lang/program/builder.h"
#include "testing/compiled/loaded.h"
#include "testing/compiled/run_program.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

Codegen& WithFma() {
  static auto* const codegen =
      Codegen::Create(Named("x86_64-pc-linux-gnu", "x86-64-v3").value()).value().release();
  return *codegen;
}

std::string AssemblyOf(mlir::ModuleOp module, const std::string& entry) {
  return WithFma().Text(module, {.entries = {{.name = entry, .noalias = true}}}, Stage::kAssembly).value();
}

bool Fuses(const Program& p, bool contract) {
  auto module = Lower(p, Context(), {.contract = contract});
  EXPECT_TRUE(module.ok()) << module.status();
  return absl::StrContains(AssemblyOf(**module, p.name), "vfm");
}

// Returns the program y[i] = f(x[i]) for 64 elements, vectorized by eight.
Program Map(absl::FunctionRef<Id(Builder&, Id)> f) {
  Builder b("map");
  const Id x = b.Input("x", DType::kF32, {64}), y = b.Output("y", DType::kF32, {64});
  b.Compute("map", {{"i", 64}}, {y, {b.Iter(0)}}, f(b, b.Load(x, {b.Iter(0)})));
  Schedule s = Scheduled(b.Finish());
  s.Vectorize(s.Split(s.GetLoops(s.GetBlock("map"))[0], {8, 8})[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(Contract, ProductsAndSumsFuseWhereBothAreMarked) {
  const auto fused = [](const char* product, const char* sum) {
    const auto module = Parse(absl::Substitute(R"(
      func.func @f(%x: memref<8xf32>) {
        %i = arith.constant 0 : index
        %v = vector.load %x[%i] : memref<8xf32>, vector<8xf32>
        %p = arith.mulf %v, %v $0 : vector<8xf32>
        %s = arith.addf %p, %v $1 : vector<8xf32>
        vector.store %s, %x[%i] : memref<8xf32>, vector<8xf32>
        return
      })",
                                               product, sum));
    return absl::StrContains(AssemblyOf(*module, "f"), "vfmadd");
  };
  const char marked[] = "fastmath<contract>";
  EXPECT_TRUE(fused(marked, marked));
  EXPECT_FALSE(fused(marked, ""));
  EXPECT_FALSE(fused("", marked));
  EXPECT_FALSE(fused("", ""));
}

TEST(Contract, DecidesOfProductsThatSumsTake) {
  EXPECT_TRUE(Fuses(Matmul(4, 8, 8), true));
  EXPECT_FALSE(Fuses(Matmul(4, 8, 8), false));
}

TEST(Contract, DecidesOfProductsAndSumsInBodies) {
  const auto line = [](Builder& b, Id x) {
    return b.Add(b.Mul(x, b.Float(DType::kF32, 3)), b.Float(DType::kF32, 5));
  };
  const auto difference = [](Builder& b, Id x) {
    return b.Make(Op::kSub, DType::kF32, b.Float(DType::kF32, 5), b.Mul(x, b.Float(DType::kF32, 3)));
  };
  for (const auto& p : {Map(line), Map(difference)}) {
    EXPECT_TRUE(Fuses(p, true));
    EXPECT_FALSE(Fuses(p, false));
  }
}

TEST(Contract, FunctionsFuseWhatTheyAreMadeOf) {
  for (const Op op : {Op::kExp, Op::kErf, Op::kLog1p}) {
    const auto f = [&](Builder& b, Id x) { return b.Make(op, DType::kF32, x); };
    EXPECT_TRUE(Fuses(Map(f), false)) << ToString(op);
  }
}

// Tests x^2 + 5, whose power is lowered to x * x. The code fuses this product with the addition only if contraction is
// allowed.
TEST(Contract, WhatAFunctionGivesIsNotFusedWithTheRest) {
  const auto f = [](Builder& b, Id x) {
    return b.Add(b.Make(Op::kPow, DType::kF32, x, b.Float(DType::kF32, 2)), b.Float(DType::kF32, 5));
  };
  EXPECT_TRUE(Fuses(Map(f), true));
  EXPECT_FALSE(Fuses(Map(f), false));
}

}  // namespace
}  // namespace kiln
