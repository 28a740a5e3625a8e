// Names and keywords in the texts of programs and loop plans. Printers, parsers and primitives share them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lang/program/buffer.h"

namespace kiln {

// The names of the enumerators of Role, Owner, Transport and AxisKind, in their order.
inline constexpr absl::string_view kRoleNames[] = {"input",  "output",    "constant",
                                                   "scalar", "temporary", "status"};
inline constexpr absl::string_view kOwnerNames[] = {"thread", "warp",    "warpgroup",
                                                    "block",  "cluster", "grid"};
inline constexpr absl::string_view kTransportNames[] = {"sync", "async", "bulk"};
inline constexpr absl::string_view kAxisNames[] = {"address", "register", "lane", "warp"};

// Returns the storage with this name. kInvalidArgument if there is none; the message lists the names.
absl::StatusOr<Storage> StorageNamed(absl::string_view name);

// IsNameStart is true for a character that may begin a name, IsNamePart for one that may follow in it.
bool IsNameStart(char c);
bool IsNamePart(char c);

// Returns the name as program texts show it. It is in quotes if it is a keyword, or has characters other than letters,
// digits, "_" and ".", or does not begin with a letter or "_".
std::string QuotedName(absl::string_view name);

// Makes the names of one scope unique: the second `i` is `i.1`.
class UniqueNames {
 public:
  // Adds a name to the scope. Returns it as program texts show it, with a suffix if the scope has the name already.
  std::string Add(absl::string_view wanted);
  size_t size() const { return names_.size(); }
  void Shrink(size_t size) { names_.resize(size); }

 private:
  std::vector<std::string> names_;
};

}  // namespace kiln
