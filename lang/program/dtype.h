// Element types of buffers and expressions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kiln {

enum class DType : uint8_t { kF64, kF32, kF16, kBF16, kI1, kI8, kU8, kI32, kI64, kIndex, kI16 };
inline constexpr int kNumDTypes = 11;

// "f32"; the names of MLIR's types, with "u8" for bytes read as unsigned.
absl::string_view ToString(DType type);
std::optional<DType> ParseDType(absl::string_view text);

bool IsFloat(DType type);

// Bytes of one element in memory; an i1 takes a byte, an index eight.
int64_t SizeOf(DType type);

}  // namespace kiln
