#include "lang/intrinsics/cpu_instructions.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "lang/intrinsics/declare.h"
#include "lang/target/cpu_features.h"

namespace kiln {
namespace {

constexpr auto kDot = CpuInstruction::Kind::kDot, kTile = CpuInstruction::Kind::kTile;

// The instructions, one a row. Rows of one group (families with one name up to the first '.') stand together: default
// spaces list groups in this order.
// clang-format off
constexpr CpuInstruction kRows[] = {
    // The columns are the members of CpuInstruction, in their order.
    // family    kind      m   n   k inter. factor sum   unsigned moves bytes feature            llvm
    {"vnni.8x4",     kDot,   1,  8,  4, 4, "i8",   "i32", true,  false, 32, "avxvnni|avx512vnni", "llvm.x86.avx512.vpdpbusd.256"},
    {"vnni.16x4",    kDot,   1, 16,  4, 4, "i8",   "i32", true,  false, 64, "avx512vnni",         "llvm.x86.avx512.vpdpbusd.512"},
    {"vnni.s8.8x4",  kDot,   1,  8,  4, 4, "i8",   "i32", false, true,  32, "avxvnni|avx512vnni", "llvm.x86.avx512.vpdpbusd.256"},
    {"vnni.s8.16x4", kDot,   1, 16,  4, 4, "i8",   "i32", false, true,  64, "avx512vnni",         "llvm.x86.avx512.vpdpbusd.512"},
    {"bf16.16x2",    kDot,   1, 16,  2, 2, "bf16", "f32", false, false, 64, "avx512bf16",         "llvm.x86.avx512bf16.dpbf16ps.512"},
    {"f16.16x2",     kDot,   1, 16,  2, 2, "f16",  "f32", false, false, 64, "avx10.2",            "llvm.x86.avx10.vdpphps.512"},
    {"amx.u8s8",     kTile, 16, 16, 64, 4, "i8",   "i32", true,  false, 0,  "amx-tile+amx-int8",  "llvm.x86.tdpbusd.internal"},
    {"amx.s8s8",     kTile, 16, 16, 64, 4, "i8",   "i32", false, false, 0,  "amx-tile+amx-int8",  "llvm.x86.tdpbssd.internal"},
    {"amx.bf16",     kTile, 16, 16, 32, 2, "bf16", "f32", false, false, 0,  "amx-tile+amx-bf16",  "llvm.x86.tdpbf16ps.internal"},
    {"amx.f16",      kTile, 16, 16, 32, 2, "f16",  "f32", false, false, 0,  "amx-tile+amx-fp16",  "llvm.x86.tdpfp16ps.internal"},
    {"sdot.4x4",     kDot,   1,  4,  4, 4, "i8",   "i32", false, false, 16, "dotprod",            "llvm.aarch64.neon.sdot"},
    {"usdot.4x4",    kDot,   1,  4,  4, 4, "i8",   "i32", true,  false, 16, "i8mm",               "llvm.aarch64.neon.usdot"},
};
// clang-format on

// The descriptions of kDot and kTile, as texts of programs. $0, $1 and $2 are m, n and k. $3 is the dtype of A and B,
// and $4 the dtype of C, to which B is widened with its sign. $5 is the operation that widens A, with or without its
// sign.
constexpr char kVectors[] = R"(kiln.program v1
program dot
parameters A, B, C
buffer A: $3[$2] input
buffer B: $3[$1, $2] input
buffer C: $4[$1] output
for k < $2 unrolled {
  for j < $1 vectorized {
    block dot {
      spatial j < $1 = j
      reduction k < $2 = k
      C[j] sum= $5(A[k])*$4(B[j, k])
    }
  }
}
)";

constexpr char kTiles[] = R"(kiln.program v1
program tile
parameters A, B, C
buffer A: $3[$0, $2] input
buffer B: $3[$1, $2] input
buffer C: $4[$0, $1] output
for i < $0 {
  for k < $2 {
    for j < $1 vectorized {
      block tile {
        spatial i < $0 = i
        spatial j < $1 = j
        reduction k < $2 = k
        C[i, j] sum= $5(A[i, k])*$4(B[j, k])
      }
    }
  }
}
)";

[[maybe_unused]] const bool kDeclared = [] {
  for (const CpuInstruction& row : kRows) {
    IntrinsicFamily family{std::string(row.family), row.m, row.n, row.k, row.intrinsic()};
    family.registers = row.kind == kTile ? 8 : 0;
    family.interleave = row.interleave;
    family.has = [&row](const Target& target) {
      return target.name == "cpu" && row.IsIn(target.features) &&
             (row.vector_bytes == 0 || row.vector_bytes == target.vector_bytes);
    };
    DeclareIntrinsics(family, {{row.intrinsic(), row.description()}});
  }
  return true;
}();

// Returns the strings without repetitions, in the order in which they first occur.
std::vector<std::string> Distinct(std::vector<std::string> all) {
  std::vector<std::string> distinct;
  for (std::string& each : all)
    if (!absl::c_linear_search(distinct, each)) distinct.push_back(std::move(each));
  return distinct;
}

}  // namespace

std::string CpuInstruction::intrinsic() const { return absl::StrCat(family, ".compute"); }

std::string CpuInstruction::description() const {
  return absl::Substitute(kind == kDot ? kVectors : kTiles, m, n, k, factor, sum,
                          unsigned_a ? absl::StrCat(sum, ".unsigned") : std::string(sum));
}

bool CpuInstruction::IsIn(const std::string& features) const {
  return absl::c_any_of(absl::StrSplit(feature, '|'), [&](absl::string_view alternative) {
    return HasFeature(features, alternative.substr(alternative.find('+') + 1));
  });
}

absl::Span<const CpuInstruction> CpuInstructions() { return kRows; }

const CpuInstruction* FindCpuInstruction(absl::string_view intrinsic, const std::string& features) {
  const auto row =
      absl::c_find_if(kRows, [&](const CpuInstruction& r) { return r.intrinsic() == intrinsic; });
  return row != std::end(kRows) && row->IsIn(features) ? row : nullptr;
}

std::vector<std::string> CpuInstructionFeatures(absl::string_view arch) {
  std::vector<std::string> all;
  for (const CpuInstruction& row : kRows) {
    if (!absl::StartsWith(row.llvm, absl::StrCat("llvm.", arch, "."))) continue;
    for (const absl::string_view each : absl::StrSplit(row.feature, absl::ByAnyChar("|+")))
      all.emplace_back(each);
  }
  return Distinct(std::move(all));
}

std::vector<std::string> CpuInstructionGroups() {
  std::vector<std::string> all;
  for (const CpuInstruction& row : kRows) all.emplace_back(row.family.substr(0, row.family.find('.')));
  return Distinct(std::move(all));
}

}  // namespace kiln
