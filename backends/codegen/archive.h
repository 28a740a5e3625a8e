// Makes a static library of objects.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

// Returns the bytes of an archive with a table of symbols; each member has a name and the bytes of an object. The same
// members give the same bytes. kInvalidArgument, with LLVM's message, if LLVM cannot read the symbols of a member.
absl::StatusOr<std::string> Archive(absl::Span<const std::pair<std::string, std::string>> members);

}  // namespace kiln
