// Names and keywords for both lang/text/text.cc, which prints, and lang/text/text_parse.cc, which parses.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace kiln {

// Names by the numbers of Role, Owner, Transport and AxisKind.
inline constexpr absl::string_view kRoleNames[] = {"input",  "output",    "constant",
                                                   "scalar", "temporary", "status"};
inline constexpr absl::string_view kOwnerNames[] = {"thread", "warp",    "warpgroup",
                                                    "block",  "cluster", "grid"};
inline constexpr absl::string_view kTransportNames[] = {"sync", "async", "bulk"};
inline constexpr absl::string_view kAxisNames[] = {"address", "register", "lane", "warp"};

// True for the first character of a name, or for a later one.
bool IsNameStart(char c);
bool IsNamePart(char c);

// Returns the name as the text shows it: in quotes if it is a keyword or has other characters.
std::string QuotedName(absl::string_view name);

}  // namespace kiln
