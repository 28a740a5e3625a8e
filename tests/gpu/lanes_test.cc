// Lanes of vectors in kernels: strided, masked, and of memory that other threads use.
#include <gtest/gtest.h>

#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

// Thread k writes the elements k, k + 3, .. of T and reads them in lanes. Between them are elements that other threads
// may be writing.
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

// The last three lanes have one element: their masks are constants once the loop over k_0 is unrolled.
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

// Lane l holds the elements 2*l and 2*l + 1 in registers; the last lane has none.
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
