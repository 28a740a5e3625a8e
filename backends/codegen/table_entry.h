// Adds an entry point that takes its parameters as a table of pointers, for programs with many parameters:
//
//   int NAME_by_table(void* const* parameters) { return NAME(parameters[0], parameters[1], ...); }
#pragma once

#include <string>

namespace llvm {
class Function;
}

namespace kiln {

// Returns NAME_by_table.
std::string TableSymbol(const std::string& name);

// Adds the function to the module of `entry`, which takes pointers and returns an i32.
void AddTableEntry(llvm::Function& entry);

}  // namespace kiln
