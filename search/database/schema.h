// Creates the tables of a Kiln database, and migrates files of older versions.
//
// The schema is a list of steps: step N turns version N-1 into version N. A new file runs all steps, so it
// equals a migrated one. To change the schema, append a step, and add a fixture of the previous version to
// tests/search. Released steps are never edited.
//
// PRAGMA user_version holds the version of a file. PRAGMA application_id marks it as Kiln's.
#pragma once

#include "absl/status/status.h"
#include "search/database/sqlite.h"

namespace kiln {

inline constexpr int kSchemaVersion = 5;

// Creates the tables in an empty file. Migrates an older file after copying it to FILE.vN.bak (or FILE.vN.bak.1 and so
// on: nothing is overwritten). Refuses a newer file (kFailedPrecondition), a file that is not Kiln's (kInvalidArgument)
// and a file of Kiln's with a version below 1 (kDataLoss), and leaves them untouched. Each of these is one transaction
// and safe if several processes do it at once. Afterwards the connection uses write-ahead logging and syncs at every
// commit.
absl::Status PrepareSchema(sqlite::Connection& db);

}  // namespace kiln
