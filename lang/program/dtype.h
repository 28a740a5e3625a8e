// Element types of buffers and expressions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace kiln {

enum class DType : uint8_t { kF64, kF32, kF16, kBF16, kI1, kI8, kU8, kI32, kI64, kIndex, kI16 };
inline constexpr int kNumDTypes = 11;

// Returns the name of the type: that of MLIR, such as "f32", or "u8" for bytes read as unsigned.
absl::string_view ToString(DType type);
std::optional<DType> ParseDType(absl::string_view text);

bool IsFloat(DType type);

// Returns the bytes of one element in memory. An i1 takes one byte, an index eight.
int64_t SizeOf(DType type);

}  // namespace kiln
