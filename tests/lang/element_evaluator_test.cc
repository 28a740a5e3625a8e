#include "lang/reference/element_evaluator.h"

#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "testing/random_program.h"

namespace kiln {
namespace {

TEST(ElementEvaluator, AgreesWithTheInterpreterOnEveryElementOfRandomPrograms) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomDice dice(Engine({seed, 78}));
    const Program p = RandomProgram(dice, {.once = true});
    const std::vector<std::string> inputs = RandomInputs(p, dice);
    std::vector<const std::string*> input_of(p.buffers.size(), nullptr);
    size_t next = 0;
    for (const Id b : p.parameters) {
      if (p.buffers[b].role != Role::kOutput) input_of[b] = &inputs[next++];
    }
    ElementEvaluator evaluator(p, [&](Id b, int64_t i) {
      return LoadScalar(p.buffers[b].dtype, input_of[b]->data() + i * SizeOf(p.buffers[b].dtype));
    });
    const auto outputs = kiln::Run(p, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    next = 0;
    for (const Id b : p.parameters) {
      if (p.buffers[b].role != Role::kOutput) continue;
      const DType type = p.buffers[b].dtype;
      const std::string& wanted = (*outputs)[next++];
      for (int64_t i = 0; i < BytesOf(p, b) / SizeOf(type); ++i) {
        const auto value = evaluator.Evaluate(b, i);
        ASSERT_TRUE(value.ok()) << value.status();
        EXPECT_EQ(value->i, LoadScalar(type, wanted.data() + i * SizeOf(type)).i)
            << "seed " << seed << " element " << i;
      }
    }
  }
}

TEST(ElementEvaluator, TouchesOnlyWhatAnElementNeeds) {
  Builder b("matmul");
  const int64_t n = 1 << 14;
  const Id A = b.Input("A", DType::kF32, {n, 64}), B = b.Input("B", DType::kF32, {64, n}),
           C = b.Output("C", DType::kF32, {n, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("matmul", {{"i", n}, {"j", n}, {"k", 64, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));
  const Program p = b.Finish();
  int asked = 0;
  ElementEvaluator evaluator(p, [&](Id, int64_t) {
    ++asked;
    return Scalar{.f = 2.0};
  });
  EXPECT_EQ(evaluator.Number(C, n * n - 1).value(), 256);
  EXPECT_EQ(asked, 128);
}

// Evaluates a sum of 2^40 terms. The evaluation is cancelled when the function that it asks whether to stop says so, at
// the third call.
TEST(ElementEvaluator, StopsWithinAnElement) {
  Builder b("sum");
  const Id A = b.Input("A", DType::kI64, {1}), B = b.Output("B", DType::kI64, {});
  b.Reduce("sum", {{"r", int64_t{1} << 40, IterKind::kReduction}}, Monoid::Kind::kSum, {B, {}},
           b.Load(A, {IndexSum{0, {}}}));
  const Program p = b.Finish();
  int asked = 0;
  ElementEvaluator evaluator(p, [](Id, int64_t) { return Scalar{.i = 1}; }, [&] { return ++asked == 3; });
  EXPECT_TRUE(absl::IsCancelled(evaluator.Evaluate(B, 0).status()));
  EXPECT_EQ(asked, 3);
}

TEST(ElementEvaluator, SolvesMixedRadixAndDividedDestinations) {
  // Evaluates elements of B through indices that are sums in a mixed radix, or divided: T[4*i + j] = A[i, j];  B[i/4,
  // i%4] = T[i]
  Builder b("reshape");
  const Id A = b.Input("A", DType::kF64, {3, 4}), T = b.Temporary("T", DType::kF64, {12}),
           B = b.Output("B", DType::kF64, {3, 4});
  b.Compute("flat", {{"i", 3}, {"j", 4}}, {T, {b.Iter(0) * 4 + b.Iter(1)}},
            b.Load(A, {b.Iter(0), b.Iter(1)}));
  b.Compute("fold", {{"i", 12}},
            {B, {IndexSum{0, {{Source::Iter(0), 1, 4, 0}}}, IndexSum{0, {{Source::Iter(0), 1, 1, 4}}}}},
            b.Load(T, {b.Iter(0)}));
  const Program p = b.Finish();
  ElementEvaluator evaluator(p, [](Id, int64_t i) { return Scalar{.f = static_cast<double>(i)}; });
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(evaluator.Number(B, i).value(), static_cast<double>(i));
}

}  // namespace
}  // namespace kiln
