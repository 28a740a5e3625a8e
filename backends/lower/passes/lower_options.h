// The options of lowering: facts about the machine, and choices of the caller.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "lang/target/cost_table.h"
#include "lang/target/policies.h"

namespace kiln {

// Alignment in bytes of temporaries (on the heap or the stack) and of constants. For the heap, malloc is asked for this
// many extra bytes.
inline constexpr int64_t kHeapAlignment = 64;

struct LowerOptions {
  bool contract = true;       // sum += a * b is one fused operation; other products and sums may be fused
  int64_t vector_bytes = 32;  // of a vector register: the unit of loads whose lanes are shuffled
  int vector_registers = 16;
  // The smallest buffer that is prefetched, in bytes (for constants, see CostTable::prefetch_part); 0: no buffer is.
  int64_t stream_bytes = 0;
  std::string features = {};  // LLVM features such as +avx512vnni, which decide on intrinsics
  int alignment = 64;         // in bytes, promised by callers for every pointer
  CostTable costs = {};       // of the machine
  Policies policies = {};
  std::ostream* print_after_all = nullptr;  // gets the program or plan after each pass; null: not printed
};

}  // namespace kiln
