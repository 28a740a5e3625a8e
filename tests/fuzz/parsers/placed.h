// Checks the errors of parsers: they must be kInvalidArgument and have the form NAME:LINE:COLUMN: MESSAGE.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "lang/base/check.h"

namespace kiln {

inline bool SkipNumber(absl::string_view& text) {
  const size_t before = text.size();
  while (!text.empty() && absl::ascii_isdigit(text[0])) text.remove_prefix(1);
  return text.size() != before && absl::ConsumePrefix(&text, ":");
}

// Checks one error of a parser. It must be kInvalidArgument, and its message must begin with `name` (which ends with a
// colon, or is empty), line and column, as in "12:7:".
inline void CheckPlaced(const absl::Status& error, absl::string_view name) {
  KILN_CHECK(absl::IsInvalidArgument(error), error.ToString());
  absl::string_view text = error.message();
  KILN_CHECK(absl::ConsumePrefix(&text, name) && SkipNumber(text) && SkipNumber(text), error.ToString());
}

}  // namespace kiln
