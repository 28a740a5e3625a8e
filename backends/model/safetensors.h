// Reads and writes the format of .safetensors: eight bytes with the header's size in little-endian order, the header as
// JSON, then the bytes of the tensors without gaps.
//
//   {"__metadata__": {..}, "fc.weight": {"dtype": "F32", "shape": [10, 4], "data_offsets": [0, 160]}, ..}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weight_tensor.h"

namespace kiln {

// The beginning of the names of tensors that fill the gaps between aligned tensors. ParseSafetensors leaves them out.
inline constexpr absl::string_view kPaddingPrefix = "kiln.padding.";

// Returns the tensors of a .safetensors file, in the order of their bytes, without padding tensors (kPaddingPrefix).
// Their bytes lie in `file` and are not copied. `name` is the file's name in messages. kInvalidArgument, with the
// reason, if the file is malformed or has a dtype that Kiln lacks.
absl::StatusOr<std::vector<WeightTensor>> ParseSafetensors(absl::string_view file, const std::string& name);

// Returns the beginning of a .safetensors file, up to the bytes of the tensors. `offsets` are those of the tensors
// behind this beginning. Its size is a multiple of `alignment`, which is at least 8. kInvalidArgument if a dtype or a
// name cannot be written, two names are equal, or the header is too large (100 MB).
absl::StatusOr<std::string> SafetensorsHeader(const std::vector<WeightTensor>& tensors,
                                              const std::vector<int64_t>& offsets, int64_t alignment,
                                              const std::string& name);

}  // namespace kiln
