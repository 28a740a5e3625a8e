// The program with f64 in place of all other floats: what an accuracy is compared with.
//
// Constants keep their values, and integers their types. A cast from float to float becomes the value itself. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

// Returns that program. kUnimplemented if the bits of a float are read as those of another type.
absl::StatusOr<Program> WithDoubles(const Program& program);

}  // namespace kiln
