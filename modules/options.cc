// Options of modules, from "key=value" pairs.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "modules/registry.h"

namespace kiln::internal {

absl::Status SetOptions(const std::string& module, const OptionText& given,
                        const std::vector<std::pair<std::string, OptionValue>>& options) {
  for (const auto& [key, text] : given) {
    const auto option =
        std::find_if(options.begin(), options.end(), [&, &k = key](const auto& o) { return o.first == k; });
    if (option == options.end()) {
      const std::string known = absl::StrJoin(
          options, ", ", [](std::string* out, const auto& o) { absl::StrAppend(out, o.first); });
      return absl::InvalidArgumentError(absl::StrCat("module ", module, " has no option \"", key,
                                                     "\"; it has ", known.empty() ? "none" : known));
    }
    if (const auto* value = std::get_if<std::string*>(&option->second)) {
      **value = text;
      continue;
    }
    const auto* list = std::get_if<std::vector<int64_t>*>(&option->second);
    std::vector<int64_t> numbers;
    for (const absl::string_view item : absl::StrSplit(text, ',')) {
      if (!absl::SimpleAtoi(item, &numbers.emplace_back())) {
        return absl::InvalidArgumentError(
            absl::StrCat("option ", key, " of module ", module, " is \"", text, "\"; it takes ",
                         list != nullptr ? "numbers with commas between" : "a number"));
      }
    }
    if (list != nullptr) {
      **list = numbers;
    } else if (numbers.size() == 1) {
      *std::get<int64_t*>(option->second) = numbers[0];
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("option ", key, " of module ", module, " takes one number"));
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln::internal
