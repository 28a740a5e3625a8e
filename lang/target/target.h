// The machine that a program is tuned for, as numbers that modules and checks read.
// Detection is the backends' work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct IntrinsicFamily;

struct Target {
  std::string name = "cpu";  // kind of default space
  std::string triple, cpu, features;
  int cores = 1;
  int vector_bytes = 32;      // of the widest vector worth using
  int vector_registers = 16;  // of that width
  bool fma = true;
  bool contract = true;  // a * b + c may round once; records of one setting never serve the other
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
  int64_t max_unrolled = 512;  // instructions on what is computed in one straight line (lang/analysis/cost.h)
  std::string fingerprint;     // identity of the machine; records are never served for another

  // What it has for products of matrices, by name (lang/patterns/intrinsic.h).
  std::vector<const IntrinsicFamily*> matrix_intrinsics() const;
};

}  // namespace kiln
