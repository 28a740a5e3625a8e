#include "trace/text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lang/base/aliases.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

constexpr absl::string_view kHeader = "kiln.trace v2", kFirstHeader = "kiln.trace v1";
constexpr absl::string_view kHandleNames[] = {"block", "loop", "value"};
constexpr char kHandleLetters[] = {'b', 'l', 'v'};
constexpr absl::string_view kTypeNames[] = {"an integer", "a number", "text", "a list of integers",
                                            "a list of numbers"};

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\""); }

int Distance(absl::string_view a, absl::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

// Returns "; did you mean X?" for the name with the least edit distance to `wrong`, or an empty string if that distance
// is more than 2 and more than a third of the length of `wrong`.
std::string Nearest(absl::string_view wrong, const std::vector<absl::string_view>& names) {
  const auto size = static_cast<int>(wrong.size());
  int least = std::max(2, size / 3) + 1;
  absl::string_view nearest;
  for (const absl::string_view name : names) {
    if (std::abs(static_cast<int>(name.size()) - size) >= least) continue;
    const int distance = Distance(wrong, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

struct Token {
  absl::string_view text;
  int column = 1;
};

// Reads one line of a trace token by token, and makes errors that name a column of it.
class Line {
 public:
  Line(absl::string_view text, absl::string_view name, int number)
      : rest_(text), size_(text.size()), name_(name), number_(number) {}

  // Returns the next token, the text up to a space or comma. A string, a list and name="a string" are one token each.
  // Returns an empty token at the end of the line.
  Token Next() {
    Skip();
    Token token{rest_, Column()};
    size_t length = 0;
    char until = '\0';
    for (; length < rest_.size(); ++length) {
      const char c = rest_[length];
      if (until == '"' && c == '\\') {
        ++length;
      } else if (until != '\0') {
        if (c == until) until = '\0';
      } else if (c == '"' || c == '[') {
        until = c == '"' ? '"' : ']';
      } else if (absl::ascii_isspace(c) || c == ',') {
        break;
      }
    }
    token.text = rest_.substr(0, length);
    rest_.remove_prefix(std::min(length, rest_.size()));
    return token;
  }
  bool Take(absl::string_view wanted) {
    Skip();
    return absl::ConsumePrefix(&rest_, wanted);
  }
  bool AtEnd() {
    Skip();
    return rest_.empty();
  }
  int Column() const { return static_cast<int>(size_ - rest_.size()) + 1; }

  absl::Status Error(int column, absl::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(name_, ":", number_, ":", column, ": ", message));
  }
  absl::Status Wanted(const Token& found, absl::string_view wanted) const {
    return Error(found.column,
                 absl::StrCat("found ", found.text.empty() ? "the end of the line" : Quoted(found.text),
                              ", wanted ", wanted));
  }

 private:
  void Skip() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  absl::string_view rest_;
  size_t size_;
  absl::string_view name_;
  int number_;
};

std::optional<std::string> ParseString(absl::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  std::string out;
  return absl::CUnescape(text.substr(1, text.size() - 2), &out) ? std::optional<std::string>(out)
                                                                : std::nullopt;
}

std::optional<Operand> ParseHandle(absl::string_view text) {
  int64_t number = 0;
  if (text.size() < 2 || !absl::ascii_isdigit(text[1]) || !absl::SimpleAtoi(text.substr(1), &number))
    return std::nullopt;
  for (int kind = 0; kind < 3; ++kind) {
    if (text[0] == kHandleLetters[kind]) return Operand{static_cast<Operand::Kind>(kind), number};
  }
  return std::nullopt;
}

bool Read(absl::string_view text, int64_t& out) { return absl::SimpleAtoi(text, &out); }
bool Read(absl::string_view text, double& out) { return absl::SimpleAtod(text, &out); }
bool Read(absl::string_view text, std::string& out) {
  std::optional<std::string> string = ParseString(text);
  if (!string.has_value()) return false;
  out = *std::move(string);
  return true;
}
template <typename T>
bool Read(absl::string_view text, std::vector<T>& out) {
  out.clear();
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) return false;
  while (!(text = absl::StripLeadingAsciiWhitespace(text)).empty()) {
    const size_t length = std::min(text.find(' '), text.size());
    if (!Read(text.substr(0, length), out.emplace_back())) return false;
    text.remove_prefix(length);
  }
  return true;
}

class Parser {
 public:
  explicit Parser(absl::string_view name) : name_(name) {}

  absl::StatusOr<Trace> Parse(absl::string_view text) {
    bool header = false;
    for (int number = 1; number == 1 || !text.empty(); ++number) {
      const size_t length = std::min(text.find('\n'), text.size());
      Line line(text.substr(0, length), name_, number);
      const absl::string_view content = absl::StripAsciiWhitespace(text.substr(0, length));
      text.remove_prefix(std::min(length + 1, text.size()));
      if (header && (content.empty() || content[0] == '#')) continue;
      const absl::Status status = header ? ParseLine(line) : ParseHeader(line, content);
      if (!status.ok()) return status;
      header = true;
    }
    return std::move(trace_);
  }

 private:
  static absl::Status ParseHeader(const Line& line, absl::string_view content) {
    if (content == kHeader || content == kFirstHeader) return absl::OkStatus();
    return line.Error(1, absl::StrCat("found ", Quoted(content), ", wanted ", Quoted(kHeader)));
  }

  absl::Status ParseLine(Line& line) {
    if (!line.Take("choice ")) return ParseStep(line);
    if (!trace_.steps.empty()) return line.Error(1, "choices stand before the steps");
    Schedule::Choice choice;
    Token token = line.Next();
    if (!Read(token.text, choice.name)) return line.Wanted(token, "the quoted name of a choice");
    token = line.Next();
    const Token picked = token;
    if (!absl::SimpleAtoi(token.text, &choice.picked))
      return line.Wanted(token, "the number that was chosen");
    if (token = line.Next(); token.text != "of") return line.Wanted(token, "\"of\"");
    token = line.Next();
    if (!absl::SimpleAtoi(token.text, &choice.n)) return line.Wanted(token, "the number of alternatives");
    if (choice.picked < 0 || choice.picked >= choice.n) {
      return line.Error(picked.column,
                        absl::StrCat("alternative ", choice.picked, " is not within 0 .. ", choice.n - 1));
    }
    if (token = line.Next(); !token.text.empty()) return line.Wanted(token, "the end of the line");
    choice.name = StoredPath(choice.name);
    trace_.choices.push_back(std::move(choice));
    return absl::OkStatus();
  }

  absl::Status ParseStep(Line& line) {
    Step step;
    Token token = line.Next();
    std::vector<std::pair<Token, Operand>> results;
    if (ParseHandle(token.text).has_value()) {
      for (;; token = line.Next()) {
        const std::optional<Operand> handle = ParseHandle(token.text);
        if (!handle.has_value()) return line.Wanted(token, "a handle, as b0, l0 or v0");
        results.emplace_back(token, *handle);
        if (!line.Take(",")) break;
      }
      if (!line.Take("=")) return line.Wanted(line.Next(), "\"=\"");
      token = line.Next();
    }
    step.primitive = FindPrimitive(token.text);
    if (step.primitive == nullptr) {
      std::vector<absl::string_view> names;
      for (const Primitive* p : AllPrimitives()) names.push_back(p->name);
      return line.Error(token.column, absl::StrCat("there is no primitive ", Quoted(token.text),
                                                   Nearest(token.text, names)));
    }
    absl::Status status = CheckResults(line, results, token, step);
    std::vector<bool> given(step.primitive->attributes.size(), false);
    for (const AttributeDecl& decl : step.primitive->attributes) step.attributes.push_back(decl.fallback);
    while (status.ok() && !line.AtEnd()) {
      token = line.Next();
      if (token.text == "->") {
        status = ParseDecision(line, token, step);
      } else if (absl::StartsWith(token.text, "@")) {
        status = ParseSite(line, token, step);
      } else if (absl::StartsWith(token.text, "\"") || absl::StrContains(token.text, '=')) {
        status = ParseAttribute(line, token, step, given);
      } else {
        status = ParseOperand(line, token, step, given);
      }
    }
    if (status.ok()) status = CheckComplete(line, step);
    if (!status.ok()) return status;
    sizes_[static_cast<int>(step.primitive->result)] += step.num_results;
    trace_.steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status CheckResults(const Line& line, const std::vector<std::pair<Token, Operand>>& results,
                            const Token& primitive, Step& step) {
    const int kind = static_cast<int>(step.primitive->result);
    step.first_result = sizes_[kind];
    step.num_results = static_cast<int>(results.size());
    if (!results.empty() && *step.primitive->result_names == '\0') {
      return line.Error(results[0].first.column, absl::StrCat(step.primitive->name, " has no results"));
    }
    if (step.primitive->sampling && results.size() != 1) {
      return line.Error(primitive.column,
                        absl::StrCat(step.primitive->name, " has one result, found ", results.size()));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& [token, handle] = results[i];
      const int64_t next = sizes_[kind] + static_cast<int64_t>(i);
      if (static_cast<int>(handle.kind) == kind && handle.number == next) continue;
      return line.Wanted(
          token, absl::StrCat(std::string(1, kHandleLetters[kind]), next, ", the next ", kHandleNames[kind]));
    }
    return absl::OkStatus();
  }

  absl::Status ParseOperand(const Line& line, const Token& token, Step& step,
                            const std::vector<bool>& given) {
    const std::vector<OperandDecl>& decls = step.primitive->operands;
    if (std::count(given.begin(), given.end(), true) > 0 || !step.site.empty()) {
      return line.Wanted(token, "an attribute; operands stand before them");
    }
    const size_t at = step.operands.size();
    if (decls.empty() || (at >= decls.size() && !decls.back().variadic)) {
      return line.Wanted(token,
                         absl::StrCat("no more operands: ", step.primitive->name, " takes ", decls.size()));
    }
    const OperandDecl& decl = decls[std::min(at, decls.size() - 1)];
    const OperandKind kind = decl.kind;
    std::optional<Operand> operand = ParseHandle(token.text);
    int64_t number = 0;
    if (!operand.has_value() && absl::SimpleAtoi(token.text, &number))
      operand = Operand{Operand::Kind::kInt, number};
    const bool fits =
        operand.has_value() &&
        (kind == OperandKind::kFactor
             ? operand->kind == Operand::Kind::kInt || operand->kind == Operand::Kind::kValue
             : operand->kind == (kind == OperandKind::kBlock ? Operand::Kind::kBlock : Operand::Kind::kLoop));
    if (!fits) {
      constexpr absl::string_view kWanted[] = {"a block", "a loop", "a number or a value"};
      return line.Wanted(token, absl::StrCat(kWanted[static_cast<int>(kind)], " (", decl.name, ")"));
    }
    if (operand->kind != Operand::Kind::kInt) {
      const int made = sizes_[static_cast<int>(operand->kind)];
      const absl::string_view what = kHandleNames[static_cast<int>(operand->kind)];
      if (operand->number >= made) {
        return line.Wanted(token, made == 0 ? absl::StrCat("a ", what, ", but the steps before make none")
                                            : absl::StrCat("a ", what, " of the steps before, which end at ",
                                                           token.text.substr(0, 1), made - 1));
      }
    }
    step.operands.push_back(*operand);
    return absl::OkStatus();
  }

  absl::Status ParseAttribute(const Line& line, const Token& token, Step& step, std::vector<bool>& given) {
    const std::vector<AttributeDecl>& decls = step.primitive->attributes;
    const bool bare = token.text[0] == '"';
    const size_t equals = bare ? 0 : token.text.find('=');
    size_t at = 0;
    if (bare) {
      if (decls.empty() || !std::holds_alternative<std::string>(decls[0].fallback)) {
        return line.Wanted(
            token, absl::StrCat("NAME=VALUE: the first attribute of ", step.primitive->name, " is not text"));
      }
    } else {
      const absl::string_view name = token.text.substr(0, equals);
      std::vector<absl::string_view> names;
      for (const AttributeDecl& decl : decls) names.push_back(decl.name);
      at = std::find(names.begin(), names.end(), name) - names.begin();
      if (at == names.size()) {
        return line.Error(token.column, absl::StrCat(step.primitive->name, " has no attribute ", Quoted(name),
                                                     Nearest(name, names)));
      }
    }
    if (given[at])
      return line.Error(token.column, absl::StrCat("attribute ", decls[at].name, " is given twice"));
    given[at] = true;
    const Token datum{token.text.substr(bare ? 0 : equals + 1),
                      token.column + static_cast<int>(bare ? 0 : equals + 1)};
    const bool read = std::visit([&](auto& value) { return Read(datum.text, value); }, step.attributes[at]);
    if (read) return absl::OkStatus();
    return line.Wanted(datum,
                       absl::StrCat(kTypeNames[decls[at].fallback.index()], " (", decls[at].name, ")"));
  }

  absl::Status ParseSite(const Line& line, const Token& token, Step& step) {
    if (!step.primitive->sampling)
      return line.Error(token.column, absl::StrCat(step.primitive->name, " makes no choice"));
    if (!step.site.empty()) return line.Error(token.column, "the site is named twice");
    const absl::string_view text = token.text.substr(1);
    if (!Read(text, step.site)) step.site = std::string(text);
    if (step.site.empty()) return line.Wanted({text, token.column + 1}, "the name of a site");
    step.site = StoredPath(step.site);
    if (!sites_.insert(step.site).second) {
      return line.Error(token.column,
                        absl::StrCat("another step is called ", Quoted(CurrentPath(step.site))));
    }
    return absl::OkStatus();
  }

  static absl::Status ParseDecision(Line& line, const Token& arrow, Step& step) {
    if (!step.primitive->sampling)
      return line.Error(arrow.column, absl::StrCat(step.primitive->name, " makes no choice"));
    do {
      const Token token = line.Next();
      int64_t number = 0;
      if (!absl::SimpleAtoi(token.text, &number)) return line.Wanted(token, "a number of the decision");
      step.decision.push_back(number);
    } while (!line.AtEnd());
    return absl::OkStatus();
  }

  static absl::Status CheckComplete(const Line& line, const Step& step) {
    const std::vector<OperandDecl>& decls = step.primitive->operands;
    const size_t least = decls.size() - (!decls.empty() && decls.back().variadic ? 1 : 0);
    if (step.operands.size() < least) {
      return line.Error(line.Column(),
                        absl::StrCat("found the end of the line, wanted operand ",
                                     decls[step.operands.size()].name, " of ", step.primitive->name));
    }
    if (step.primitive->sampling && step.site.empty()) {
      return line.Error(line.Column(), "found the end of the line, wanted \"@\" and the name of the site");
    }
    return absl::OkStatus();
  }

  absl::string_view name_;
  Trace trace_;
  int sizes_[3] = {0, 0, 0};  // number of handles defined so far, by HandleKind
  absl::flat_hash_set<std::string> sites_;
};

}  // namespace

std::string Print(const Trace& trace) {
  std::string text = absl::StrCat(kHeader, "\n");
  for (const Schedule::Choice& choice : trace.choices) {
    absl::StrAppend(&text, "choice ", Quoted(CurrentPath(choice.name)), " ", choice.picked, " of ", choice.n,
                    "\n");
  }
  for (const Step& step : trace.steps) absl::StrAppend(&text, ToString(step), "\n");
  return text;
}

absl::StatusOr<Trace> ParseTrace(absl::string_view text, absl::string_view name) {
  return Parser(name).Parse(absl::StripPrefix(text, "\xEF\xBB\xBF"));
}

}  // namespace kiln
