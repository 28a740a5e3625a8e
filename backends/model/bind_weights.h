// Finds the tensor of a file of weights for each constant of a model, by name or by order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weights_file.h"
#include "lang/program/program.h"

namespace kiln {

// Returns for each parameter of the program that is a constant, in order, its tensor in the file. Leaves out constants
// in `known`, a map from names of buffers to bytes. `arguments` are the names of the model's arguments
// (Imported::arguments). If a tensor has the name of an argument or of a constant's buffer ("argN"), tensors are found
// by their names; otherwise the file's tensors that have elements are the constants in order. Tensors without elements
// may be left over.
//
// kInvalidArgument if a constant has no tensor, a tensor no constant, or a shape or dtype differs; the message names
// them. A u8 fits an i8, since imported programs have types without signs.
absl::StatusOr<std::vector<const WeightTensor*>> BindWeights(
    const Program& program, const std::vector<std::string>& arguments, const WeightsFile& file,
    const std::map<std::string, absl::string_view>& known = {});

}  // namespace kiln
