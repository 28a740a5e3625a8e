// Runs programs with a CPU instruction that this machine may lack, such as an AMX product: C functions compute what the
// manual says that the instruction does.
//
//   EXPECT_EQ(RunWithC(WithCFunctions(ir, row), CFunctions(row) + "int main(void) { ... }"), 0);
//
// Needs x86-64 with AVX2.
#pragma once

#include <string>

#include "lang/intrinsics/cpu_instructions.h"

namespace kiln {

// Returns the LLVM IR with calls of C functions in place of the row's instruction and, for AMX, of the loads and stores
// of tiles. Removes the target CPU and the target features.
std::string WithCFunctions(const std::string& ir, const CpuInstruction& row);

// Returns C source of the functions that compute the row's instruction, with the types A, B and C of the elements of
// its operands and result.
std::string CFunctions(const CpuInstruction& row);

// Compiles LLVM IR and C code with a main function to a program for x86-64 with AVX2, and runs it. Returns 0 if main
// returns 0, the status of std::system otherwise, or -1 if it does not compile.
int RunWithC(const std::string& ir, const std::string& c);

}  // namespace kiln
