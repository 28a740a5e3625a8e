// Options of modules, from "key=value" pairs.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "modules/registry.h"

namespace kiln::internal {

absl::Status CheckOptions(const std::string& module, const OptionText& given,
                          const std::vector<std::string>& known) {
  for (const auto& [key, value] : given) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat("module ", module, " has no option \"", key,
                                                     "\"; it has ",
                                                     known.empty() ? "none" : absl::StrJoin(known, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::Status SetOption(const std::string& module, const OptionText& given, absl::string_view name,
                       int64_t* number, std::string* text, std::vector<int64_t>* list) {
  for (const auto& [key, value] : given) {
    if (key != name) continue;
    if (text != nullptr) *text = value;
    std::vector<int64_t> numbers;
    for (const absl::string_view item : absl::StrSplit(value, ',')) {
      int64_t n;
      if (text == nullptr && !absl::SimpleAtoi(item, &n)) {
        return absl::InvalidArgumentError(
            absl::StrCat("option ", name, " of module ", module, " is \"", value, "\"; it takes ",
                         list != nullptr ? "numbers with commas between" : "a number"));
      }
      if (text == nullptr) numbers.push_back(n);
    }
    if (list != nullptr) *list = numbers;
    if (number != nullptr) {
      if (numbers.size() != 1)
        return absl::InvalidArgumentError(
            absl::StrCat("option ", name, " of module ", module, " takes one number"));
      *number = numbers[0];
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln::internal
