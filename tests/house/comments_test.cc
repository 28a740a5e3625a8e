// Tests that no formatter has wrapped tables, grammars, lists or samples in comments of the sources as prose. Looks for
// the patterns that such wrapping leaves, for example a row of a table that goes on in the next line without
// indentation.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

constexpr size_t kColumns = 110;  // ColumnLimit of .clang-format

// A line of a source, parsed. `text` is empty unless the line has nothing but a // comment.
struct Comment {
  size_t indent = 0;   // of the text behind `//`; 0 if there is none
  std::string text;    // without its indentation
  size_t columns = 0;  // of the whole line
};

size_t Columns(absl::string_view text) {
  size_t columns = 0;
  for (const char c : text) columns += (c & 0xC0) != 0x80;  // each code point once
  return columns;
}

Comment ParseComment(absl::string_view line) {
  Comment comment{.indent = 0, .text = "", .columns = Columns(line)};
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "//")) return comment;
  comment.text = std::string(absl::StripLeadingAsciiWhitespace(line));
  comment.indent = comment.text.empty() ? 0 : line.size() - comment.text.size();
  return comment;
}

// Returns the position behind the first two or more spaces, where the second column of a table begins; npos if there is
// none.
size_t SecondColumn(const std::string& text) {
  const size_t gap = text.find("  ");
  return gap == std::string::npos ? gap : text.find_first_not_of(' ', gap);
}

bool BeginsItem(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "- ") || absl::ConsumePrefix(&text, "* ")) return true;
  while (!text.empty() && absl::ascii_isdigit(text[0])) text.remove_prefix(1);
  return absl::StartsWith(text, ". ");
}

// True if a formatter may have wrapped this line of a comment: it has at most 110 columns, and would have more with the
// first word of the next line.
bool IsFull(const Comment& line, const Comment& next) {
  const std::string word = next.text.substr(0, next.text.find(' '));
  return line.columns <= kColumns && line.columns + 1 + Columns(word) > kColumns;
}

// Returns the lines that a formatter has wrapped, each as "NUMBER: LINE".
//  - An item of a list that fills its line must continue deeper than it began.
//  - So must a row of a table, unless the next row has its second column at the same position.
//  - No line may be a rule (-----) alone: it belongs behind a title.
std::vector<std::string> WrappedLines(const std::vector<std::string>& lines) {
  std::vector<std::string> wrapped;
  size_t row_indent = 0;  // indent of the rows of the present table or sample; 0 outside of one
  for (size_t i = 0; i < lines.size(); ++i) {
    const Comment line = ParseComment(lines[i]);
    const Comment next = i + 1 < lines.size() ? ParseComment(lines[i + 1]) : Comment();
    if (line.indent < 3) row_indent = 0;
    if (line.indent >= 3 && (row_indent == 0 || line.indent < row_indent)) row_indent = line.indent;

    const bool rule = line.text.size() >= 8 && line.text.find_first_not_of('-') == std::string::npos;
    const bool cut = next.indent > 0 && next.indent <= line.indent && IsFull(line, next);
    const size_t column = SecondColumn(line.text);
    const bool row = line.indent >= 3 && line.indent == row_indent && column != std::string::npos;
    const bool aligned = next.indent == line.indent && SecondColumn(next.text) == column;
    if (rule || (cut && BeginsItem(line.text) && !BeginsItem(next.text)) || (cut && row && !aligned)) {
      wrapped.push_back(absl::StrCat(i + 1, ": ", lines[i]));
    }
  }
  return wrapped;
}

TEST(Comments, KeepTheLinesOfTablesListsAndSamples) {
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource()) continue;
    for (const std::string& line : WrappedLines(file.lines)) ADD_FAILURE() << file.path << ":" << line;
  }
}

TEST(Comments, ThatWereWrappedAreFound) {
  const std::vector<std::string> grammar = {
      "//   handle    := (\"b\" | \"l\" | \"v\") number                       block, loop or value; numbered "
      "from 0 in",
      "//   order of appearance operand   := handle | integer"};
  EXPECT_EQ(WrappedLines(grammar).size(), 1u);
  const std::vector<std::string> table = {
      "//   vectorized      the same for vectorized loops, whose reductions may be combined across lanes; "
      "2 to 64",
      "//   lanes registers       buffers in registers are indexed by unrolled loops only"};
  EXPECT_EQ(WrappedLines(table).size(), 1u);
  const std::vector<std::string> item = {
      "// - A block without a monoid stores values[r] to dests[r]. Running an instance twice stores the same "
      "value",
      "// twice."};
  EXPECT_EQ(WrappedLines(item).size(), 1u);
  const std::vector<std::string> title = {"  // --- reading",
                                          "  // ------------------------------------------------"};
  EXPECT_EQ(WrappedLines(title).size(), 1u);
}

TEST(Comments, ThatStandAsWrittenAreLeft) {
  const std::string row =
      "//   values      what a block stores is the element's value, or is overwritten before it can be read it";
  EXPECT_EQ(WrappedLines({row, "//   reductions  each instance enters once"}).size(), 0u);
  EXPECT_EQ(WrappedLines({row, "//               and then"}).size(), 0u);
  EXPECT_EQ(WrappedLines({row, "//", "// Prose."}).size(), 0u);
}

TEST(Comments, AreNoBusinessOfTheFormatter) {
  bool found = false;
  for (const TextFile& file : ReadTree()) {
    if (file.path != ".clang-format") continue;
    for (const std::string& line : file.lines) found = found || line == "ReflowComments: Never";
  }
  EXPECT_TRUE(found) << ".clang-format must say ReflowComments: Never";
}

}  // namespace
}  // namespace kiln::house
