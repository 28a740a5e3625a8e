#include "backends/import/roles.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lang/base/unknown_name.h"

namespace kiln {
namespace {

constexpr size_t kMaxNamesInMessage = 10;

bool IsNumber(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

absl::Status UnknownArgument(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (size_t i = 0; i < names.size() && i < kMaxNamesInMessage; ++i)
    known.push_back(names[i].empty() ? absl::StrCat("arg", i) : names[i]);
  if (names.size() > known.size()) known.push_back(absl::StrCat(names.size() - known.size(), " more"));
  return absl::InvalidArgumentError(absl::StrCat("inputs: ", UnknownName("argument", name, known)));
}

// Returns the position of the argument with this name in the file, or of argument N for the name "argN". Returns the
// number of arguments if there is no such argument.
size_t PositionOf(const std::string& name, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (!name.empty() && names[i] == name) return i;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (name == absl::StrCat("arg", i)) return i;
  }
  return names.size();
}

}  // namespace

absl::StatusOr<std::vector<int>> ConstantArguments(const std::vector<std::string>& inputs,
                                                   const std::vector<std::string>& names,
                                                   absl::FunctionRef<bool(int)> is_marked) {
  std::set<size_t> given;
  size_t count = 0;
  if (inputs.size() == 1 && IsNumber(inputs[0])) {
    if (!absl::SimpleAtoi(inputs[0], &count) || count < 1 || count > names.size()) {
      return absl::InvalidArgumentError(absl::StrCat("inputs: ", inputs[0],
                                                     " is given; the first arguments, 1 to ", names.size(),
                                                     " of them, can be inputs"));
    }
    for (size_t i = 0; i < count; ++i) given.insert(i);
  } else {
    for (const std::string& name : inputs) {
      const size_t position = PositionOf(name, names);
      if (position == names.size()) return UnknownArgument(name, names);
      given.insert(position);
    }
  }
  std::vector<int> constants;
  for (size_t i = 0; i < names.size(); ++i) {
    const int position = static_cast<int>(i);
    if (!given.contains(i)) {
      constants.push_back(position);
    } else if (is_marked(position)) {
      return absl::InvalidArgumentError(
          absl::StrCat("inputs: argument ", i, names[i].empty() ? "" : absl::StrCat(" (", names[i], ")"),
                       " is given as an input, but the file marks it with kiln.constant"));
    }
  }
  return constants;
}

}  // namespace kiln
