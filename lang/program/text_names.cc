#include "lang/program/text_names.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lang/base/unknown_name.h"

namespace kiln {
namespace {
// Keywords that may stand where the grammar allows a name. A name that equals one is printed in quotes.
constexpr absl::string_view kKeywords[] = {
    "parameters", "buffer",    "monoid",   "prepare", "for",  "block",   "let",
    "spatial",    "reduction", "where",    "domain",  "from", "initial", "accumulate",
    "layout",     "data",      "identity", "combine", "bits", "inf",     "nan"};
}  // namespace

absl::StatusOr<Storage> StorageNamed(absl::string_view name) {
  if (const std::optional<Storage> storage = ParseStorage(name)) return *storage;
  std::vector<absl::string_view> known;
  for (int i = 0; i <= static_cast<int>(Storage::kWarpgroup); ++i)
    known.push_back(ToString(static_cast<Storage>(i)));
  return absl::InvalidArgumentError(UnknownName("storage", name, known));
}

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || absl::ascii_isdigit(c) || c == '.'; }

std::string QuotedName(absl::string_view name) {
  const bool plain = !name.empty() && IsNameStart(name[0]) &&
                     std::all_of(name.begin(), name.end(), IsNamePart) &&
                     std::find(std::begin(kKeywords), std::end(kKeywords), name) == std::end(kKeywords);
  if (plain) return std::string(name);
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string UniqueNames::Add(absl::string_view wanted) {
  std::string name(wanted);
  const auto is_taken = [&] { return std::find(names_.begin(), names_.end(), name) != names_.end(); };
  for (int i = 1; is_taken(); ++i) name = absl::StrCat(wanted, ".", i);
  names_.push_back(name);
  return QuotedName(name);
}

}  // namespace kiln
