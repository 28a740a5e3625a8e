// Tests compiled programs whose tiles do not divide an extent, so that the last tile is incomplete.
// tests/lower/plans/guards_*.txt show which tiles test guards, and the code for incomplete tiles.
#include <gtest/gtest.h>

#include "tests/backends/computes_the_same.h"

namespace kiln {
namespace {

// Returns the program B[i] = A[i] with i < extent, in three tiles of 20 elements with inner tiles of 4, 2 and 1. The
// last tile is incomplete if the extent is less than 60.
Program Tiles(int64_t extent) {
  const std::string n = std::to_string(extent);
  return Parsed(R"(
program tiles
parameters A, B
buffer A: f32[)" +
                n + R"(] input
buffer B: f32[)" +
                n + R"(] output

for a < 3 {
  for b < 5 {
    for c < 2 {
      for d < 2 unrolled {
        block copy {
          spatial i < )" +
                n + R"( = a*20 + b*4 + c*2 + d
          B[i] = A[i]
        }
      }
    }
  }
}
)");
}

// Compares with the interpreter for 56 elements, where the inner tiles of 4 end with the extent, and for 57, where the
// last one of these is incomplete.
TEST(IncompleteTiles, ComputeTheSame) {
  for (const int64_t extent : {56, 57}) ComputesTheSame(Tiles(extent));
}

TEST(IncompleteTiles, ComputeTheSameInRegisters) {
  const Program p = Parsed(R"(
program rows
parameters A, B
buffer A: f32[9, 64] input
buffer B: f32[9] output
buffer acc: f32[9] temporary register/thread

for a < 5 {
  for b < 2 unrolled {
    block begin {
      spatial i < 9 = a*2 + b
      acc[i] = f32(0)
    }
  }
  for k < 64 {
    for b < 2 unrolled {
      block sum {
        spatial i < 9 = a*2 + b
        reduction k < 64 = k
        acc[i] sum= A[i, k]
      }
    }
  }
  for b < 2 unrolled {
    block end {
      spatial i < 9 = a*2 + b
      B[i] = acc[i]
    }
  }
}
)");
  ComputesTheSame(p);
}

// A copy to a buffer whose layout puts elements with even and odd numbers in different halves, in steps of four
// unrolled iterations. Tests that the code neither divides nor takes remainders, since each unrolled iteration knows
// its half.
TEST(UnrolledSteps, DivideNothing) {
  const Program p = Parsed(R"(
program halves
parameters A, B
buffer A: f32[64] input
buffer B: f32[64] output layout (d0%2 < 2, d0/2 < 32)

for i < 64 @"unrolled-steps"=4 {
  block copy {
    spatial i < 64 = i
    B[i] = A[i]
  }
}
)");
  const std::string text = ModuleText(p);
  EXPECT_EQ(Count(text, "arith.remui") + Count(text, "arith.divui"), 0) << text;
  EXPECT_EQ(Count(text, "memref.store"), 4) << text;
}

}  // namespace
}  // namespace kiln
