// Tests that lowering transposes vectors in registers where each lane of a vector would be stored to another row: it
// stores whole vectors instead, and memory gets the right values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "testing/compiled/run_program.h"

namespace kiln {
namespace {

// Returns the program y[j, i] = x[i, j] with i unrolled and j vectorized. Rows of y have `apart` elements.
Program Transposes(DType type, int64_t rows, int64_t lanes, int64_t apart) {
  Builder b("transposes");
  const Id x = b.Input("x", type, {rows, lanes}), y = b.Output("y", type, {lanes, apart});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("y", {{"i", rows}, {"j", lanes}}, {y, {j, i}}, b.Load(x, {i, j}));
  Program p = b.Finish();
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (!p.IsLoop(node)) continue;
    const bool inner = p.nodes[node].first != kNone && p.IsBlock(p.nodes[node].first);
    p.loop(node).kind = inner ? LoopKind::kVectorized : LoopKind::kUnrolled;
  }
  return p;
}

template <typename T>
void Check(DType type) {
  for (const int64_t lanes : {3, 4, 7, 8, 16, 24, 32}) {
    for (const int64_t rows : {1, 2, 3, 4, 6, 7, 8, 14, 16, 17}) {
      for (const int64_t apart : {rows, rows + 5}) {
        LowerOptions options;
        options.vector_bytes = lanes % 16 == 0 ? 64 : 32;  // vectors of 64 bytes have masks
        auto loaded = BuildProgram(Transposes(type, rows, lanes, apart), options);
        ASSERT_TRUE(loaded.ok()) << loaded.status();
        Array<T> x(rows * lanes), y(lanes * apart);
        for (int64_t i = 0; i < rows * lanes; ++i) x[i] = static_cast<T>(i + 1);
        for (int64_t i = 0; i < lanes * apart; ++i) y[i] = static_cast<T>(-1);
        CallKernel(*loaded, "transposes", {x.data(), y.data()});
        for (int64_t j = 0; j < lanes; ++j)
          for (int64_t i = 0; i < apart; ++i)
            ASSERT_EQ(y[j * apart + i], i < rows ? x[i * lanes + j] : static_cast<T>(-1))
                << lanes << " lanes " << rows << " rows " << apart << " apart: " << j << " " << i;
      }
    }
  }
}

// Runs y[j, i] = x[i, j] and then z[j] = y[j, 1]. The stores to y are delayed, to transpose them in registers. Tests
// that they are done before z reads y.
TEST(Transposed, IsStoredBeforeItIsRead) {
  const Program p = Parsed(R"(
program reads
parameters x, y, z
buffer x: f32[4, 8] input
buffer y: f32[8, 4] output
buffer z: f32[8] output

for i < 4 unrolled {
  for j < 8 vectorized {
    block y {
      spatial i < 4 = i
      spatial j < 8 = j
      y[j, i] = x[i, j]
      from compute 2
    }
  }
}
for j < 8 vectorized {
  block z {
    spatial j < 8 = j
    z[j] = y[j, 1]
    from compute 4
  }
}
)");
  auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Array<float> x(32), y(32), z(8);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  CallKernel(*loaded, "reads", {x.data(), y.data(), z.data()});
  for (int j = 0; j < 8; ++j) EXPECT_EQ(z[j], x[8 + j]);
}

// Tests the MLIR of a transposition of 8 x 8 f32: it has 8 vector stores and 24 shuffles, and stores no single element.
TEST(Transposed, StoresWholeRegisters) {
  const std::string text = ModuleText(Transposes(DType::kF32, 8, 8, 8));
  EXPECT_EQ(Count(text, "memref.store"), 0) << text;
  EXPECT_EQ(Count(text, "vector.store"), 8) << text;
  EXPECT_EQ(Count(text, "vector.shuffle"), 24) << text;
}

TEST(Transposed, Floats) { Check<float>(DType::kF32); }
TEST(Transposed, Doubles) { Check<double>(DType::kF64); }
TEST(Transposed, Integers) { Check<int32_t>(DType::kI32); }

}  // namespace
}  // namespace kiln
