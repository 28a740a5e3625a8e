// Tests that the library of a whole model computes operations that Kiln cannot schedule, such as loops with tensors and
// sorts, by calls of code from stock MLIR passes (foreign calls).
#include <gmock/gmock.h>
#include <malloc.h>

#include "tests/backends/whole.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Floats = std::vector<float>;

// Builds the model of an MLIR text, which must have a foreign call, runs it on these inputs, and returns its first
// result. Expects that no object calls malloc.
Floats Values(absl::string_view text, const std::vector<std::string>& inputs) {
  const auto whole = BuildWhole(text);
  if (!whole.ok()) {
    ADD_FAILURE() << whole.status();
    return {};
  }
  EXPECT_FALSE(whole->foreign.empty());
  for (const std::string& object : whole->objects) EXPECT_THAT(object, Not(HasSubstr("malloc")));
  const WholeResult result = RunWhole(*whole, inputs);
  EXPECT_EQ(result.status, 0);
  return ValuesOf<float>(result.outputs[0]);
}

std::string F(const Floats& values) { return BytesOfValues(values); }
std::string I(const std::vector<int64_t>& values) { return BytesOfValues(values); }

TEST(ForeignCalls, ALoopCarriesATensor) {
  EXPECT_THAT(Values(R"(
func.func @net(%x: tensor<3x2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<1.0> : tensor<2xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %z) -> (tensor<2xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<2xf32>
    %e = tensor.empty() : tensor<2xf32>
    %n = linalg.mul ins(%s, %row : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %n : tensor<2xf32>
  }
  return %r : tensor<2xf32>
})",
                     {F({1, 2, 3, 4, 5, 6})}),
              ElementsAre(15, 48));
}

TEST(ForeignCalls, ALoopExchangesItsTensors) {
  EXPECT_THAT(Values(R"(
func.func @net(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<2xf32>, tensor<2xf32>) {
    %e = tensor.empty() : tensor<2xf32>
    %n = linalg.add ins(%a, %b : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %b, %n : tensor<2xf32>, tensor<2xf32>
  }
  %q:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %r#0, %b = %r#1) -> (tensor<2xf32>, tensor<2xf32>) {
    scf.yield %b, %a : tensor<2xf32>, tensor<2xf32>
  }
  %c = tensor.concat dim(0) %q#0, %q#1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
})",
                     {F({1, 10}), F({2, 20})}),
              ElementsAre(8, 80, 5, 50));  // 1 2 3 5 8, then exchanged
}

TEST(ForeignCalls, ALoopInALoopRunsAsOftenAsTheInputSays) {
  constexpr char kText[] = R"(
func.func @net(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.extract %n[] : tensor<i64>
  %end = arith.index_cast %m : i64 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (tensor<2xf32>) {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%b = %a) -> (tensor<2xf32>) {
      %e = tensor.empty() : tensor<2xf32>
      %n1 = linalg.add ins(%b, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      scf.yield %n1 : tensor<2xf32>
    }
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
})";
  EXPECT_THAT(Values(kText, {F({1, 10}), I({4})}), ElementsAre(7, 70));  // 1 + (0 + 1 + 2 + 3)
  EXPECT_THAT(Values(kText, {F({1, 10}), I({0})}), ElementsAre(1, 10));
}

