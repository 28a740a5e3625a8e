// Finds the operands of an intrinsic's call in the loops of its description, and decides whether an instruction of
// the machine fits them. The emitter finds the same operands where it emits the call.
#pragma once

#include <optional>
#include <string>

#include "backends/lower/plan/plan_context.h"
#include "lang/intrinsics/cpu_instructions.h"

namespace kiln::plan {

// Of an instruction of the kind kDot.
struct DotOperands {
  const CpuInstruction* row = nullptr;
  Id inner = kNone, block = kNone;
  Id a = kNone, b = kNone;  // loads: A's are the same for each sum, B's differ
  int64_t products = 0, sums = 0;
  IndexValue at_a = {}, at_b = {};
};

// Of an instruction of the kind kTile.
struct TileOperands {
  struct Rows {
    IndexValue first;
    int64_t apart = 0;  // elements from one row to the next
  };
  const CpuInstruction* row = nullptr;
  Id block = kNone, a = kNone, b = kNone;
  Rows rows_a = {}, rows_b = {}, rows_c = {};
};

// Find the operands of a call. Nothing if the machine lacks the instruction, or if the operands do not have
// the layout that it requires. `features`: those of LowerOptions.
std::optional<DotOperands> FindDot(PlanContext& context, const std::string& features, const Call& call);
std::optional<TileOperands> FindTile(PlanContext& context, const std::string& features, const Call& call);

// True if one of the two instructions fits, and each guard has one answer for the whole call. Sets call.asks to the
// guards that are not decided.
bool FitsCall(PlanContext& context, const std::string& features, Call& call);

}  // namespace kiln::plan
