// Reads data that a shared object exports, without loading it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

// Returns the bytes of the first symbol that a shared object exports, whose name ends with `suffix`, and that has
// bytes. kInvalidArgument if `object` is no ELF object, kNotFound if it has no such symbol.
absl::StatusOr<std::string> BytesOfSymbol(const std::string& object, absl::string_view suffix);

}  // namespace kiln
