// Names and keywords that lang/text/text.cc prints, lang/text/text_parse.cc parses, and primitives take.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lang/program/buffer.h"

namespace kiln {

// Names by the numbers of Role, Owner, Transport and AxisKind.
inline constexpr absl::string_view kRoleNames[] = {"input",  "output",    "constant",
                                                   "scalar", "temporary", "status"};
inline constexpr absl::string_view kOwnerNames[] = {"thread", "warp",    "warpgroup",
                                                    "block",  "cluster", "grid"};
inline constexpr absl::string_view kTransportNames[] = {"sync", "async", "bulk"};
inline constexpr absl::string_view kAxisNames[] = {"address", "register", "lane", "warp"};

// Returns the storage with this name. kInvalidArgument if there is none; the message lists the names.
absl::StatusOr<Storage> StorageNamed(absl::string_view name);

// True for the first character of a name, or for a later one.
bool IsNameStart(char c);
bool IsNamePart(char c);

// Returns the name as the text shows it: in quotes if it is a keyword or has other characters.
std::string QuotedName(absl::string_view name);

}  // namespace kiln
