// Reads the format of .npy: one array, as numpy writes it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weight_tensor.h"

namespace kiln {

// Returns the array in `bytes`, the content of a .npy file of version 1, 2 or 3. The elements must be in row-major (C)
// order and are not copied. `name` is the tensor's; `file` is used in messages. kInvalidArgument, with the reason, if
// the bytes are no array that Kiln reads.
absl::StatusOr<WeightTensor> ParseNpy(absl::string_view bytes, const std::string& name,
                                      const std::string& file);

}  // namespace kiln
