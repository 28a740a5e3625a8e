// The format of .npy: one array, as numpy writes it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weight_tensor.h"

namespace kiln {

// Returns the array that `bytes` hold, in row-major order. `name` is the tensor's; `file` is used in messages.
// kInvalidArgument, with the reason, if they hold none that Kiln reads.
absl::StatusOr<WeightTensor> ParseNpy(absl::string_view bytes, const std::string& name,
                                      const std::string& file);

}  // namespace kiln
