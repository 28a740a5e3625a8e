// The GPU instruction mma.sync m16n8k16 with f16 operands and f32 sums: each of the 32 lanes of a warp holds
// 8, 4 and 4 elements of A, B and C in registers. The loads of its operands from shared memory and the store
// of its result are described here too.
#include "absl/strings/substitute.h"
#include "lang/intrinsics/declare.h"

namespace kiln {
namespace {

// The layouts of the operands A, B and C of mma.sync: which lane of a warp holds an element, in which register. Lanes
// number rows modulo 8 and pairs of columns; for B, columns and pairs of rows.
constexpr char kA[] =
    "f16[16, 16] $0 warp/warp layout (d0%8*4 + d1/2%4 < 32, d0/8*2 + d1/8*4 + d1%2 < 8) "
    "kinds (lane, register)";
constexpr char kB[] =
    "f16[16, 8] $0 warp/warp layout (d1*4 + d0/2%4 < 32, d0/8*2 + d0%2 < 4) "
    "kinds (lane, register)";
constexpr char kC[] =
    "f32[16, 8] $0 warp/warp layout (d0%8*4 + d1/2 < 32, d0/8*2 + d1%2 < 4) "
    "kinds (lane, register)";

constexpr char kCompute[] = R"(kiln.program v1
program mma
parameters A, B, C
buffer A: $0
buffer B: $1
buffer C: $2
for i < 16 {
  for j < 8 {
    for k < 16 {
      block mma {
        spatial i < 16 = i
        spatial j < 8 = j
        reduction k < 16 = k
        C[i, j] sum= f32(A[i, k])*f32(B[k, j])
      }
    }
  }
}
)";

// A program that copies $2 by $3 elements: Y = X.
constexpr char kCopy[] = R"(kiln.program v1
program copy
parameters X, Y
buffer X: $0
buffer Y: $1
for i < $2 {
  for j < $3 {
    block copy {
      spatial i < $2 = i
      spatial j < $3 = j
      Y[i, j] = X[i, j]
    }
  }
}
)";

constexpr char kFill[] = R"(kiln.program v1
program fill
parameters C
buffer C: $0
for i < 16 {
  for j < 8 {
    block fill {
      spatial i < 16 = i
      spatial j < 8 = j
      C[i, j] = f32(0)
    }
  }
}
)";

std::string In(const char* fragment) { return absl::Substitute(fragment, "input"); }
std::string Out(const char* fragment) { return absl::Substitute(fragment, "output"); }

DeclareIntrinsics Declare() {
  IntrinsicFamily family{"mma.m16n8k16", 16, 8, 16};
  family.compute = "mma.m16n8k16.compute";
  family.fill = "mma.m16n8k16.fill";
  family.load_a = "mma.m16n8k16.load-a";
  family.load_b = "mma.m16n8k16.load-b";
  family.store = "mma.m16n8k16.store";
  family.operands = family.result = Storage::kWarp;
  family.has = [](const Target& target) { return target.name == "cuda"; };
  return {family,
          {{family.compute, absl::Substitute(kCompute, In(kA), In(kB), Out(kC)), Owner::kWarp},
           {family.fill, absl::Substitute(kFill, Out(kC)), Owner::kWarp},
           {family.load_a, absl::Substitute(kCopy, "f16[16, 16] input shared/block", Out(kA), 16, 16),
            Owner::kWarp},
           {family.load_b, absl::Substitute(kCopy, "f16[16, 8] input shared/block", Out(kB), 16, 8),
            Owner::kWarp},
           {family.store, absl::Substitute(kCopy, In(kC), "f32[16, 8] output", 16, 8), Owner::kWarp}}};
}

const DeclareIntrinsics kMma = Declare();

}  // namespace
}  // namespace kiln