TEST(ForeignCalls, AWhileLoopPassesOnOtherValuesThanItTakes) {
  EXPECT_THAT(Values(R"(
func.func @net(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.while (%i = %c0, %a = %x) : (index, tensor<2xf32>) -> (tensor<2xf32>, index) {
    %e = tensor.empty() : tensor<2xf32>
    %d = linalg.add ins(%a, %a : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %next, %c5 : index
    scf.condition(%more) %d, %next : tensor<2xf32>, index
  } do {
  ^bb0(%d: tensor<2xf32>, %i: index):
    %e = tensor.empty() : tensor<2xf32>
    %n = linalg.add ins(%d, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %i, %n : index, tensor<2xf32>
  }
  return %r#0 : tensor<2xf32>
})",
                     {F({1, 10})}),
              ElementsAre(62, 620));  // 2, 6, 14, 30, 62
}

TEST(ForeignCalls, ABranchChoosesATensor) {
  constexpr char kText[] = R"(
func.func @net(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : i64
  %m = tensor.extract %n[] : tensor<i64>
  %p = arith.cmpi sgt, %m, %c0 : i64
  %r = scf.if %p -> (tensor<2xf32>) {
    %e = tensor.empty() : tensor<2xf32>
    %s = linalg.mul ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    scf.yield %s : tensor<2xf32>
  } else {
    scf.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
})";
  EXPECT_THAT(Values(kText, {F({3, 10}), I({1})}), ElementsAre(9, 100));
  EXPECT_THAT(Values(kText, {F({3, 10}), I({0})}), ElementsAre(3, 10));
}

// Builds a model of a product, a loop with tensors that sums prefixes, and additions. Tests that the foreign call of
// the loop runs between calls of tasks, with right results.
TEST(ForeignCalls, RunBetweenTasks) {
  const auto whole = BuildWhole(R"(
func.func @net(%x: tensor<4xf32>, %w: tensor<4xf32> {kiln.constant}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %a, %sum = %z) -> (tensor<4xf32>, f32) {
    %v = tensor.extract %a[%i] : tensor<4xf32>
    %n = arith.addf %sum, %v : f32
    %q = tensor.insert %n into %o[%i] : tensor<4xf32>
    scf.yield %q, %n : tensor<4xf32>, f32
  }
  %y = linalg.add ins(%s#0, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.splat %s#1 : tensor<4xf32>
  %r = linalg.add ins(%y, %f : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_GE(whole->plan.calls.size(), 3u);
  const WholeResult result = RunWhole(*whole, {F({1, 2, 3, 4}), F({1, 1, 2, 2})});
  EXPECT_THAT(ValuesOf<float>(result.outputs[0]), ElementsAre(19, 22, 32, 42));  // a = 1 2 6 8, sums 1 3 9 17
}

TEST(ForeignCalls, AnAssertionInALoopGivesStatusOne) {
  const auto whole = BuildWhole(R"(
func.func @net(%x: tensor<4xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%sum = %z) -> (f32) {
    %v = tensor.extract %x[%i] : tensor<4xf32>
    %ok = arith.cmpf oge, %v, %z : f32
    cf.assert %ok, "negative"
    %n = arith.addf %sum, %v : f32
    scf.yield %n : f32
  }
  %r = tensor.from_elements %s : tensor<f32>
  return %r : tensor<f32>
})");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(RunWhole(*whole, {F({1, 2, 3, -4})}).status, 1);
  const WholeResult good = RunWhole(*whole, {F({1, 2, 3, 4})});
  EXPECT_EQ(good.status, 0);
  EXPECT_THAT(ValuesOf<float>(good.outputs[0]), ElementsAre(10));
}

// A loop makes a tensor whose size depends on the input, so that it is allocated while the model runs, and then an
// assertion fails. Tests that the memory is freed: repeated runs do not use more.
TEST(ForeignCalls, AFailedAssertionFreesWhatIsAllocated) {
  const auto whole = BuildWhole(R"(
func.func @net(%n: tensor<i64>) -> tensor<i64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0 : i64
  %m = tensor.extract %n[] : tensor<i64>
  %k = arith.index_cast %m : i64 to index
  %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %z) -> (i64) {
    %e = tensor.empty(%k) : tensor<?xi64>
    %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%e : tensor<?xi64>) {
    ^bb0(%o: i64):
      %x = linalg.index 0 : index
      %y = arith.index_cast %x : index to i64
      linalg.yield %y : i64
    } -> tensor<?xi64>
    %v = tensor.extract %f[%c2] : tensor<?xi64>
    %ok = arith.cmpi slt, %m, %v : i64
    cf.assert %ok, "never"
    %w = tensor.extract %f[%i] : tensor<?xi64>
    %t = arith.addi %sum, %w : i64
    scf.yield %t : i64
  }
  %r = tensor.from_elements %s : tensor<i64>
  return %r : tensor<i64>
})");
  ASSERT_TRUE(whole.ok()) << whole.status();
  const auto held = [] { return mallinfo2().hblkhd + mallinfo2().uordblks; };
  EXPECT_EQ(RunWhole(*whole, {I({1 << 20})}).status, 1);
  const size_t before = held();
  for (int n = 0; n < 8; ++n) EXPECT_EQ(RunWhole(*whole, {I({1 << 20})}).status, 1);
  EXPECT_LT(held(), before + (1 << 20));  // one array takes 8 MB
}

