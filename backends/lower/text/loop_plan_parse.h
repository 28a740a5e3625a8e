// Parses the text of a decomposed program (lang/text/text.h) and its loop plan after it
// (backends/lower/plan/loop_plan_text.h).
//
//   auto planned = plan::ParsePlan(text);
//   if (!planned.ok()) ... planned.status() ...        "12:7: found "x", wanted a loop of the program"
//   assert(plan::Text(*planned) == text);              if the text was printed
//
// The parser computes addresses, conditions, marks (sums that others divide) and buffers from the program. Lines of
// buffers in the text override the computed buffers.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/lower/passes/plan_indices.h"
#include "backends/lower/passes/plan_loops.h"

namespace kiln::plan {

// Parses a program and its plan. Returns kFailedPrecondition if the program has extents that are not constant.
// Every fault of the text is kInvalidArgument with line and column, such as a program that Verify rejects, an unknown
// name, iterations that a loop of the program lacks, or conditions or marks that are not those of the program.
absl::StatusOr<Planned> ParsePlan(absl::string_view text, const PlanOptions& options = {});

std::string Text(const Planned& planned);

}  // namespace kiln::plan
