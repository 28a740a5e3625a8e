// A named tensor of a file of weights, its type as text, its size, and error messages about such files. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "lang/program/dtype.h"

namespace kiln {

struct WeightTensor {
  std::string name = {};
  DType dtype = DType::kF32;  // an i1 is stored as one byte
  std::vector<int64_t> shape = {};
  absl::string_view bytes = {};  // of the elements in row-major order, at any address
};

// Returns the dtype and shape of a tensor as text: "f32[64,3,7,7]".
inline std::string TypeText(DType dtype, const std::vector<int64_t>& shape) {
  return absl::StrCat(ToString(dtype), "[", absl::StrJoin(shape, ","), "]");
}

// Returns the number of bytes of a tensor; -1 if an extent is negative or the number is too large.
inline int64_t TensorBytes(DType dtype, const std::vector<int64_t>& shape) {
  int64_t bytes = SizeOf(dtype);
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

// Return the error kInvalidArgument with the message "FILE: TEXT", or "FILE: tensor "NAME": TEXT" if a tensor is to
// blame.
template <typename... Text>
absl::Status WeightsError(absl::string_view file, const Text&... text) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", text...));
}
template <typename... Text>
absl::Status TensorError(absl::string_view file, absl::string_view tensor, const Text&... text) {
  return WeightsError(file, "tensor \"", tensor, "\": ", text...);
}

}  // namespace kiln