// Builds a model that cuts a slice whose size depends on an input, squares its elements, and puts it back. Tests that
// the result is right, although the slice has no fixed shape.
TEST(ForeignCalls, TakeTensorsOfComputedShapesWithThem) {
  constexpr char kText[] = R"(
func.func @net(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = tensor.extract %n[] : tensor<i64>
  %i = arith.index_cast %m : i64 to index
  %low = arith.maxsi %i, %c0 : index
  %k = arith.minsi %low, %c4 : index
  %part = tensor.extract_slice %x[0] [%k] [1] : tensor<4xf32> to tensor<?xf32>
  %e = tensor.empty(%k) : tensor<?xf32>
  %sq = linalg.mul ins(%part, %part : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.insert_slice %sq into %x[0] [%k] [1] : tensor<?xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
})";
  EXPECT_THAT(Values(kText, {F({2, 3, 4, 5}), I({2})}), ElementsAre(4, 9, 4, 5));
  EXPECT_THAT(Values(kText, {F({2, 3, 4, 5}), I({9})}), ElementsAre(4, 9, 16, 25));
}

// --- Tests of operations of TMTensor and StableHLO, dialects that upstream MLIR does not have

TEST(ForeignCalls, ScanOfTmTensor) {
  const auto text = [](const char* inclusive) {
    return absl::StrCat(R"(
func.func @net(%x: tensor<2x3xf32>, %a: tensor<2xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r:2 = tm_tensor.scan dimension(1) inclusive()",
                        inclusive,
                        R"() ins(%x : tensor<2x3xf32>) outs(%e, %a : tensor<2x3xf32>, tensor<2xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tm_tensor.yield %s : f32
  } -> tensor<2x3xf32>, tensor<2xf32>
  return %r#0 : tensor<2x3xf32>
})");
  };
  EXPECT_THAT(Values(text("true"), {F({1, 2, 3, 4, 5, 6}), F({0, 0})}), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(Values(text("false"), {F({1, 2, 3, 4, 5, 6}), F({0, 10})}), ElementsAre(0, 1, 3, 10, 14, 19));
}

// Sorts seven keys with their values, by an operation of StableHLO and one of TMTensor. Tests that values move with
// their keys, and that equal keys keep their order.
TEST(ForeignCalls, SortOfStablehloAndTmTensorIsStable) {
  constexpr char kStablehlo[] = R"(
func.func @net(%k: tensor<7xf32>, %v: tensor<7xf32>) -> tensor<14xf32> {
  %s:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %x = tensor.extract %a[] : tensor<f32>
    %y = tensor.extract %b[] : tensor<f32>
    %l = arith.cmpf olt, %x, %y : f32
    %t = tensor.from_elements %l : tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) : (tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  %r = tensor.concat dim(0) %s#0, %s#1 : (tensor<7xf32>, tensor<7xf32>) -> tensor<14xf32>
  return %r : tensor<14xf32>
})";
  constexpr char kTmTensor[] = R"(
