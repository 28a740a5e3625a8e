// The steps from a program to code that runs: lowering for a machine, code of the entry points, one shared
// object. Builders, tests and benchmarks share them. They are made of Lower (backends/lower/lower.h), Codegen
// and LinkShared (backends/codegen).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen/codegen.h"
#include "backends/cpu/machine.h"
#include "backends/lower/lower.h"

namespace kiln {

LowerOptions LoweringFor(const MachineTarget& machine);

// Of the program's entry points, whose buffers do not overlap.
CodegenOptions CodegenFor(const Program& program);

// Exports the entry points and, where loops run on threads, what sets their number. stands_alone: the threads
// come with it, and libraries are named; otherwise all these are those of whoever loads it. Errors:
// LinkShared.
absl::StatusOr<std::string> LinkKernel(const Program& program, const ObjectCode& object,
                                       bool stands_alone = false);

}  // namespace kiln
