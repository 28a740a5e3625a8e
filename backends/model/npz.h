// Reads the format of .npz: a zip file whose entries NAME.npy are arrays, stored or deflated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weight_tensor.h"

namespace kiln {

// Reads all arrays of a .npz file, in the order of the zip file. Appends the memory that has their bytes to `read`.
// `name` is the file's name in messages. kInvalidArgument, with the reason, if the zip file is malformed, if two
// entries have one name, or if an entry is no array that Kiln reads.
absl::StatusOr<std::vector<WeightTensor>> ReadNpz(absl::string_view file, const std::string& name,
                                                  std::vector<std::unique_ptr<char[]>>* read);

}  // namespace kiln
