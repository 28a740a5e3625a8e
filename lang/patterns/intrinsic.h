// Intrinsics: what a machine does with an instruction, or a short fixed sequence of them.
//
// An intrinsic is declared by its *description*, a Program of one block below its loops (lang/text/text.h):
//
//   - the parameters are its operands. The block that becomes a call may read and write parts of larger
//     buffers instead, of the same dtype, at any offset and with any strides;
//   - an operand's storage is where it must be. "global" stands for memory: global or stack;
//   - an operand with a layout wants that layout; one without takes any;
//   - the loops, in this order and of these kinds, are what is within the block that becomes a call. Lowering
//     emits them as it emits any loops; so unrolled loops around a vectorized one are a tile in registers.
//
// A reduction may go on from what is in its destination, or start anew, whatever the description says of it.
// What a call means is what is within its block: interpreter and proofs need not know intrinsics.
//
// Declared once, before main; read by any number of threads.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

struct Intrinsic {
  std::string name;
  std::string description;
  Owner issuer = Owner::kThread;  // who runs it together: kThread, kWarp or kWarpgroup
};

// The intrinsics that together multiply matrices on one kind of unit: C[m, n] += A[m, k] * B[k, n]. Names of
// intrinsics; "" where plain loops do.
struct IntrinsicFamily {
  std::string name;
  int64_t m = 1, n = 1, k = 1;
  std::string compute = {};
  std::string fill = {}, load_a = {}, load_b = {}, store = {};
  Storage operands = Storage::kGlobal, result = Storage::kGlobal;  // where compute wants them
  int64_t registers = 0;   // that hold tiles of results and operands, each one piece; 0: vectors do
  int64_t interleave = 1;  // how many k of a column of B lie next to each other
  bool (*has)(const Target& target) = nullptr;
};

const Intrinsic* FindIntrinsic(absl::string_view name);  // nullptr if there is none
// The family whose `compute` it is; nullptr if there is none.
const IntrinsicFamily* FamilyThatComputesWith(absl::string_view intrinsic);
const Program& DescriptionOf(const Intrinsic& intrinsic);
std::vector<const Intrinsic*> AllIntrinsics();  // by name

// Registers a family and its intrinsics; lang/intrinsics/declare.h calls it. `parse` reads descriptions.
void RegisterIntrinsics(IntrinsicFamily family, std::vector<Intrinsic> intrinsics,
                        absl::StatusOr<Program> (*parse)(absl::string_view description));

}  // namespace kiln
