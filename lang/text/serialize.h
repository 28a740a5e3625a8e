// Converts a Program to bytes for another process of the same build: the flat vectors as they are in memory,
// after a stamp. Only the version that wrote the bytes can read them. To store a program, print it
// (lang/text/text.h).
//
//   "KILNPROG" version sizes-of-structs | name | each vector: count, elements | names | constants | checksum
//
// Pure functions; safe from any thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lang/program/program.h"

namespace kiln {

std::string Serialize(const Program& program);

// Reads what Serialize wrote. Returns kInvalidArgument for bytes that are truncated, changed or from another version,
// and for a program with a wrong id or range, or one that Verify rejects.
absl::StatusOr<Program> Deserialize(absl::string_view bytes);

}  // namespace kiln
