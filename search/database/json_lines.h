// Records as JSON lines: to move them between stores, to archive them with a paper, or to read them with
// other programs.
//
//   {"format":"kiln-records","version":1}
//   {"workload":{"id":1,...}}                   then "target", "run" and "record"
//
// One object a line. Ids are local to the text. A row comes before those that refer to it.
// docs/reference/formats.md describes each line. Doubles are printed so that reading restores the same bits.
// Empty lines are skipped. Models and states of runs are not exported: an imported run is history and cannot
// be resumed.
//
// Importing an export of this version into an empty store and exporting again gives the same text. Importing twice adds
// nothing the second time.
#pragma once

#include <istream>
#include <ostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/database/store.h"

namespace kiln {

// Writes the store's rows to `out` as JSON lines. Returns the number of records; kUnavailable if they cannot be written
// whole.
absl::StatusOr<int> ExportJson(Store& store, std::ostream& out);

// Imports the rows of JSON lines into the store: everything or nothing. A malformed line gives kInvalidArgument,
// "NAME:LINE:COLUMN: what is wrong", where NAME is `name`, the name of the input. kUnavailable if the input cannot be
// read to its end; otherwise the errors of Store::Merge.
absl::StatusOr<MergeResult> ImportJson(Store& store, std::istream& in, absl::string_view name);

}  // namespace kiln
