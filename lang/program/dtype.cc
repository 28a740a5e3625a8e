#include "lang/program/dtype.h"

namespace kiln {
namespace {

struct Row {
  absl::string_view name;
  int64_t size;
  bool is_float;
};

constexpr Row kRows[kNumDTypes] = {
    {"f64", 8, true},  {"f32", 4, true},    {"f16", 2, true},  {"bf16", 2, true},
    {"i1", 1, false},  {"i8", 1, false},    {"u8", 1, false},  {"i32", 4, false},
    {"i64", 8, false}, {"index", 8, false}, {"i16", 2, false},
};

}  // namespace

absl::string_view ToString(DType type) { return kRows[static_cast<int>(type)].name; }

std::optional<DType> ParseDType(absl::string_view text) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kRows[i].name == text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool IsFloat(DType type) { return kRows[static_cast<int>(type)].is_float; }

int64_t SizeOf(DType type) { return kRows[static_cast<int>(type)].size; }

}  // namespace kiln