func.func @net(%k: tensor<7xf32>, %v: tensor<7xf32>) -> tensor<14xf32> {
  %s:2 = tm_tensor.sort dimension(0) outs(%k, %v : tensor<7xf32>, tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %l = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %l : i1
  } -> tensor<7xf32>, tensor<7xf32>
  %r = tensor.concat dim(0) %s#0, %s#1 : (tensor<7xf32>, tensor<7xf32>) -> tensor<14xf32>
  return %r : tensor<14xf32>
})";
  for (const char* text : {kStablehlo, kTmTensor}) {
    EXPECT_THAT(Values(text, {F({3, 1, 2, 3, 0, 1, 3}), F({0, 1, 2, 3, 4, 5, 6})}),
                ElementsAre(0, 1, 1, 2, 3, 3, 3, 4, 1, 5, 2, 0, 3, 6));
  }
}

TEST(ForeignCalls, SortsTheOtherDimension) {
  EXPECT_THAT(Values(R"(
func.func @net(%k: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x = tensor.extract %a[] : tensor<f32>
    %y = tensor.extract %b[] : tensor<f32>
    %l = arith.cmpf ogt, %x, %y : f32
    %t = tensor.from_elements %l : tensor<i1>
    "stablehlo.return"(%t) : (tensor<i1>) -> ()
  }) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
})",
                     {F({1, 2, 3, 1, 2, 3})}),
              ElementsAre(3, 3, 2, 2, 1, 1));
}

TEST(ForeignCalls, TopkOfTmTensorKeepsTheFirstOfEqualOnes) {
  const char* two_best = R"(
func.func @net(%x: tensor<1x5xf32>) -> tensor<1x4xf32> {
  %low = arith.constant dense<-1.0e30> : tensor<1x2xf32>
  %none = arith.constant dense<0> : tensor<1x2xi64>
  %k:2 = tm_tensor.topk dimension(1) ins(%x : tensor<1x5xf32>) outs(%low, %none : tensor<1x2xf32>, tensor<1x2xi64>) {
  ^bb0(%a: f32, %b: f32):
    %g = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %g : i1
  } -> tensor<1x2xf32>, tensor<1x2xi64>
  %e = tensor.empty() : tensor<1x2xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%k#1 : tensor<1x2xi64>) outs(%e : tensor<1x2xf32>) {
  ^bb0(%in: i64, %out: f32):
    %f = arith.sitofp %in : i64 to f32
    linalg.yield %f : f32
  } -> tensor<1x2xf32>
  %r = tensor.concat dim(1) %k#0, %i : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
})";
  EXPECT_THAT(Values(two_best, {F({1, 7, 2, 7, 3})}), ElementsAre(7, 7, 1, 3));
  EXPECT_THAT(Values(two_best, {F({3, 3, 4, 3, 1})}), ElementsAre(4, 3, 2, 0));
}

TEST(ForeignCalls, ScatterOfTmTensorAddsRows) {
  EXPECT_THAT(Values(R"(
func.func @net(%u: tensor<3x2xf32>, %i: tensor<3x1xi64>, %x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %r = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x2xf32>, tensor<3x1xi64>) outs(%x : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tm_tensor.yield %s : f32
  } -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
})",
                     {F({1, 2, 3, 4, 5, 6}), I({1, 3, 1}), F({0, 0, 0, 0, 0, 0, 10, 10})}),
              ElementsAre(0, 0, 6, 8, 0, 0, 13, 14));
}

TEST(ForeignCalls, AnOperationOfAnotherDialectIsNamed) {
  const auto whole = BuildWhole(R"(
func.func @net(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "stablehlo.fft"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})");
  EXPECT_THAT(std::string(whole.status().message()), HasSubstr("net.mlir:3:8: stablehlo.fft"));
  EXPECT_THAT(std::string(whole.status().message()), HasSubstr("hint: "));
}

}  // namespace
}  // namespace kiln
