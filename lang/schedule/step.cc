#include "lang/schedule/step.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "lang/base/aliases.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\""); }

struct AttributePrinter {
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(const std::string& v) const { return Quoted(v); }
  std::string operator()(const std::vector<int64_t>& v) const {
    return absl::StrCat("[", absl::StrJoin(v, " "), "]");
  }
  std::string operator()(const std::vector<double>& v) const {
    return fmt::format("[{}]", fmt::join(v, " "));
  }
};

struct IsEmpty {
  bool operator()(int64_t v) const { return v == 0; }
  bool operator()(double v) const { return v == 0; }
  template <typename T>
  bool operator()(const T& v) const {
    return v.empty();
  }
};

bool Plain(absl::string_view site) {
  return !site.empty() && std::all_of(site.begin(), site.end(), [](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  });
}

}  // namespace

std::string ToString(Operand operand) {
  constexpr const char* kPrefix[] = {"b", "l", "v", ""};
  return absl::StrCat(kPrefix[static_cast<int>(operand.kind)], operand.number);
}

std::string ToString(const Step& step) {
  constexpr const char* kPrefix[] = {"b", "l", "v"};
  std::string text;
  for (int i = 0; i < step.num_results; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", kPrefix[static_cast<int>(step.primitive->result)],
                    step.first_result + i);
  }
  absl::StrAppend(&text, text.empty() ? "" : " = ", step.primitive->name);
  for (const Operand operand : step.operands) absl::StrAppend(&text, " ", ToString(operand));
  for (size_t i = 0; i < step.attributes.size(); ++i) {
    const AttributeDecl& decl = step.primitive->attributes[i];
    if (KILN_DEFECT("trace.print-attribute") && std::visit(IsEmpty(), step.attributes[i])) continue;
    if (step.attributes[i] == decl.fallback && std::visit(IsEmpty(), decl.fallback)) continue;
    const bool bare = i == 0 && std::holds_alternative<std::string>(decl.fallback);
    absl::StrAppend(&text, " ", bare ? "" : decl.name, bare ? "" : "=",
                    std::visit(AttributePrinter(), step.attributes[i]));
  }
  if (const std::string site = CurrentPath(step.site); !site.empty())
    absl::StrAppend(&text, " @", Plain(site) ? site : Quoted(site));
  const bool silent = KILN_DEFECT("trace.print-decision") && step.decision.size() == 1;
  if (!step.decision.empty() && !silent) absl::StrAppend(&text, " -> ", absl::StrJoin(step.decision, " "));
  return text;
}

}  // namespace kiln
