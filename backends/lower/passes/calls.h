// Decides whether an instruction of the CPU can compute a call of an intrinsic. To do so, finds the addresses of its
// operands in the loops that describe the intrinsic. The emitter finds the same operands where it emits the
// instruction.
#pragma once

#include <optional>
#include <string>

#include "backends/lower/plan/plan_context.h"
#include "lang/intrinsics/cpu_instructions.h"

namespace kiln::plan {

// The operands of a dot-product instruction (kDot): to each of `sums` sums it adds `products` products.
struct DotOperands {
  const CpuInstruction* row = nullptr;
  Id inner = kNone, block = kNone;  // the loop over the sums, and the block in it
  Id a = kNone, b = kNone;          // loads: each sum has the same elements of A, and its own of B
  int64_t products = 0, sums = 0;
  IndexValue at_a = {}, at_b = {};  // addresses of the first product's factors, with a lane for each sum
};

// The operands of an instruction of a CPU's matrix unit (kTile): it adds the product of a tile of A and a tile of B to
// a tile of C.
struct TileOperands {
  // Where the rows of a matrix tile lie in memory, in elements from the start of a buffer.
  struct Rows {
    IndexValue first;   // the address of the first row
    int64_t apart = 0;  // elements from one row to the next
  };
  const CpuInstruction* row = nullptr;
  Id block = kNone, a = kNone, b = kNone;  // a, b: loads
  Rows rows_a = {}, rows_b = {}, rows_c = {};
};

// Return the operands of a call: FindDot for dot products, FindTile for matrix units. Return nullopt if the intrinsic
// is of another kind, if the machine lacks the instruction, or if the operands do not have the layout that it requires.
// `features`: those of LowerOptions, as +avx512vnni.
std::optional<DotOperands> FindDot(PlanContext& context, const std::string& features, const Call& call);
std::optional<TileOperands> FindTile(PlanContext& context, const std::string& features, const Call& call);

// Returns whether a dot-product or matrix-unit instruction fits a call, and the guards of its block allow the whole
// call. For a matrix unit, all guards must be known to hold. For a dot product, guards may be open if they have one
// answer for the whole call; sets call.asks to the open ones.
bool FitsCall(PlanContext& context, const std::string& features, Call& call);

}  // namespace kiln::plan
