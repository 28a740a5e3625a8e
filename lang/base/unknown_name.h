// Returns the message for a name that is not in a list of known names:
//
//   UnknownName("transport", "truck", kTransportNames)   unknown transport "truck"; known: sync, async, bulk
//
// Pure. Any thread.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace kiln {

template <typename Names>
std::string UnknownName(absl::string_view kind, absl::string_view name, const Names& known) {
  return absl::StrCat("unknown ", kind, " \"", name, "\"; known: ", absl::StrJoin(known, ", "));
}

}  // namespace kiln
