// Rewrites a program to compute in f64 instead of all other float types. Its results serve to judge the accuracy of the
// program.
//
// Constants keep their values, and integers their types. A cast from float to float becomes the value itself. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the program with f64 in place of every other float type. Returns kUnimplemented if the bits of a float are
// read as those of another type, or other bits as a float.
absl::StatusOr<Program> WithDoubles(const Program& program);

}  // namespace kiln
