// Tests vectorized loops in GPU kernels whose lanes access memory with a stride, or are masked, or have elements of
// other threads between them.
#include <gtest/gtest.h>

#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

// Thread k of 3 writes the elements k, k + 3, k + 6 and k + 9 of a row, then reads them as four lanes of a vector.
// Tests that it loads no element between them, since other threads may be writing those.
TEST(GpuLanes, OfAStrideReadNoElementsOfOtherThreads) {
  ExpectTextSameOnGpu(R"(kiln.program v1
program strided
parameters A, T, B
buffer A: i32[7, 4, 3] input
buffer T: i32[7, 4, 3] output
buffer B: i32[7, 4, 3] output

for i < 7 block-x {
  for j < 4 {
    for k < 3 thread-x {
      block first {
        spatial i < 7 = i
        spatial j < 4 = j
        spatial k < 3 = k
        T[i, j, k] = A[i, j, k] + i32(1)
      }
    }
  }
  for j < 4 vectorized {
    for k < 3 thread-x {
      block second {
        spatial i < 7 = i
        spatial j < 4 = j
        spatial k < 3 = k
        B[i, j, k] = T[i, j, k] - A[i, j, k]
      }
    }
  }
}
)");
}

// Each thread sums 13 elements in 5 vectors of 3 lanes. Two lanes of the last vector have no element, so its load is
// masked. Tests that this compiles and is right.
TEST(GpuLanes, OfThreeMayBeMaskedWhereTheyAreAligned) {
  ExpectTextSameOnGpu(R"(kiln.program v1
program sums
parameters A, B
buffer A: i32[13] input
buffer B: i32[64] output

for i < 64 thread-x {
  for k_0 < 5 {
    for k_1 < 3 vectorized {
      block sum {
        spatial i < 64 = i
        reduction k < 13 = k_0*3 + k_1
        B[i] sum= A[k]
      }
    }
  }
}
)");
}

// Each thread stores 6 elements to registers with a vector of 4 lanes, where lane l has the elements 2*l and 2*l + 1.
// The last lane has none. Tests that the masked store compiles and is right.
TEST(GpuLanes, OfAStrideMayBeMaskedInRegisters) {
  ExpectTextSameOnGpu(R"(kiln.program v1
program registers
parameters A, B
buffer A: f32[6, 32] input
buffer R: f32[6, 32] temporary register/thread
buffer B: f32[6, 32] output

for t < 32 thread-x {
  for l < 4 vectorized {
    for i < 2 unrolled {
      block load {
        spatial i < 6 = l*2 + i
        spatial t < 32 = t
        R[i, t] = A[i, t]*f32(2)
      }
    }
  }
  for i < 6 unrolled {
    block store {
      spatial i < 6 = i
      spatial t < 32 = t
      B[i, t] = R[i, t]
    }
  }
}
)");
}

}  // namespace
}  // namespace kiln
