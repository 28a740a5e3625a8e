// Options and linking for the steps from a program to executable code: options for lowering to a machine, options for
// compiling the entry points, and linking one shared object. Builders, tests and benchmarks share them. The steps
// themselves are Lower (backends/lower/lower.h), Codegen and LinkShared (backends/codegen).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen/codegen.h"
#include "backends/cpu/machine.h"
#include "backends/lower/lower.h"

namespace kiln {

LowerOptions LoweringFor(const MachineTarget& machine);

// Returns options for compiling the program's entry points, whose buffers do not overlap. With `table`, each gets a
// version that takes a table of pointers.
CodegenOptions CodegenFor(const Program& program, bool table = false);

// Links the compiled program to a shared object. It exports the entry points, with `table` also those that take tables,
// and NAME_set_threads if loops run on threads. stands_alone: the shared object names its libraries and, if loops run
// on threads, contains the thread pool and stays in memory after dlclose. Otherwise it uses the libraries and the pool
// of the process that loads it. Errors: those of LinkShared.
absl::StatusOr<std::string> LinkKernel(const Program& program, const ObjectCode& object,
                                       bool stands_alone = false, bool table = false);

}  // namespace kiln
