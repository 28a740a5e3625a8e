// The tables of a Kiln database, and how a file of an older Kiln becomes one of this Kiln.
//
// The schema is a list of steps: step N turns version N-1 into version N, and a new file runs all of them, so
// that a migrated file and a new one are the same. To change the schema append a step, and add a fixture of
// the version that has become old to tests/search. Released steps are never edited.
//
// A file says its version in PRAGMA user_version and that it is Kiln's in PRAGMA application_id.
#pragma once

#include "absl/status/status.h"
#include "search/database/sqlite.h"

namespace kiln {

inline constexpr int kSchemaVersion = 5;

// Makes the tables in an empty file; migrates an older one after copying it to FILE.vN.bak (FILE.vN.bak.1,
// ... if that name is taken: nothing is overwritten); refuses a newer one (kFailedPrecondition) and one that
// is not Kiln's (kInvalidArgument), which are left untouched. Each of these is one transaction, and safe when
// several processes do it at once. Leaves the connection with write-ahead logging and a sync at every commit.
absl::Status PrepareSchema(sqlite::Connection& db);

}  // namespace kiln
