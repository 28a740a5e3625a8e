// Dot products of neighbours: an instruction adds to each 32-bit sum of a vector 4 products of bytes (VNNI;
// SDOT and USDOT on Arm) or 2 products of bf16 or f16. VNNI multiplies unsigned by signed bytes. For signed
// by signed bytes, 128 is added to A, and its contribution is subtracted from the sums. If B is packed so
// that the k of a column are adjacent, it takes one load.
#include "absl/strings/substitute.h"
#include "lang/intrinsics/declare.h"
#include "lang/target/cpu_features.h"

namespace kiln {
namespace {

// The description of dot products. Arguments: $0 sums of $1 products; then the dtypes of A, B and the sum,
// and how A is widened.
constexpr char kDot[] = R"(kiln.program v1
program dot
parameters A, B, C
buffer A: $2[$1] input
buffer B: $3[$0, $1] input
buffer C: $4[$0] output
for k < $1 unrolled {
  for j < $0 vectorized {
    block dot {
      spatial j < $0 = j
      reduction k < $1 = k
      C[j] sum= $5(A[k])*$4(B[j, k])
    }
  }
}
)";

bool Has(const Target& target, absl::string_view feature, int bytes) {
  return target.name == "cpu" && target.vector_bytes == bytes && HasFeature(target.features, feature);
}

struct Dot {
  const char* name;
  int64_t sums, products;
  const char *a, *b, *c, *widened;
  bool (*has)(const Target&);
};

DeclareIntrinsics Declare(const Dot& dot) {
  IntrinsicFamily family{dot.name, 1, dot.sums, dot.products, std::string(dot.name) + ".compute"};
  family.interleave = dot.products;
  family.has = dot.has;
  return {
      family,
      {{family.compute, absl::Substitute(kDot, dot.sums, dot.products, dot.a, dot.b, dot.c, dot.widened)}}};
}

bool HasVnni256(const Target& t) { return Has(t, "avxvnni", 32) || Has(t, "avx512vnni", 32); }
bool HasVnni512(const Target& t) { return Has(t, "avx512vnni", 64); }

const DeclareIntrinsics kVnni256 = Declare({"vnni.8x4", 8, 4, "i8", "i8", "i32", "i32.unsigned", HasVnni256});
const DeclareIntrinsics kVnni512 =
    Declare({"vnni.16x4", 16, 4, "i8", "i8", "i32", "i32.unsigned", HasVnni512});
const DeclareIntrinsics kSigned256 = Declare({"vnni.s8.8x4", 8, 4, "i8", "i8", "i32", "i32", HasVnni256});
const DeclareIntrinsics kSigned512 = Declare({"vnni.s8.16x4", 16, 4, "i8", "i8", "i32", "i32", HasVnni512});
const DeclareIntrinsics kBf16 = Declare({"bf16.16x2", 16, 2, "bf16", "bf16", "f32", "f32",
                                         [](const Target& t) { return Has(t, "avx512bf16", 64); }});
const DeclareIntrinsics kF16 = Declare(
    {"f16.16x2", 16, 2, "f16", "f16", "f32", "f32", [](const Target& t) { return Has(t, "avx10.2", 64); }});
const DeclareIntrinsics kSdot = Declare(
    {"sdot.4x4", 4, 4, "i8", "i8", "i32", "i32", [](const Target& t) { return Has(t, "dotprod", 16); }});
const DeclareIntrinsics kUsdot = Declare({"usdot.4x4", 4, 4, "i8", "i8", "i32", "i32.unsigned",
                                          [](const Target& t) { return Has(t, "i8mm", 16); }});

}  // namespace
}  // namespace kiln
