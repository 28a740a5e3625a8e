#include "tests/support/instructions_in_c.h"

#include <cstdlib>
#include <map>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "build_info.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

// LLVM IR of a function that computes a dot-product instruction by calling the C function c_dot. $0 is the vector type
// of the sums, $1 that of the factors.
constexpr char kDot[] = R"(
declare void @c_dot(ptr, ptr, ptr)
define internal $0 @dot_in_c($0 %c, $1 %a, $1 %b) {
  %x = alloca $1
  %y = alloca $1
  %z = alloca $0
  store $1 %a, ptr %x
  store $1 %b, ptr %y
  store $0 %c, ptr %z
  call void @c_dot(ptr %z, ptr %x, ptr %y)
  %sums = load $0, ptr %z
  ret $0 %sums
}
)";

// LLVM IR of functions that load, store and multiply AMX tiles by calling C functions. A tile is a vector of 256 i32.
constexpr char kTile[] = R"(
declare void @c_load(ptr, i16, i16, ptr, i64)
declare void @c_store(ptr, i16, i16, ptr, i64)
declare void @c_multiply(ptr, i16, i16, i16, ptr, ptr)
define internal <256 x i32> @tile_load(i16 %rows, i16 %bytes, ptr %from, i64 %apart) {
  %tile = alloca <256 x i32>
  call void @c_load(ptr %tile, i16 %rows, i16 %bytes, ptr %from, i64 %apart)
  %value = load <256 x i32>, ptr %tile
  ret <256 x i32> %value
}
define internal void @tile_store(i16 %rows, i16 %bytes, ptr %to, i64 %apart, <256 x i32> %value) {
  %tile = alloca <256 x i32>
  store <256 x i32> %value, ptr %tile
  call void @c_store(ptr %tile, i16 %rows, i16 %bytes, ptr %to, i64 %apart)
  ret void
}
define internal <256 x i32> @tile_multiply(i16 %m, i16 %n, i16 %k, <256 x i32> %c, <256 x i32> %a, <256 x i32> %b) {
  %x = alloca <256 x i32>
  %y = alloca <256 x i32>
  %z = alloca <256 x i32>
  store <256 x i32> %a, ptr %x
  store <256 x i32> %b, ptr %y
  store <256 x i32> %c, ptr %z
  call void @c_multiply(ptr %z, i16 %m, i16 %n, i16 %k, ptr %x, ptr %y)
  %sums = load <256 x i32>, ptr %z
  ret <256 x i32> %sums
}
define internal <256 x i32> @from_i32(<256 x i32> %value) { ret <256 x i32> %value }
define internal <256 x i32> @to_i32(<256 x i32> %value) { ret <256 x i32> %value }
define internal <256 x i32> @from_f32(<256 x float> %value) {
  %bits = bitcast <256 x float> %value to <256 x i32>
  ret <256 x i32> %bits
}
define internal <256 x float> @to_f32(<256 x i32> %bits) {
  %value = bitcast <256 x i32> %bits to <256 x float>
  ret <256 x float> %value
}
)";

constexpr char kFunctions[] = R"(
__bf16 __truncsfbf2(float x) {  // older compilers' libraries have none
  union { float f; unsigned u; } in = {x};
  union { unsigned short u; __bf16 b; } out = {(unsigned short)(in.u >> 16)};
  return out.b;
}
enum { PER_ROW = 64 / sizeof(C), TOGETHER = sizeof(C) / sizeof(A) };
void c_dot(C* c, const A* a, const B* b) {
  for (int i = 0; i < SUMS; ++i)
    for (int t = 0; t < TOGETHER; ++t) c[i] += (C)a[i * TOGETHER + t] * (C)b[i * TOGETHER + t];
}
void c_load(char* tile, short rows, short bytes, const char* from, long apart) {
  for (int r = 0; r < rows; ++r) __builtin_memcpy(tile + 64 * r, from + apart * r, bytes);
}
void c_store(const char* tile, short rows, short bytes, char* to, long apart) {
  for (int r = 0; r < rows; ++r) __builtin_memcpy(to + apart * r, tile + 64 * r, bytes);
}
void c_multiply(C* c, short m, short n, short k, const A* a, const B* b) {  // n and k in bytes
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k / (int)sizeof(C); ++l)
      for (int j = 0; j < n / (int)sizeof(C); ++j)
        for (int t = 0; t < TOGETHER; ++t)
          c[i * PER_ROW + j] += (C)a[(i * PER_ROW + l) * TOGETHER + t] * (C)b[(l * PER_ROW + j) * TOGETHER + t];
}
)";

struct Types {
  const char *ir, *c;
};
const std::map<absl::string_view, Types> kTypes = {{"i8", {"i8", "signed char"}},
                                                   {"bf16", {"bfloat", "__bf16"}},
                                                   {"f16", {"half", "_Float16"}},
                                                   {"i32", {"i32", "int"}},
                                                   {"f32", {"float", "float"}}};

}  // namespace

std::string WithCFunctions(const std::string& ir, const CpuInstruction& row) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(ir, '\n')) {
    const bool declares = absl::StartsWith(line, "declare") &&
                          (absl::StrContains(line, row.llvm) || absl::StrContains(line, "x86_amx"));
    if (!declares) absl::StrAppend(&text, line, "\n");
  }
  text = std::regex_replace(text, std::regex("\"target-(features|cpu)\"=\"[^\"]*\""), "");
  const std::string instruction = absl::StrCat("@", row.llvm);
  if (row.kind == CpuInstruction::Kind::kDot) {
    const std::string sums = absl::Substitute("<$0 x $1>", row.n, kTypes.at(row.sum).ir);
    const std::string factors = absl::Substitute("<$0 x $1>", row.n * row.k, kTypes.at(row.factor).ir);
    return absl::StrCat(absl::StrReplaceAll(text, {{instruction, "@dot_in_c"}}),
                        absl::Substitute(kDot, sums, factors));
  }
  return absl::StrCat(absl::StrReplaceAll(text, {{"@llvm.x86.tileloadd64.internal", "@tile_load"},
                                                 {"@llvm.x86.tilestored64.internal", "@tile_store"},
                                                 {instruction, "@tile_multiply"},
                                                 {"@llvm.x86.cast.vector.to.tile.v256", "@from_"},
                                                 {"@llvm.x86.cast.tile.to.vector.v256", "@to_"},
                                                 {"x86_amx", "<256 x i32>"}}),
                      kTile);
}

std::string CFunctions(const CpuInstruction& row) {
  const bool is_unsigned = row.unsigned_a || row.moves_a;
  return absl::Substitute("typedef $0 A; typedef $1 B; typedef $2 C; enum { SUMS = $3 };\n$4",
                          is_unsigned ? "unsigned char" : kTypes.at(row.factor).c, kTypes.at(row.factor).c,
                          kTypes.at(row.sum).c, row.n, kFunctions);
}

int RunWithC(const std::string& ir, const std::string& c) {
  const TemporaryFolder folder;
  folder.Write("program.ll", ir);
  folder.Write("main.c", c);
  const std::string compile = absl::StrCat(
      "cd ", folder.path(), " && ", KILN_CXX_COMPILER,
      " -O1 -march=x86-64-v3 -fno-strict-aliasing -nostdlib++ -x c main.c -x ir program.ll -o main");
  if (std::system(compile.c_str()) != 0) return -1;
  return std::system((folder.path() + "/main").c_str());
}

}  // namespace kiln
