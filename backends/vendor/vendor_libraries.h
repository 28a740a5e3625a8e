// Finds libraries on this machine that compute what a program does. `kiln bench` times them beside it.
// Nothing is loaded here; the runner that runs a library loads it (backends/runner/library_product.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/runner/runner.h"
#include "lang/program/program.h"

namespace kiln {

// C = A * B of f32 and nothing else, the factors as they lie in memory or transposed; positions are those of
// the parameters. Nothing: the program is something else. Libraries are left to the caller.
std::optional<LibraryProduct> AsLibraryProduct(const Program& program);

struct VendorLibrary {
  std::string name;  // mkl, openblas, blis, onednn
  KernelObject kernel;
};

// Of a program that is a product each library that Kiln knows, installed or not; a runner tells a missing one
// by kLoadFailed. Looked for in `folders`, then where the loader looks.
std::vector<VendorLibrary> VendorLibrariesOf(const Program& original,
                                             const std::vector<std::string>& folders);

}  // namespace kiln
