// Outer products in vector registers: C[m, n] += A[m, 1] * B[1, n] by fused multiply-adds, with C in registers:
// fma.6x16 (m by n) for AVX2 (16 registers of 8 floats) and fma.14x32 for AVX-512 (32 of 16). Two vectors of B and one
// broadcast of A are live.
#include "absl/strings/substitute.h"
#include "lang/intrinsics/declare.h"

namespace kiln {
namespace {

constexpr char kCompute[] = R"(kiln.program v1
program fma
parameters A, B, C
buffer A: f32[$0, 1] input
buffer B: f32[1, $1] input
buffer C: f32[$0, $1] output register/thread
for k < 1 unrolled {
  for i < $0 unrolled {
    for j < $1 vectorized {
      block fma {
        spatial i < $0 = i
        spatial j < $1 = j
        reduction k < 1 = k
        C[i, j] sum= A[i, k]*B[k, j]
      }
    }
  }
}
)";

constexpr char kStore[] = R"(kiln.program v1
program store
parameters C, D
buffer C: f32[$0, $1] input register/thread
buffer D: f32[$0, $1] output
for i < $0 unrolled {
  for j < $1 vectorized {
    block store {
      spatial i < $0 = i
      spatial j < $1 = j
      D[i, j] = C[i, j]
    }
  }
}
)";

IntrinsicFamily Family(const std::string& name, int64_t m, int64_t n, bool (*has)(const Target&)) {
  IntrinsicFamily family{name, m, n, 1, name + ".compute"};
  family.store = name + ".store";
  family.result = Storage::kRegister;
  family.has = has;
  return family;
}

std::vector<Intrinsic> Members(const IntrinsicFamily& family) {
  return {{family.compute, absl::Substitute(kCompute, family.m, family.n)},
          {family.store, absl::Substitute(kStore, family.m, family.n)}};
}

bool HasFma(const Target& target, int bytes, int registers) {
  return target.name == "cpu" && target.fma && target.vector_bytes == bytes &&
         target.vector_registers >= registers;
}

const IntrinsicFamily kAvx2 =
    Family("fma.6x16", 6, 16, [](const Target& target) { return HasFma(target, 32, 16); });
const IntrinsicFamily kAvx512 =
    Family("fma.14x32", 14, 32, [](const Target& target) { return HasFma(target, 64, 32); });
const DeclareIntrinsics kDeclareAvx2(kAvx2, Members(kAvx2));
const DeclareIntrinsics kDeclareAvx512(kAvx512, Members(kAvx512));

}  // namespace
}  // namespace kiln
