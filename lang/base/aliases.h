// Names of primitives, structural choices, modules, options and spaces that have changed since traces and
// databases were first written. The table in aliases.cc has them all.
//
//   stored name     Step::site and Choice::name hold it, so hashes and columns of features stay as they are
//   current name    code, messages, documents and printed traces use it
//
// Space strings, pins, traces and databases may use either name. To rename something, change its name in the
// code and add a row to the table.
//
// Pure. Any thread.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

enum class NameKind {
  kPrimitive,
  kChoice,  // also the name of a sampling site
  kModule,  // a module, as space strings name it
  kOption,  // an option of a module
  kSpace,   // a module that was a default space of its own; its new name may have options: "cpu dots=0"
};

struct Alias {
  NameKind kind;
  absl::string_view module;  // the module that has the choice or option; empty for other kinds
  absl::string_view old_name, name;
  absl::string_view since;  // the version of Kiln that prints the new name
};

absl::Span<const Alias> Aliases();

// StoredName returns the old spelling of a name, which traces store; CurrentName returns the new spelling. A name
// without a row in the table stays as it is. If several old names have one current name, StoredName returns the first
// of them. `module` is the current name of the module that has the choice or option; empty for other kinds.
absl::string_view StoredName(NameKind kind, absl::string_view name, absl::string_view module = "");
absl::string_view CurrentName(NameKind kind, absl::string_view name, absl::string_view module = "");

// Return the stored or the current form of the full name of a choice or site: "MODULE/BLOCK/CHOICE", with or without
// "SPACE/" before it and "#2" behind. Both forms have the current name of the space, without its options. A pin may
// leave out the beginning: if it has no MODULE, StoredPath renames the choice as that of any module, and CurrentPath
// keeps it.
std::string StoredPath(absl::string_view path);
std::string CurrentPath(absl::string_view path);

}  // namespace kiln
