#include "absl/strings/str_join.h"
#include "backends/cpu/targets.h"
#include "lang/patterns/intrinsic.h"
#include "lang/schedule/primitive.h"
#include "modules/registry.h"
#include "modules/space.h"
#include "search/cost/models.h"
#include "search/features/kinds.h"
#include "search/strategies/strategy.h"
#include "tests/baseline/parts.h"

namespace kiln::baseline {
namespace {

const char* NameOf(OperandKind kind) {
  switch (kind) {
    case OperandKind::kBlock:
      return "block";
    case OperandKind::kLoop:
      return "loop";
    case OperandKind::kFactor:
      return "factor";
  }
  return "";
}

// Returns the value of an attribute as a trace prints it.
std::string TextOf(const Attribute& fallback) {
  struct Printer {
    std::string operator()(int64_t number) const { return absl::StrCat(number); }
    std::string operator()(double number) const { return absl::StrCat(number); }
    std::string operator()(const std::string& text) const { return absl::StrCat("\"", text, "\""); }
    std::string operator()(const std::vector<int64_t>& list) const {
      return absl::StrCat("[", absl::StrJoin(list, " "), "]");
    }
    std::string operator()(const std::vector<double>& list) const {
      return absl::StrCat("[", absl::StrJoin(list, " "), ".]");
    }
  };
  return std::visit(Printer{}, fallback);
}

void PrintPrimitive(std::ostream& out, const Primitive& primitive) {
  out << (primitive.lemma ? "lemma " : "primitive ") << primitive.name;
  for (const OperandDecl& operand : primitive.operands)
    out << " " << operand.name << ":" << NameOf(operand.kind) << (operand.variadic ? "..." : "");
  for (const AttributeDecl& attribute : primitive.attributes)
    out << " " << attribute.name << "=" << TextOf(attribute.fallback);
  out << " -> " << primitive.result_names << (primitive.sampling ? " samples" : "")
      << (primitive.reads_only ? " reads-only" : "") << (primitive.restricts ? " restricts" : "") << "\n";
}

}  // namespace

void PrintRegistered(std::ostream& out) {
  for (const Primitive* primitive : AllPrimitives()) PrintPrimitive(out, *primitive);
  for (const Intrinsic* intrinsic : AllIntrinsics()) out << "intrinsic " << intrinsic->name << "\n";
  for (const std::string& name : ModuleNames()) {
    const ModuleEntry& module = *FindModule(name);
    out << (module.of_block ? "block-module " : "module ") << name;
    for (const std::string& option : module.options) out << " " << option << "=";
    out << "\n";
  }
  for (const std::string& name : TargetNames())
    if (name != "host") out << "target " << name << ": " << DefaultSpace(NamedTarget(name).value()) << "\n";
  for (const std::string& name : StrategyNames()) out << "strategy " << name << "\n";
  for (const std::string& name : CostModelNames()) out << "cost-model " << name << "\n";
  for (const std::string& name : FeatureKindNames())
    out << "features " << name << " " << FeatureDim(*FeatureKindOf(name)) << "\n";
}

}  // namespace kiln::baseline
