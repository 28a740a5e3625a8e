// Tests that functions of the sources have at most 60 lines, except five that are tables of cases and listed by name.
// The list must not grow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

constexpr int kMaxLines = 60;  // from the first line of its head to the brace that closes it

// The functions that may be longer, each as "FILE NAME": tables with a case for each operation.
const std::set<std::string> kTables = {
    "backends/lower/emit/emit_op.cc EmitOperation", "lang/analysis/value_range.cc ApplyToRanges",
    "lang/program/scalar.cc FloatFunction",         "lang/program/scalar.cc IntegerFunction",
    "validator/numeric/tolerance.cc Make",
};

// Returns C++ text in which comments, literals and preprocessor lines are blanks. Line numbers stay the same.
std::string Blanked(const std::string& text) {
  std::string out;
  const auto skip = [&](size_t& i, size_t end) {
    for (; i < end && i < text.size(); ++i) out += text[i] == '\n' ? '\n' : ' ';
  };
  bool line_starts = true;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const absl::string_view rest = absl::string_view(text).substr(i);
    if (absl::StartsWith(rest, "//")) {
      skip(i, text.find('\n', i));
    } else if (absl::StartsWith(rest, "R\"") && (i == 0 || !std::isalnum(text[i - 1]))) {
      const size_t open = text.find('(', i);
      const std::string close = ")" + text.substr(i + 2, open - i - 2) + "\"";
      skip(i, text.find(close, open) + close.size());
    } else if (c == '"' || (c == '\'' && (i == 0 || !std::isalnum(text[i - 1])))) {
      size_t end = i + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      skip(i, end + 1);
    } else if (c == '#' && line_starts) {
      size_t end = text.find('\n', i);
      while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
      skip(i, end);
    } else {
      line_starts = c == '\n' || (line_starts && c == ' ');
      out += c;
      ++i;
    }
  }
  return out;
}

// True if `head`, the text before an opening brace, begins a scope of declarations: a namespace, a type or extern "C".
bool IsScope(absl::string_view head) {
  for (const char* word : {"namespace", "class ", "struct ", "union ", "enum ", "extern ", "template "}) {
    if (!absl::StartsWith(head, word)) continue;
    if (!absl::StartsWith(head, "template ")) return !absl::StrContains(head, "(");
    return absl::StrContains(head, "> class ") || absl::StrContains(head, "> struct ") ||
           absl::StrContains(head, ">\nstruct ") || absl::StrContains(head, ">\nclass ");
  }
  return false;
}

// Returns the name of the function that `head`, the text before an opening brace, declares: `Tuner::Recall` for
// `absl::Status Tuner::Recall(bool resumed)`, `TEST(Suite, Name)` for a test, "operator" for an operator. Returns "" if
// it declares no function.
std::string FunctionName(absl::string_view head) {
  const size_t open = head.find('(');
  if (open == absl::string_view::npos) return "";
  const absl::string_view before = absl::StripTrailingAsciiWhitespace(head.substr(0, open));
  if (absl::StrContains(before, " = ")) return "";  // a value that a call or a lambda makes
  size_t begin = before.size();
  while (begin > 0 &&
         (std::isalnum(before[begin - 1]) || absl::StrContains("_:~", before.substr(begin - 1, 1))))
    --begin;
  const std::string name(before.substr(begin));
  if (name.empty()) return "operator";
  const bool macro = begin == 0 && name == absl::AsciiStrToUpper(name);  // TEST(Suite, Name)
  return macro ? std::string(head.substr(0, head.find(')') + 1)) : name;
}

// True if an opening brace after the text `head` may begin the body of a function. False for a brace in parentheses or
// directly behind a name, as in the initializer of a member.
bool OpensBody(absl::string_view head) {
  return !head.empty() && std::isspace(head.back()) &&
         std::count(head.begin(), head.end(), '(') == std::count(head.begin(), head.end(), ')');
}

struct Function {
  std::string name;
  int lines;
};

// Returns name and number of lines of each function of a formatted C++ source, at any depth of namespaces and classes.
// A lambda counts to the function around it.
std::vector<Function> FunctionsOf(const std::string& source) {
  const std::string text = Blanked(source);
  std::vector<Function> functions;
  std::string head, name;
  int line = 1, first = 1, depth = 0;  // depth: braces within a function or an initializer
  for (const char c : text) {
    line += c == '\n';
    if (depth > 0) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth == 0 && !name.empty()) {
        functions.push_back({name, line - first + 1});
        head.clear();
      }
    } else if (c == '{' && IsScope(head)) {
      head.clear();
    } else if (c == '{') {
      depth = 1;
      name = OpensBody(head) ? FunctionName(head) : "";
    } else if (c == ';' || c == '}') {
      head.clear();
    } else if (!head.empty() || !std::isspace(c)) {
      if (head.empty()) first = line;
      head += c;
    }
  }
  return functions;
}

std::string Text(const TextFile& file) {
  std::string text;
  for (const std::string& line : file.lines) absl::StrAppend(&text, line, "\n");
  return text;
}

TEST(Functions, FitAScreenButForThoseListed) {
  std::map<std::string, int> longer;
  size_t all = 0;
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const Function& function : FunctionsOf(Text(file))) {
      ++all;
      if (function.lines > kMaxLines) longer[absl::StrCat(file.path, " ", function.name)] = function.lines;
    }
  }
  EXPECT_GE(all, 5000);  // so that the parser does find functions
  for (const auto& [function, lines] : longer) {
    EXPECT_TRUE(kTables.contains(function)) << function << " has " << lines << " lines, the limit is "
                                            << kMaxLines << "; part it by what it does";
  }
  for (const std::string& function : kTables) {
    EXPECT_TRUE(longer.contains(function))
        << function << " has " << kMaxLines << " lines or fewer now: take it off the list";
  }
  EXPECT_LE(kTables.size(), 5);
}

TEST(Functions, AreFoundWithTheirLengths) {
  const auto functions = FunctionsOf(R"__(#define PART(x) \
  x {
namespace kiln {
// int Comment() {
const int kTable[] = {
    1,
    2,
};
const auto kLambda = [](int a) {
  return a;
};
struct Unit {
  int Member() const { return 1; }
  Unit(int a)
      : b{a} {
    Text("}", '{');
  }
  int b;
};
template <typename T>
struct Of {
  T Get() {
    if (true) {
    }
    return {};
  }
};
TEST(Suite, Name) {
}
absl::Status
Unit::Long(int a,
           int b = 2) {
  const auto raw = R"(})";
}
}  // namespace kiln
)__");
  std::vector<std::string> found;
  for (const Function& f : functions) found.push_back(absl::StrCat(f.name, " ", f.lines));
  EXPECT_THAT(found,
              testing::ElementsAre("Member 1", "Unit 4", "Get 5", "TEST(Suite, Name) 2", "Unit::Long 5"));
}

}  // namespace
}  // namespace kiln::house
