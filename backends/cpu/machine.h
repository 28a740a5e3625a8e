// Describes the CPU that code is compiled for as plain data, which the search space, limits and code generation read.
//
// Host() describes this machine through LLVM (triple, CPU, features) and hwloc (cores, caches). It leaves out the
// features that the environment variable KILN_WITHOUT lists, separated by commas ("avx512f"), and the features that
// require them. Named() describes another machine for cross compilation to an object file; its cores and caches are
// unknown and 0. Both are thread-safe. Units: bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "lang/target/cost_table.h"

namespace kiln {

struct MachineTarget {
  std::string triple;    // x86_64-pc-linux-gnu
  std::string cpu;       // LLVM's name: znver3, icelake-server
  std::string features;  // LLVM's feature string: +avx2,+fma,...

  int vector_bytes = 16;      // the widest vectors worth using: 64 with AVX-512, 32 with AVX2, else 16
  int vector_registers = 16;  // 32 with AVX-512 and on AArch64
  bool fma = false;           // fused multiply-add in hardware; without it llvm.fma is a call of fmaf
  bool half =
      false;  // hardware conversion between f16 and f32; without it codegen expands it into integer steps

  int cores = 0;  // physical cores that hwloc reports, or hardware threads if it knows no cores
  int64_t l1_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;

  CostTable costs = {};

  // Identifies the machine of stored timings: vendor and model, LLVM's name of the CPU, family/model/stepping, a hash
  // of the features, the number of cores. Empty for a named machine.
  std::string fingerprint;

  friend bool operator==(const MachineTarget&, const MachineTarget&) = default;
};

// Returns the description of this machine's CPU. It is detected once per process, which takes about 3 ms.
const MachineTarget& Host();

// Describes another machine by LLVM's names. kInvalidArgument if LLVM does not know the CPU or the triple
// (x86-64 and AArch64 are built in). `features` are added to those of the CPU; usually "".
absl::StatusOr<MachineTarget> Named(const std::string& triple, const std::string& cpu,
                                    const std::string& features = "");

}  // namespace kiln
