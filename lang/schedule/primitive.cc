#include "lang/schedule/primitive.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/legality.h"
#include "lang/base/aliases.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"
#include "lang/patterns/match.h"

namespace kiln {
namespace {

std::map<std::string, const Primitive*, std::less<>>& Registry() {
  static auto* registry = new std::map<std::string, const Primitive*, std::less<>>();
  return *registry;
}

constexpr absl::string_view kKindNames[] = {"block", "loop", "value", "number"};

absl::Status At(const absl::Status& status, const Step& step, int step_index) {
  const std::string where =
      *step.file != '\0' ? absl::StrCat("          (", step.file, ":", step.line, ")") : std::string();
  return absl::Status(status.code(), absl::StrCat("step ", step_index, " does not apply: ", status.message(),
                                                  "\n  step ", step_index, ":  ", ToString(step), where));
}

bool Has(const Step& step, Operand handle) {
  return step.num_results > 0 && static_cast<int>(step.primitive->result) == static_cast<int>(handle.kind) &&
         handle.number >= step.first_result && handle.number < step.first_result + step.num_results;
}

bool Gone(const State& state, Operand handle) {
  if (handle.kind == Operand::Kind::kValue) return false;
  const std::vector<Id>& table = handle.kind == Operand::Kind::kBlock ? state.blocks : state.loops;
  const Node& node = state.program.nodes[table[handle.number]];
  return node.kind == Node::Kind::kDead || node.parent == kNone;
}

// Turns kInvalidArgument into kFailedPrecondition if the step has a sampled operand: a sampled number that does not fit
// is no malformed argument, so the step only does not apply.
absl::Status AsRefusal(const absl::Status& status, const Step& step) {
  const bool drawn = std::any_of(step.operands.begin(), step.operands.end(),
                                 [](Operand o) { return o.kind == Operand::Kind::kValue; });
  return drawn && absl::IsInvalidArgument(status) ? absl::FailedPreconditionError(status.message()) : status;
}

// Checks that every operand names a handle that exists (else kInvalidArgument) and is alive (else kFailedPrecondition).
absl::Status Resolve(const State& state, const Step& step) {
  for (const Operand operand : step.operands) {
    if (operand.kind == Operand::Kind::kInt) continue;
    const bool value = operand.kind == Operand::Kind::kValue;
    const std::vector<Id>& table = operand.kind == Operand::Kind::kBlock ? state.blocks : state.loops;
    const size_t size = value ? state.values.size() : table.size();
    if (operand.number < 0 || operand.number >= static_cast<int64_t>(size)) {
      return absl::InvalidArgumentError(absl::StrCat("there is no ",
                                                     kKindNames[static_cast<int>(operand.kind)], " ",
                                                     ToString(operand), "; the steps before made ", size));
    }
    if (Gone(state, operand)) {
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
  const auto it = Registry().find(std::string(CurrentName(NameKind::kPrimitive, name)));
  return it == Registry().end() ? nullptr : it->second;
}

std::vector<const Primitive*> AllPrimitives() {
  std::vector<const Primitive*> all;
  for (const auto& [name, primitive] : Registry()) all.push_back(primitive);
  return all;
}

absl::Status WithHistory(const absl::Status& status, const State& state, absl::Span<const Step> before,
                         const Step& step) {
  std::string text(status.message());
  std::vector<Operand> told;
  for (const Operand handle : step.operands) {
    if (handle.kind == Operand::Kind::kInt || std::count(told.begin(), told.end(), handle) > 0) continue;
    told.push_back(handle);
    bool made = false;
    for (size_t i = 0; i < before.size(); ++i) {
      if (Has(before[i], handle)) {
        made = true;
        absl::StrAppend(&text, "\n  ", ToString(handle), " was made by step ", i, ":  ", ToString(before[i]));
      }
    }
    if (!made || !Gone(state, handle)) continue;
    for (size_t i = before.size(); i-- > 0;) {
      const auto& operands = before[i].operands;
      if (before[i].primitive->reads_only || std::count(operands.begin(), operands.end(), handle) == 0)
        continue;
      absl::StrAppend(&text, "\n  ", ToString(handle), " was used up by step ", i, ":  ",
                      ToString(before[i]));
      break;
    }
  }
  return absl::Status(status.code(), text);
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

Decision Call::value(int i) const {
  const Operand operand = step_.operands[i];
  return operand.kind == Operand::Kind::kValue ? state_.values[operand.number] : Decision{operand.number};
}

bool Call::sampled(int from) const {
  return std::any_of(step_.operands.begin() + from, step_.operands.end(),
                     [](Operand o) { return o.kind == Operand::Kind::kValue; });
}

void Call::Return(Id node) {
  ++num_results_;
  (step_.primitive->result == HandleKind::kBlock ? state_.blocks : state_.loops).push_back(node);
}

void Call::Return(Decision value) {
  ++num_results_;
  state_.values.push_back(std::move(value));
}

absl::Status Call::Draw(const Distribution& whole) {
  const auto& only = Ints(static_cast<int>(step_.attributes.size()) - 1);
  const Distribution distribution = only.empty() ? whole : Distribution::Only(whole, only);
  if (distribution.SupportSize() == 0)
    return absl::FailedPreconditionError(absl::StrCat("none of the decisions that are left, ",
                                                      absl::StrJoin(only, " "),
                                                      ", is one of the support: ", whole.ToString()));
  decision_ = chooser_->Choose({step_.site, step_index_, distribution});
  if (!distribution.Contains(decision_)) {
    return absl::FailedPreconditionError(absl::StrCat("the decision ", absl::StrJoin(decision_, " "),
                                                      " is not in the support: ", distribution.ToString()));
  }
  Return(decision_);
  return absl::OkStatus();
}

std::string AssumptionsOf(absl::Span<const Step> steps) {
  std::set<absl::string_view> assumptions;
  for (const Step& step : steps) {
    if (*step.primitive->assumes != '\0') assumptions.insert(step.primitive->assumes);
    if (step.primitive == FindPrimitive("annotate-block") &&
        std::get<std::string>(step.attributes[0]) == kAssumeFinite &&
        std::get<int64_t>(step.attributes[1]) != 0)
      assumptions.insert(kFiniteFactors);
  }
  return absl::StrJoin(assumptions, "; ");
}

absl::Status Run(State& state, const Target& target, const Step& step, int step_index, Chooser* chooser,
                 int* num_results, Decision* decision) {
  absl::Status status = Resolve(state, step);
  if (!status.ok()) return At(status, step, step_index);
  Call call(state, target, step, step_index, chooser);
  const bool moves = !step.primitive->sampling && !step.primitive->reads_only;
  if (step.primitive->lemma && state.transformed)
    return At(
        absl::FailedPreconditionError("a lemma changes what is computed, and comes before the first step "
                                      "that transforms the program"),
        step, step_index);
  const bool calls = moves && HasCalls(state.program);
  const bool restricted = moves && (step.primitive->restricts || Restricted(state.program));
  std::optional<State> before;
  if (calls || restricted) before = state;
  status = step.primitive->apply(call);
  if (status.ok() && calls && !KILN_DEFECT("tensorize.changed")) {
    status = CheckCalls(state.program, &before->program);
    if (!status.ok())
      status = absl::FailedPreconditionError(
          absl::StrCat("it would change the inside of a call: ", status.message()));
  }
  if (status.ok() && restricted) status = CheckRestrictions(state.program);
  if (!status.ok() && before.has_value()) state = *std::move(before);
  if (!status.ok()) return At(AsRefusal(status, step), step, step_index);
  if (step.primitive->lemma) state.lemma = std::make_shared<Program>(state.program);
  state.transformed |= moves && !step.primitive->lemma;
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

}  // namespace kiln
