// Runs the prepare phase of a compiled model, and writes the prepared weights to a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

// Calls NAME_prepare of a model's library (backends/model/driver.h) in a child process, and writes the weights, of
// `bytes` bytes, as the tensor "weights" of a file in the format of .safetensors, so that several processes can map one
// copy. `constants`: the bytes of each constant in order, at any address. Returns the offset of the weights in the
// file, a multiple of 64.
//
// kFailedPrecondition if the library cannot be loaded or its prepare phase fails. kUnavailable if there is no memory
// for the weights or the file cannot be written.
absl::StatusOr<int64_t> PrepareWeights(const std::string& shared_object, const std::string& name,
                                       const std::vector<absl::string_view>& constants, int64_t bytes,
                                       const std::string& path);

}  // namespace kiln
