// Matrix units of x86 (AMX): eight tile registers of 16 rows of 64 bytes. One instruction adds 64 products
// of bytes (32 of bf16 or f16) to each of 16 by 16 sums of 32 bits. B must hold the k of a column together
// in groups of four (two), as for VNNI.
#include "absl/strings/substitute.h"
#include "lang/intrinsics/declare.h"
#include "lang/target/cpu_features.h"

namespace kiln {
namespace {

// The description of the product of two tiles. Arguments: $0 is k; then the dtypes of A, B and the sum, and
// how A is widened.
constexpr char kCompute[] = R"(kiln.program v1
program tile
parameters A, B, C
buffer A: $1[16, $0] input
buffer B: $2[16, $0] input
buffer C: $3[16, 16] output
for i < 16 {
  for k < $0 {
    for j < 16 vectorized {
      block tile {
        spatial i < 16 = i
        spatial j < 16 = j
        reduction k < $0 = k
        C[i, j] sum= $4(A[i, k])*$3(B[j, k])
      }
    }
  }
}
)";

bool Has(const Target& target, absl::string_view feature) {
  return target.name == "cpu" && HasFeature(target.features, feature);
}

DeclareIntrinsics Declare(const std::string& name, const char* operands, const char* sum, const char* widened,
                          int64_t k, bool (*has)(const Target&)) {
  IntrinsicFamily family{name, 16, 16, k, name + ".compute"};
  family.registers = 8;
  family.interleave = k / 16;
  family.has = has;
  return {family, {{family.compute, absl::Substitute(kCompute, k, operands, operands, sum, widened)}}};
}

const DeclareIntrinsics kUnsigned =
    Declare("amx.u8s8", "i8", "i32", "i32.unsigned", 64, [](const Target& t) { return Has(t, "amx-int8"); });
const DeclareIntrinsics kSigned =
    Declare("amx.s8s8", "i8", "i32", "i32", 64, [](const Target& t) { return Has(t, "amx-int8"); });
const DeclareIntrinsics kBf16 =
    Declare("amx.bf16", "bf16", "f32", "f32", 32, [](const Target& t) { return Has(t, "amx-bf16"); });
const DeclareIntrinsics kF16 =
    Declare("amx.f16", "f16", "f32", "f32", 32, [](const Target& t) { return Has(t, "amx-fp16"); });

}  // namespace
}  // namespace kiln
