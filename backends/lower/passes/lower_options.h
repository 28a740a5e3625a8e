// What lowering is told of the machine, and what its callers wish.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace kiln {

// Of temporaries, in bytes. For one on the heap, malloc is asked for as many more.
inline constexpr int64_t kHeapAlignment = 64;

struct LowerOptions {
  bool contract = true;       // sum += a * b is one fused operation, and other products and sums may be
  int64_t vector_bytes = 32;  // of a register: the unit of loads whose lanes are shuffled
  int vector_registers = 16;
  int64_t stream_bytes = 0;   // of buffers that are worth to be prefetched (emit_prefetch.cc); 0: none is
  std::string features = {};  // LLVM's, +avx512vnni among them: which intrinsics are instructions
  int alignment = 64;         // that callers promise of every pointer, in bytes
  std::ostream* print_after_all = nullptr;  // pass_printer.h
};

}  // namespace kiln
