// Finds which arguments of a function are inputs and which are constants, such as the weights of a model, from the
// user's option `inputs`.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace kiln {

// Returns the positions of the constants: of all arguments that `inputs` does not name. `inputs` is
// ImportOptions::inputs: one number N for the first N arguments, or names. `names` has the file's names of the
// arguments, and `is_marked` says which arguments the file marks as constants. kInvalidArgument for a number out of
// range, an unknown name, or an input that the file marks as a constant.
absl::StatusOr<std::vector<int>> ConstantArguments(const std::vector<std::string>& inputs,
                                                   const std::vector<std::string>& names,
                                                   absl::FunctionRef<bool(int)> is_marked);

}  // namespace kiln
