// Records as JSON lines: to move them between stores, to keep them beside a paper, to read them with other
// programs.
//
//   {"format":"kiln-records","version":1}
//   {"workload":{"id":1,...}}                   then "target", "run" and "record"
//
// One object a line; ids are local to the text, and a row stands before those that refer to it. Each line in
// full, and what its values are: docs/reference/formats.md. Doubles are printed so that reading gives the
// same bits. Empty lines are skipped.
// Models and the states of runs are not exported: an imported run is history, and cannot be resumed.
//
// Exporting what was imported into an empty store gives the same text. Importing twice adds nothing the
// second time.
#pragma once

#include <istream>
#include <ostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/database/store.h"

namespace kiln {

absl::Status ExportJson(Store& store, std::ostream& out);

// All or nothing. A malformed line is kInvalidArgument, "NAME:LINE:COLUMN: what is wrong", where `name` is
// that of the input.
absl::StatusOr<MergeResult> ImportJson(Store& store, std::istream& in, absl::string_view name);

}  // namespace kiln
