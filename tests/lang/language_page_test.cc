// Tests that docs/reference/language.md is generated from the declarations of all primitives and the errors in golden
// files.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lang/schedule/primitive.h"
#include "test_paths.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

constexpr absl::string_view kHead =
    "# The language\n\n"
    "Every primitive, as it is declared in `lang/primitives/`. This page is generated from the declarations:\n"
    "`kiln_lang_test --gtest_filter='LanguagePage.*' --update-goldens` writes it.\n\n"
    "A step of a trace is `results = primitive operands attribute=value`; in C++ it is a method of `Schedule`\n"
    "(`lang/schedule/schedule.h`). Operands are blocks, loops and factors. A factor is a number, or a value that an\n"
    "earlier step sampled. A primitive that does not apply leaves the program unchanged. Its error says what was\n"
    "found, what was wanted, and where. `lang/program/program.h` defines the meaning of a program, and\n"
    "`lang/text/text.h` its text form.\n\n"
    "A late step computes its effect from the program as it is when the step is replayed. Once a program has prepared\n"
    "nests or pipelined loops, every step keeps their rules (`lang/analysis/legality.h`) or does not apply.\n"
    "`set-scope` and the check of the finished program require that only its owner uses a buffer.\n";

std::string TextOf(const Attribute& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return absl::StrCat(*number);
  if (const auto* number = std::get_if<double>(&value)) return absl::StrCat(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return absl::StrCat("\"", *text, "\"");
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
    return absl::StrCat("[", absl::StrJoin(*list, " "), "]");
  return "[]";
}

// Returns the text in lines of at most 120 columns. All but the first begin with `indent`.
std::string Wrapped(absl::string_view text, absl::string_view indent = "") {
  std::string page;
  size_t column = 0;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const bool fits = column + 1 + word.size() <= 120;
    const std::string gap = column == 0 ? "" : fits ? " " : absl::StrCat("\n", indent);
    column = (fits ? column + gap.size() : indent.size()) + word.size();
    absl::StrAppend(&page, gap, word);
  }
  return page;
}

// Returns the documentation of a primitive as Markdown. Lines that end with a full stop are prose, and are wrapped.
// Others are an example (before -> after), and stand in a code block.
std::string Described(absl::string_view doc) {
  std::string page;
  bool example = false;
  for (const absl::string_view line : absl::StrSplit(doc, '\n')) {
    const bool prose = absl::EndsWith(line, ".");
    if (prose == example) {
      absl::StrAppend(&page, example ? "```\n" : "\n```\n");
      example = !prose;
    }
    absl::StrAppend(&page, prose ? "\n" : "", prose ? Wrapped(line) : std::string(line), "\n");
  }
  return page + (example ? "```\n" : "");
}

using Errors = std::map<std::string, std::vector<std::string>>;  // by primitive

Errors GoldenErrors() {
  Errors errors;
  const std::filesystem::path folder = std::filesystem::path(KILN_SOURCE_DIR) / "tests/golden/lang";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    if (!absl::EndsWith(file.string(), "_refusals.txt")) continue;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
      errors[parts.first].push_back(parts.second);
    }
  }
  return errors;
}

std::string Page() {
  std::string page(kHead);
  const Errors errors = GoldenErrors();
  for (const Primitive* p : AllPrimitives()) {
    const auto operand = [](std::string* s, const OperandDecl& o) {
      absl::StrAppend(s, o.name, o.variadic ? "..." : "");
    };
    absl::StrAppend(&page, "\n## ", p->name, "\n\n`", *p->result_names == '\0' ? "" : p->result_names,
                    *p->result_names == '\0' ? "" : " = ", p->name, p->operands.empty() ? "" : " ",
                    absl::StrJoin(p->operands, " ", operand));
    for (const AttributeDecl& a : p->attributes) absl::StrAppend(&page, " ", a.name, "=", TextOf(a.fallback));
    absl::StrAppend(&page, "`", p->sampling ? ", a random choice" : "", "\n", Described(p->doc));
    if (*p->assumes != '\0') absl::StrAppend(&page, "\nAssumes: ", p->assumes, ".\n");
    const auto found = errors.find(p->name);
    if (found == errors.end()) continue;
    absl::StrAppend(&page, "\nErrors, such as:\n\n");
    for (const std::string& error : found->second)
      absl::StrAppend(&page, Wrapped(absl::StrCat("- ", error), "  "), "\n");
  }
  return page;
}

TEST(LanguagePage, IsWhatTheDeclarationsSay) { ExpectGolden("../../docs/reference/language.md", Page()); }

}  // namespace
}  // namespace kiln
