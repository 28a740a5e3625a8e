// Exports a scheduled program as files that C and C++ programs can use without Kiln:
//
//   NAME.h      int NAME(const float* A, ..., float* C); dtypes and shapes are in its comment
//   NAME.o      the same function as a relocatable object
//   libNAME.so  the same function as a shared library
//   NAME.mlir   the scheduled program in func, scf, arith, math, vector and memref operations
//   NAME.trace  the trace that gave the program, if the options have it
//   kiln_pool.c the thread pool, if loops run on threads: link it with NAME.o; libNAME.so contains it
//
// The function takes one bare pointer for each parameter. The caller allocates all arrays, which must not overlap and
// need no alignment. The function returns 0, or 1 if an assertion of the model does not hold. It needs only libc and
// libm. If the program has a prepare phase, there is a function NAME_prepare with the same parameters, which must be
// called once per set of constants. Both functions then take a further pointer for each array that NAME_prepare writes.
// If the program has parallel loops, NAME_set_threads(int) sets their number of threads, which is one at first.
//
// Replace it to export programs in another form. Threads: any, as for BuilderPool.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/builder/pool.h"
#include "lang/program/program.h"
#include "lang/target/policies.h"

namespace kiln {

struct ExportOptions {
  std::string trace = "";  // the text of NAME.trace; empty: no such file
  bool contract = true;
  Policies policies = {};
  std::string checked = "";  // lines for the header about the comparison with the original
  // The machine that code is compiled for (backends/cpu/machine.h). An empty triple means this machine. For
  // another machine there is no libNAME.so, because linking needs that machine's libc.
  std::string triple = "", cpu = "", features = "";
  BuildLimits limits = {.seconds = 120};
};

struct Exported {
  std::string name;                          // SafeName of the given name
  std::vector<std::string> files;            // paths, the header first
  std::vector<PreparedParam> prepared = {};  // parameters after the program's own, which NAME_prepare writes
  std::string remark = {};                   // of ExportGpu: why libNAME.so is missing; usually empty
};

// Compiles the program and writes the files of the export to `folder`, which is created if needed. Each file appears
// complete or not at all, and replaces an older one. kFailedPrecondition if the program cannot be built (with the
// compiler's message) or a file cannot be written (with its path).
absl::StatusOr<Exported> Export(const Program& program, absl::string_view name, const std::string& folder,
                                BuilderPool& builders, const ExportOptions& options = {});

// Makes the name an identifier of C and C++: other characters than letters and digits become "_". If the result is
// a keyword or main, or begins with a digit or "_", it gets the prefix "kiln_". An empty name becomes "kiln_program".
std::string SafeIdentifier(absl::string_view name);

// Makes the name an identifier as SafeIdentifier does, for an exported function and its files. Names of functions in
// libc and libm get the prefix "kiln_" too.
std::string SafeName(absl::string_view name);

}  // namespace kiln
