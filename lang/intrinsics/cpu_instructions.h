// Instructions of CPUs that add products to sums, a row each. From a row follow
//
//   its intrinsic FAMILY.compute, its description and its family   lang/patterns/intrinsic.h
//   the features that Kiln asks a machine for                      backends/cpu/machine.cc
//   the families that default spaces offer                         modules/spaces/cpu.cc
//   whether a call fits it                                         backends/lower/passes/calls.h
//   the code of a call                                             backends/lower/emit/emit_dot.h, emit_tile.h
//
// A new instruction takes a row. tests/backends/cpu_instructions_test.cc goes over the rows: it compares what
// compiled calls compute with what the interpreter computes from the description. An instruction whose
// operands have another form also takes a Kind, a function that finds the operands (calls.h), and one that
// emits the call.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

struct CpuInstruction {
  enum class Kind {
    // Vectors: C[n] += A[k] * B[n, k]. Its operands are C, A repeated for each sum, B.
    kDot,
    // Tiles of 16 rows of 64 bytes in a matrix unit with eight tile registers: C[m, n] += A[m, k] * B[n, k].
    kTile,
  };
  absl::string_view family;
  Kind kind;
  int64_t m, n, k;
  int64_t interleave;             // how many k of a column of B are neighbors in memory
  absl::string_view factor, sum;  // dtypes of A and B, of C
  bool unsigned_a;                // A is widened without its sign
  // True if the instruction reads A without its sign (VNNI), but the description reads A with its sign. A call then
  // computes (a + 128) b - 128 b.
  bool moves_a;
  int vector_bytes;  // spaces offer it to machines whose widest vector has this many bytes; 0: to all
  // The features that the instruction needs, as LLVM names them. "a|b": one of them suffices. "a+b": b suffices, and
  // implies a.
  absl::string_view feature;
  const char* llvm;  // LLVM's intrinsic

  std::string intrinsic() const;
  std::string description() const;
  // True if a machine with these features has the instruction (lang/target/cpu_features.h).
  bool IsIn(const std::string& features) const;
};

absl::Span<const CpuInstruction> CpuInstructions();

// Returns the row of an intrinsic if a machine with these features has the instruction; nullptr otherwise, and if no
// row has this intrinsic.
const CpuInstruction* FindCpuInstruction(absl::string_view intrinsic, const std::string& features);

// Returns the features that the rows of an architecture name, each once. `arch` is as in LLVM's names of intrinsics,
// "x86" or "aarch64".
std::vector<std::string> CpuInstructionFeatures(absl::string_view arch);

// Returns the names of families up to the first '.', each once, in the order of the rows: what default spaces offer.
std::vector<std::string> CpuInstructionGroups();

}  // namespace kiln
