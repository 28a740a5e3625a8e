// C functions in place of an instruction that this machine lacks. They do what the manual says.
//
//   EXPECT_EQ(RunWithC(WithCFunctions(ir, row), CFunctions(row) + "int main(void) { ... }"), 0);
//
// Needs x86-64 with AVX2.
#pragma once

#include <string>

#include "lang/intrinsics/cpu_instructions.h"

namespace kiln {

// Returns LLVM IR that calls functions instead of the row's instruction, and that asks for no features.
std::string WithCFunctions(const std::string& ir, const CpuInstruction& row);

// Returns these functions in C, and the types A, B and C of the elements.
std::string CFunctions(const CpuInstruction& row);

// Compiles LLVM IR and C code for x86-64 with AVX2, and runs them. Returns what main returns, or -1.
int RunWithC(const std::string& ir, const std::string& c);

}  // namespace kiln
