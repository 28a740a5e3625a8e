// Records as JSON lines: to move them between stores, to keep them beside a paper, to read them with other
// programs.
//
//   {"format":"kiln-records","version":1}
//   {"workload":{"id":1,"hash":H,"name":S,"program":S}}
//   {"target":{"id":1,"text":S,"fingerprint":S}}
//   {"run":{"id":1,"uid":H,"command":S,"options":S,"seed":N,"kiln":S,"llvm":S,"xgboost":S,"started":N}}
//   {"record":{"workload":1,"target":1,"run":1,"task":N,"round":N,"trial":N,"sketch":S,"trace":S,"program_hash":H,
//              "samples":[X, ...],"status":S,"error":S,"lower_bound":B,"flags":S,"verified":B,"created":N,
//              "taken":[X, ...],"assumptions":S,"place":S,"facts":{...}}}
//
// One object a line (the last is broken here to fit; texts of earlier versions end with "created" or
// "taken"); ids are local to the text, and a row stands before those that refer to it. H is 32 hex digits; S
// is a string, or {"base64":"..."} where its bytes are not UTF-8; X is a double in seconds, printed so that
// reading gives the same bits. Empty lines are skipped. Models and the states of runs are not exported: an
// imported run is history, and cannot be resumed.
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
