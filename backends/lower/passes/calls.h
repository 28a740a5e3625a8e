// Finds the operands of an intrinsic's call in the loops of its description, and decides whether an instruction of
// the machine fits them. The emitter finds the same operands where it emits the call.
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

// The operands of an instruction of a matrix unit (kTile): it adds the product of a tile of A and one of B to one of C.
struct TileOperands {
  // Where a tile lies in memory.
  struct Rows {
    IndexValue first;   // the address of the first row
    int64_t apart = 0;  // elements from one row to the next
  };
  const CpuInstruction* row = nullptr;
  Id block = kNone, a = kNone, b = kNone;  // a, b: loads
  Rows rows_a = {}, rows_b = {}, rows_c = {};
};

// Return the operands of a call. Nullopt if the machine lacks the instruction, or if the operands do not have
// the layout that it requires. `features`: those of LowerOptions.
std::optional<DotOperands> FindDot(PlanContext& context, const std::string& features, const Call& call);
std::optional<TileOperands> FindTile(PlanContext& context, const std::string& features, const Call& call);

// Returns whether one of the two instructions fits, and the guards allow the whole call. For kTile all guards must be
// known to hold. For kDot they may be open if they have one answer for the whole call; sets call.asks to the open ones.
bool FitsCall(PlanContext& context, const std::string& features, Call& call);

}  // namespace kiln::plan
