// Intrinsics: what a machine computes with one instruction, or with a short fixed sequence of instructions.
//
// An intrinsic is declared by its *description*, a Program with one block inside loops (lang/text/text.h):
//
//   - Its parameters are the operands. A call may use parts of larger buffers instead, with the same dtype,
//     at any offset and with any strides.
//   - The storage of a parameter is required of the operand. "global" stands for memory: global or stack.
//   - A layout of a parameter is required of the operand; without a layout, any layout in memory is accepted, but no
//     fragment.
//   - Its loops, in this order and of these kinds, are the loops inside a call. Lowering emits them like any
//     other loops, so unrolled loops around a vectorized one are a tile in registers.
//
// A call may continue from the values in its destination or start anew, no matter which of the two the description
// does. The loops and the block within a call define its meaning, so the interpreter and the proofs need not know
// intrinsics.
//
// Intrinsics are registered once, before main. Any number of threads may read them.
#pragma once

#include <functional>
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
  Owner issuer = Owner::kThread;  // who executes it together: kThread, kWarp or kWarpgroup
};

// The intrinsics of one matrix unit, which computes C[m, n] += A[m, k] * B[k, n]. `compute`, `fill`, `load_a`, `load_b`
// and `store` are names of intrinsics; "" means that plain loops do that part.
struct IntrinsicFamily {
  std::string name;
  int64_t m = 1, n = 1, k = 1;
  std::string compute = {};
  std::string fill = {}, load_a = {}, load_b = {}, store = {};
  Storage operands = Storage::kGlobal, result = Storage::kGlobal;  // where `compute` expects them
  int64_t registers = 0;   // number of tile registers for results and operands; 0: vector registers hold them
  int64_t interleave = 1;  // how many k of a column of B are neighbors in memory
  std::function<bool(const Target& target)> has = nullptr;
};

const Intrinsic* FindIntrinsic(absl::string_view name);  // nullptr if there is none
// Returns the family whose `compute` is this intrinsic; nullptr if there is none.
const IntrinsicFamily* FamilyThatComputesWith(absl::string_view intrinsic);
const Program& DescriptionOf(const Intrinsic& intrinsic);
std::vector<const Intrinsic*> AllIntrinsics();  // by name

// Registers a family and its intrinsics. Aborts if a name is taken, or if the family names an unknown intrinsic.
// lang/intrinsics/declare.h calls it; `parse` reads descriptions.
void RegisterIntrinsics(IntrinsicFamily family, std::vector<Intrinsic> intrinsics,
                        absl::StatusOr<Program> (*parse)(absl::string_view description));

}  // namespace kiln
