#include "lang/primitive.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/check.h"

namespace kiln {
namespace {

std::map<std::string, const Primitive*, std::less<>>& Registry() {
  static auto* registry = new std::map<std::string, const Primitive*, std::less<>>();
  return *registry;
}

std::string ToString(Operand operand) {
  constexpr const char* kPrefix[] = {"b", "l", "v", ""};
  return absl::StrCat(kPrefix[static_cast<int>(operand.kind)], operand.number);
}

struct AttributePrinter {
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(double v) const { return absl::StrCat(v); }
  std::string operator()(const std::string& v) const { return absl::StrCat("\"", v, "\""); }
  std::string operator()(const std::vector<int64_t>& v) const { return absl::StrCat("[", absl::StrJoin(v, " "), "]"); }
  std::string operator()(const std::vector<double>& v) const { return absl::StrCat("[", absl::StrJoin(v, " "), "]"); }
};

constexpr absl::string_view kKindNames[] = {"block", "loop", "value", "number"};

absl::Status At(const absl::Status& status, const Step& step, int step_index) {
  const std::string where =
      *step.file != '\0' ? absl::StrCat("          (", step.file, ":", step.line, ")") : std::string();
  return absl::Status(status.code(), absl::StrCat("step ", step_index, " does not apply: ", status.message(), "\n  step ",
                                                  step_index, ":  ", ToString(step), where));
}

// Every operand names something that is there.
absl::Status Resolve(const State& state, const Step& step) {
  for (const Operand operand : step.operands) {
    if (operand.kind == Operand::Kind::kInt) continue;
    const bool value = operand.kind == Operand::Kind::kValue;
    const std::vector<Id>& table = operand.kind == Operand::Kind::kBlock ? state.blocks : state.loops;
    const size_t size = value ? state.values.size() : table.size();
    if (operand.number < 0 || operand.number >= static_cast<int64_t>(size)) {
      return absl::InvalidArgumentError(absl::StrCat("there is no ", kKindNames[static_cast<int>(operand.kind)], " ",
                                                     ToString(operand), "; the steps before made ", size));
    }
    if (value) continue;
    const Node& node = state.program.nodes[table[operand.number]];
    if (node.kind == Node::Kind::kDead || node.parent == kNone) {
      return absl::FailedPreconditionError(
          absl::StrCat(ToString(operand), " is gone: an earlier step replaced or removed it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

namespace internal {
RegisterPrimitive::RegisterPrimitive(const Primitive* primitive) {
  const bool fresh = Registry().emplace(primitive->name, primitive).second;
  KILN_CHECK(fresh, "two primitives are called ", primitive->name);
}
}  // namespace internal

const Primitive* FindPrimitive(absl::string_view name) {
  const auto it = Registry().find(std::string(name));
  return it == Registry().end() ? nullptr : it->second;
}

std::vector<const Primitive*> AllPrimitives() {
  std::vector<const Primitive*> all;
  for (const auto& [name, primitive] : Registry()) all.push_back(primitive);
  return all;
}

Id Call::node(int i) const {
  const Operand operand = step_.operands[i];
  return operand.kind == Operand::Kind::kBlock ? state_.blocks[operand.number] : state_.loops[operand.number];
}

std::vector<Id> Call::nodes(int from) const {
  std::vector<Id> nodes;
  for (int i = from; i < num_operands(); ++i) nodes.push_back(node(i));
  return nodes;
}

absl::InlinedVector<int64_t, 6> Call::numbers(int from) const {
  absl::InlinedVector<int64_t, 6> numbers;
  for (int i = from; i < num_operands(); ++i) {
    const Operand operand = step_.operands[i];
    if (operand.kind == Operand::Kind::kValue) {
      const Decision& value = state_.values[operand.number];
      numbers.insert(numbers.end(), value.begin(), value.end());
    } else {
      numbers.push_back(operand.number);
    }
  }
  return numbers;
}

bool Call::sampled(int from) const {
  return std::any_of(step_.operands.begin() + from, step_.operands.end(),
                     [](Operand o) { return o.kind == Operand::Kind::kValue; });
}

void Call::Return(Id node) {
  ++num_results_;
  (step_.primitive->result == HandleKind::kBlock ? state_.blocks : state_.loops).push_back(node);
}

absl::Status Call::Draw(const Distribution& distribution) {
  decision_ = chooser_->Choose({step_.site, step_index_, distribution});
  if (!distribution.Contains(decision_)) {
    return absl::FailedPreconditionError(absl::StrCat("the decision ", absl::StrJoin(decision_, " "),
                                                      " is not in the support: ", distribution.ToString()));
  }
  ++num_results_;
  state_.values.push_back(decision_);
  return absl::OkStatus();
}

absl::Status Run(State& state, const Target& target, const Step& step, int step_index, Chooser* chooser,
                 int* num_results, Decision* decision) {
  absl::Status status = Resolve(state, step);
  if (!status.ok()) return At(status, step, step_index);
  Call call(state, target, step, step_index, chooser);
  status = step.primitive->apply(call);
  if (!status.ok()) return At(status, step, step_index);
  if (num_results != nullptr) *num_results = call.num_results();
  if (decision != nullptr && step.primitive->sampling) *decision = call.decision();
#ifdef KILN_VERIFY_EACH_STEP
  if (!step.primitive->reads_only && !step.primitive->sampling) {
    const absl::Status verified = Verify(state.program);
    KILN_CHECK(verified.ok(), "after ", ToString(step), ": ", verified.ToString());
  }
#endif
  return absl::OkStatus();
}

std::string ToString(const Step& step) {
  constexpr const char* kPrefix[] = {"b", "l", "v"};
  std::string text;
  for (int i = 0; i < step.num_results; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", kPrefix[static_cast<int>(step.primitive->result)], step.first_result + i);
  }
  absl::StrAppend(&text, text.empty() ? "" : " = ", step.primitive->name);
  for (const Operand operand : step.operands) absl::StrAppend(&text, " ", ToString(operand));
  for (size_t i = 0; i < step.attributes.size(); ++i) {
    const AttributeDecl& decl = step.primitive->attributes[i];
    if (step.attributes[i] == decl.fallback) continue;
    absl::StrAppend(&text, " ", decl.name, "=", std::visit(AttributePrinter(), step.attributes[i]));
  }
  if (!step.site.empty()) absl::StrAppend(&text, " @", step.site);
  if (!step.decision.empty()) absl::StrAppend(&text, " -> ", absl::StrJoin(step.decision, " "));
  return text;
}

}  // namespace kiln
