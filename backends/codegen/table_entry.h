// Adds an entry point that takes its parameters as a table of pointers, for programs with many parameters:
//
//   int NAME_by_table(void* const* parameters) { return NAME(parameters[0], parameters[1], ...); }
#pragma once

#include <string>

namespace llvm {
class Function;
}

namespace kiln {

// Returns the symbol NAME_by_table for an entry point NAME.
std::string TableSymbol(const std::string& name);

// Adds NAME_by_table, which calls `entry` with the pointers of a table, to the module. `entry` is the function NAME,
// which takes pointers and returns an i32.
void AddTableEntry(llvm::Function& entry);

}  // namespace kiln
