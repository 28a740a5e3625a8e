// The CPU that code is made for, as plain data: what the search space, the limits and code generation read.
//
// Host() describes this machine through LLVM (triple, CPU, features) and hwloc (cores, caches), without the
// features that the environment variable KILN_WITHOUT lists, with commas between ("avx512f"), and without the
// features that need these. Named() describes another machine for cross compilation to an object file. Its
// cores and caches are 0, for they are not known. Both are thread-safe. Units: bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

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

  int cores = 0;  // physical cores this process may use
  int64_t l1_bytes = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;

  // What a stored timing is tied to: vendor and model, family/model/stepping, a hash of the features, cores.
  // Empty for a named machine.
  std::string fingerprint;

  friend bool operator==(const MachineTarget&, const MachineTarget&) = default;
};

// Detected once per process, about 3 ms.
const MachineTarget& Host();

// kInvalidArgument when LLVM does not know the triple (x86-64 and AArch64 are built in) or the CPU. Features
// are added to those of the CPU: "" is usual.
absl::StatusOr<MachineTarget> Named(const std::string& triple, const std::string& cpu,
                                    const std::string& features = "");

}  // namespace kiln
