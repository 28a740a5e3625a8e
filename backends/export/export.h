// Hands a scheduled program out as files that C and C++ programs can use without Kiln:
//
//   NAME.h      int NAME(const float* A, ..., float* C); dtypes and shapes are in its comment
//   NAME.o      the same function as a relocatable object
//   libNAME.so  and as a shared library
//   NAME.mlir   the scheduled program in func, scf, arith, math, vector and memref operations
//   NAME.trace  how the program was made
//   kiln_pool.c where loops run on threads: NAME.o uses this pool if it is linked too, libNAME.so holds it
//
// One bare pointer for each parameter; the caller allocates everything, and arrays do not overlap; no
// alignment is needed. The function returns 0. It needs libc and libm only. Where the program has a prepare
// phase, there is NAME_prepare too, with the same parameters, to be called once per set of constants. Where
// it has parallel loops, NAME_set_threads(int) says on how many threads they run, one at first.
//
// Replace it to hand programs out in another form. Threads: any, as for BuilderPool.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/builder/pool.h"
#include "lang/program/program.h"

namespace kiln {

struct ExportOptions {
  std::string trace = "";  // the text for NAME.trace; empty: no such file
  bool contract = true;
  std::string checked = "";  // what the header says of how it was compared with the original; lines
  // The machine that code is made for (backends/cpu/machine.h). An empty triple: this one. For another one
  // there is no libNAME.so, as linking needs its libc.
  std::string triple = "", cpu = "", features = "";
  BuildLimits limits = {.seconds = 120};
};

struct Exported {
  std::string name;                          // SafeName of the one given
  std::vector<std::string> files;            // paths, the header first
  std::vector<PreparedParam> prepared = {};  // parameters after the program's, which NAME_prepare writes
};

// Writes the files to `folder`, which is made if it does not exist. Each appears whole or not at all, and
// replaces an older one. kFailedPrecondition: the program cannot be built (the compiler's message), or a file
// cannot be written (its path).
absl::StatusOr<Exported> Export(const Program& program, absl::string_view name, const std::string& folder,
                                BuilderPool& builders, const ExportOptions& options = {});

// A name that is an identifier of C and C++: letters, digits and "_"; what would be none, a keyword or main
// gets "kiln_" in front.
std::string SafeIdentifier(absl::string_view name);

// One for a function and its files: nor is it a function of libc or libm.
std::string SafeName(absl::string_view name);

}  // namespace kiln
