// Finds libraries on this machine that compute the same as a program, for `kiln bench`. Nothing is loaded
// here; the runner loads a library when it runs it (backends/runner/library_product.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/runner/runner.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the sizes of A and B, and the positions of A, B and C among the parameters, if the program only computes C =
// A * B in f32, with row-major or transposed factors. Returns nullopt for other programs. The caller fills in the
// libraries.
std::optional<LibraryProduct> AsLibraryProduct(const Program& program);

struct VendorLibrary {
  std::string name;  // mkl, openblas, blis, onednn
  KernelObject kernel;
};

// Returns a kernel for each library that Kiln knows, installed or not, if the program is a matrix product; otherwise
// none. A runner reports a missing library with kLoadFailed. Libraries are searched in `folders`, then where the loader
// searches.
std::vector<VendorLibrary> VendorLibrariesOf(const Program& original,
                                             const std::vector<std::string>& folders);

}  // namespace kiln
