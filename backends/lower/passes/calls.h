// Finds the operands of an intrinsic's call in the loops of its description, and decides whether an instruction of
// the machine fits them. The emitter finds the same operands where it emits the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/lower/plan/plan_context.h"

namespace kiln::plan {

// C[j] += A[0] * B[j, 0] + A[1] * B[j, 1] + ...
struct DotInstruction {
  const char *intrinsic, *feature, *llvm;
  bool moves_a = false;  // adds 128 to the bytes of A to make them unsigned
};

// A tile of C += a tile of A times a tile of B, in a matrix unit (AMX).
struct TileInstruction {
  const char *intrinsic, *feature, *llvm;
  int64_t together;  // how many k of a column of B are neighbors
};
inline constexpr int64_t kTileRows = 16, kTileColumns = 16;

struct DotOperands {
  const DotInstruction* row = nullptr;
  Id inner = kNone, block = kNone;
  Id a = kNone, b = kNone;  // loads: A's are the same for each sum, B's differ
  int64_t products = 0, sums = 0;
  IndexValue at_a = {}, at_b = {};
};

struct TileOperands {
  struct Rows {
    IndexValue first;
    int64_t apart = 0;  // elements from one row to the next
  };
  const TileInstruction* row = nullptr;
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
