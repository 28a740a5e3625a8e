// Describes the machine that a program is tuned for, in numbers that modules and checks read. The backends
// detect those of a CPU. GpuTarget (lang/target/gpu_target.h) takes those of a GPU from a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/target/cost_table.h"
#include "lang/target/gpu.h"
#include "lang/target/policies.h"

namespace kiln {

struct IntrinsicFamily;

struct Target {
  std::string name = "cpu";  // the kind of machine; it selects the default space
  std::string triple, cpu, features;
  int cores = 1;
  int vector_bytes = 32;      // width of the widest useful vector
  int vector_registers = 16;  // number of registers of that width
  bool fma = true;
  bool contract = true;  // a * b + c may round once; records with another setting do not apply
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
  int64_t max_unrolled = 512;  // limit of estimated instructions in straight-line code (lang/analysis/cost.h)
  const Gpu* gpu = nullptr;    // the GPU, a row of lang/target/gpu.h; null for CPUs
  CostTable costs = {};
  Policies policies = {};   // records with other policies do not apply
  std::string fingerprint;  // identity of the machine; records of another machine do not apply

  // Returns the machine's intrinsics for matrix products (lang/patterns/intrinsic.h).
  std::vector<const IntrinsicFamily*> matrix_intrinsics() const;
};

}  // namespace kiln
