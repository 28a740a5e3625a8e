// What lang/text/text.cc prints and lang/text/text_parse.cc parses alike: names and keywords.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

// By Role, Owner, Transport and AxisKind.
inline constexpr absl::string_view kRoleNames[] = {"input",  "output",    "constant",
                                                   "scalar", "temporary", "status"};
inline constexpr absl::string_view kOwnerNames[] = {"thread", "warp",    "warpgroup",
                                                    "block",  "cluster", "grid"};
inline constexpr absl::string_view kTransportNames[] = {"sync", "async", "bulk"};
inline constexpr absl::string_view kAxisNames[] = {"address", "register", "lane", "warp"};

// True for a character of a name: the first, or a later one.
bool IsNameStart(char c);
bool IsNamePart(char c);

// The name as the text has it: itself, or in quotes where it is a keyword or has other characters.
std::string QuotedName(absl::string_view name);

}  // namespace kiln
