// Sets a module's options from the "key=value" pairs of a space string. kInvalidArgument for an unknown key, a key that
// is given twice, or a value that the option does not accept.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lang/base/aliases.h"
#include "modules/registry.h"

namespace kiln::internal {
namespace {

std::string Wanted(const OptionPlace& option) {
  const Allowed& allowed = option.allowed;
  if (std::holds_alternative<std::string*>(option.value)) return allowed.texts;
  const bool list = std::holds_alternative<std::vector<int64_t>*>(option.value);
  std::string wanted = list ? "numbers with commas between" : "a number";
  if (allowed.least > std::numeric_limits<int64_t>::min())
    absl::StrAppend(&wanted, list ? ", each" : "", " from ", allowed.least, " to ", allowed.most);
  return wanted;
}

// Parses `text` and stores it in the option: a text, a number or a list of numbers. Returns false if the option does
// not accept the text; its value is then unspecified.
bool Set(const OptionPlace& option, const std::string& text) {
  const Allowed& allowed = option.allowed;
  if (auto* const* value = std::get_if<std::string*>(&option.value)) {
    **value = text;
    return !allowed.text || allowed.text(text);
  }
  std::vector<int64_t> numbers;
  for (const absl::string_view item : absl::StrSplit(text, ',')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(item, &number) || number < allowed.least || number > allowed.most) return false;
    numbers.push_back(number);
  }
  if (auto* const* list = std::get_if<std::vector<int64_t>*>(&option.value)) {
    **list = std::move(numbers);
    return true;
  }
  *std::get<int64_t*>(option.value) = numbers[0];
  return numbers.size() == 1;
}

}  // namespace

absl::Status SetOptions(const std::string& module, const OptionText& as_given,
                        const std::vector<OptionPlace>& options) {
  OptionText given = as_given;
  for (auto& [key, text] : given) key = std::string(CurrentName(NameKind::kOption, key, module));
  for (size_t i = 0; i < given.size(); ++i) {
    const auto& [key, text] = given[i];
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&, &k = key](const OptionPlace& o) { return o.name == k; });
    if (option == options.end()) {
      const std::string known = absl::StrJoin(
          options, ", ", [](std::string* out, const OptionPlace& o) { absl::StrAppend(out, o.name); });
      return absl::InvalidArgumentError(absl::StrCat("module ", module, " has no option \"", key,
                                                     "\"; it has ", known.empty() ? "none" : known));
    }
    if (std::any_of(given.begin(), given.begin() + static_cast<int64_t>(i),
                    [&, &k = key](const auto& earlier) { return earlier.first == k; })) {
      return absl::InvalidArgumentError(
          absl::StrCat("option ", key, " of module ", module, " is given twice; give it once"));
    }
    if (!Set(*option, text)) {
      return absl::InvalidArgumentError(absl::StrCat("option ", key, " of module ", module, " is \"", text,
                                                     "\"; it takes ", Wanted(*option)));
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln::internal
