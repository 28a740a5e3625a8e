// Checks that the plan of a model (lang/model/model_plan.h) computes what the model does, whatever made the plan.
//
// The check replays the calls on the memory that the plan gives them. It needs nothing but the model's own blocks:
// each byte of the arena knows which buffer wrote it, and a call may read a buffer only where all of its bytes are
// still those of the buffer, after all blocks that write it. It shares no code with the planner, and the code of
// the tasks themselves is checked elsewhere (validator/proof).
//
// Pure functions, safe from any thread.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/model/model_plan.h"
#include "lang/program/foreign_call.h"

namespace kiln {

struct ModelPlanReport {
  int64_t bytes_alive = 0;  // the most bytes of the arena that hold what a later call reads, or a workspace
};

// Returns kInternal with the call, the buffer and the rule that does not hold:
//   every foreign call is in the plan once, with its buffers in its order
//   every block that matters to a result, to the status or to a foreign call is in one call of a task, or a view
//   stands for it; no block is in two calls
//   at most one call writes a buffer, and none of its blocks does after a block of another call has read the buffer
//   a call lists all buffers that its blocks exchange with other calls, and besides them only parameters
//   a call reads a buffer after all writers of it and before any of its bytes changes
//   calls write no input, constant or weight; memory of one call does not overlap; areas contain their parts, which
//   have the buffer's size and are aligned
//   weights are written by one call's prepare phase each, or by calls of one task from the same constants
//   a prepare phase reads only constants and what prepare phases computed; other calls read these from the weights
//   at the end, each result was written
//   a view stands for a copy of all of a buffer to consecutive elements of another, and lies there; only views
//   write that other buffer, and all of it. Or it is a slice: it stands for a copy of consecutive elements to all of
//   a buffer, and no call writes that buffer
absl::StatusOr<ModelPlanReport> CheckModelPlan(const Program& model, const ModelPlan& plan,
                                               absl::Span<const ForeignCall> foreign = {});

}  // namespace kiln
