// Parses #include lines of sources, for tests that check which file includes which.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace kiln::house {

// The path of an #include line; `quoted` is true for "path" and false for <path>. ParseInclude returns nothing for
// other lines.
struct Include {
  std::string path;
  bool quoted;
};
inline std::optional<Include> ParseInclude(absl::string_view line) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "#")) return std::nullopt;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "include")) return std::nullopt;
  line = absl::StripLeadingAsciiWhitespace(line);
  const bool quoted = absl::ConsumePrefix(&line, "\"");
  if (!quoted && !absl::ConsumePrefix(&line, "<")) return std::nullopt;
  const size_t end = line.find(quoted ? '"' : '>');
  if (end == absl::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(0, end)), quoted};
}

// Returns the folder of a path, without the '/' at its end; "" for a path without one.
inline std::string FolderOf(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? "" : std::string(path.substr(0, slash));
}

}  // namespace kiln::house
