// A Program as bytes, for another process of the same build: the flat vectors as they lie in memory, behind a
// stamp. To keep a program, print it (lang/text/text.h): these bytes are read by the version that wrote them and
// no other.
//
//   "KILNPROG" version sizes-of-structs | name | each vector: count, elements | names | constants | checksum
//
// Plain functions without shared state: safe from any thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lang/program/program.h"

namespace kiln {

std::string Serialize(const Program& program);

// kInvalidArgument for bytes that are cut, changed, or another version's; every id and range has been
// checked, and the program passes Verify.
absl::StatusOr<Program> Deserialize(absl::string_view bytes);

}  // namespace kiln
