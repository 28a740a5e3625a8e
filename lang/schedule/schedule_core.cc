#include "lang/schedule/schedule_core.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lang/base/aliases.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

bool Inert(Operand o) { return o.kind != Operand::Kind::kInt && o.number < 0; }

struct FixedChooser final : Chooser {
  explicit FixedChooser(const Decision& decision) : decision(decision) {}
  Decision Choose(const Site&) override { return decision; }
  int ChooseStructure(absl::string_view, int) override { return 0; }
  const Decision& decision;
};

// Returns a name that no item of the list has: `base`, or base#1, base#2, ... if the list has it already.
template <typename List, typename NameOf>
std::string Numbered(const std::string& base, const List& list, NameOf name_of) {
  std::string name = base;
  const auto taken = [&](const auto& item) { return name_of(item) == name; };
  for (int i = 1; std::any_of(list.begin(), list.end(), taken); ++i) name = absl::StrCat(base, "#", i);
  return name;
}

}  // namespace

ScheduleCore::ScheduleCore(Program program, const Target& target, Chooser& chooser)
    : target_(target), chooser_(&chooser) {
  state_.program = std::move(program);
  status_ = CheckConstantExtents(state_.program, "a schedule");
  TakePastTheEnd();  // forgets accesses of an earlier schedule
}

void ScheduleCore::CheckLists() {
  const PastTheEnd* use = TakePastTheEnd();
  if (use == nullptr) return;
  Fail(absl::InvalidArgumentError(absl::StrCat(
      use->where.file_name(), ":", use->where.line(), ": \"", section_, "\" asks for handle ", use->index,
      " of a list of ", use->size, use->size == 0 ? "" : absl::StrCat(", which has 0 to ", use->size - 1),
      "; compare with size() first")));
}

void ScheduleCore::Fail(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

Id ScheduleCore::NodeOf(const std::vector<Id>& nodes, int32_t handle, Node::Kind kind, Where where) {
  if (handle >= 0 && handle < static_cast<int64_t>(nodes.size())) return nodes[handle];
  CheckLists();
  Fail(absl::InvalidArgumentError(
      absl::StrCat(where.file_name(), ":", where.line(), ": \"", section_,
                   "\" asks for the node of an inert handle; no step returned it")));
  const auto any = std::find_if(program().nodes.begin(), program().nodes.end(),
                                [&](const Node& node) { return node.kind == kind; });
  return any == program().nodes.end() ? kRoot : static_cast<Id>(any - program().nodes.begin());
}
Id ScheduleCore::node(Block block, Where where) {
  return NodeOf(state_.blocks, block.number, Node::Kind::kBlock, where);
}
Id ScheduleCore::node(Loop loop, Where where) {
  return NodeOf(state_.loops, loop.number, Node::Kind::kLoop, where);
}

int64_t ScheduleCore::ExtentOf(Loop loop, Where where) {
  CheckLists();
  if (!ok()) return 0;
  const Id id = node(loop, where);
  if (!ok()) return 0;
  const LoopNode& l = program().loops[program().nodes[id].index];
  if (l.tainted) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("\"", section_, "\" asks for the extent of loop ", program().Text(l.name),
                     ", which depends on a sampled value; only recorded steps may use it")));
    return 0;
  }
  return l.extent.Known();
}

ScheduleCore::Section::Section(ScheduleCore& schedule, absl::string_view name)
    : schedule_(schedule), length_(schedule.section_.size()) {
  absl::StrAppend(&schedule.section_, name, "/");
}

ScheduleCore::Section::~Section() {
  schedule_.CheckLists();
  schedule_.section_.resize(length_);
}

int ScheduleCore::Choose(absl::string_view name, int n) {
  CheckLists();
  if (!ok() || n <= 1) return 0;
  const std::string full = Numbered(StoredPath(absl::StrCat(section_, name)), choices_,
                                    [](const Choice& c) -> const std::string& { return c.name; });
  const std::vector<int64_t>* only = PinOf(full);
  const int open = only == nullptr ? n : static_cast<int>(only->size());
  int picked = chooser_->ChooseStructure(full, open);
  KILN_CHECK(picked >= 0 && picked < open, "choice ", full);
  if (only != nullptr) picked = static_cast<int>((*only)[picked]);
  if (picked < 0 || picked >= n) {
    Fail(absl::InvalidArgumentError(absl::StrCat("choice ", CurrentPath(full), " is pinned to ", picked,
                                                 ", but has ", n, " alternatives, from 0 on")));
    return 0;
  }
  choices_.push_back({full, n, picked});
  return picked;
}

int ScheduleCore::Choose(absl::string_view name, absl::Span<const std::string> alternatives) {
  const size_t before = choices_.size();
  const int picked = Choose(name, static_cast<int>(alternatives.size()));
  if (choices_.size() > before) choices_.back().alternative = alternatives[picked];
  return picked;
}

bool ScheduleCore::Skip(const absl::Status& why) {
  if (!ok()) return true;
  if (why.ok()) return false;
  const Declined note{section_.substr(0, section_.size() - !section_.empty()), std::string(why.message())};
  if (std::find(declined_.begin(), declined_.end(), note) == declined_.end()) declined_.push_back(note);
  return true;
}

void ScheduleCore::Pin(absl::string_view name, std::vector<int64_t> only) {
  if (only.empty()) Fail(absl::InvalidArgumentError(absl::StrCat("the pin of ", name, " leaves nothing")));
  pins_.push_back({StoredPath(name), std::move(only)});
}

const std::vector<int64_t>* ScheduleCore::PinOf(absl::string_view full) const {
  const auto pin = std::find_if(pins_.rbegin(), pins_.rend(), [&](const Pinned& p) {
    return full == p.name || absl::EndsWith(full, absl::StrCat("/", p.name));
  });
  return pin == pins_.rend() ? nullptr : &pin->only;
}

std::string ScheduleCore::SiteName(absl::string_view label) const {
  return Numbered(StoredPath(absl::StrCat(section_, label)), steps_,
                  [](const Step& s) -> const std::string& { return s.site; });
}

ScheduleCore::Results ScheduleCore::Do(absl::string_view name, std::vector<Operand> operands,
                                       std::vector<Attribute> attributes, Where where,
                                       absl::string_view label) {
  CheckLists();
  if (!ok()) return {};
  const Primitive* primitive = FindPrimitive(name);
  KILN_CHECK(primitive != nullptr, name);
  Step step;
  step.primitive = primitive;
  step.operands.assign(operands.begin(), operands.end());
  step.attributes.assign(attributes.begin(), attributes.end());
  for (size_t i = attributes.size(); i < primitive->attributes.size(); ++i) {
    step.attributes.push_back(primitive->attributes[i].fallback);
  }
  step.file = where.file_name();
  step.line = static_cast<int>(where.line());
  if (primitive->sampling) {
    step.site = SiteName(label);
    if (const std::vector<int64_t>* only = PinOf(step.site)) step.attributes.back() = *only;
  }
  const auto inert = std::find_if(operands.begin(), operands.end(), Inert);
  if (inert != operands.end()) {
    Fail(absl::InvalidArgumentError(absl::StrCat(name, " at ", step.file, ":", step.line,
                                                 ": an operand is an inert handle; no step returned it")));
    return {};
  }
  return Take(std::move(step), *chooser_);
}

ScheduleCore::Results ScheduleCore::Take(Step step, Chooser& chooser) {
  const HandleKind kind = step.primitive->result;
  step.first_result = static_cast<int>(kind == HandleKind::kBlock  ? state_.blocks.size()
                                       : kind == HandleKind::kLoop ? state_.loops.size()
                                                                   : state_.values.size());
  const int index = static_cast<int>(steps_.size());
  const absl::Status status = Run(state_, target_, step, index, &chooser, &step.num_results, &step.decision);
  if (!status.ok()) {
    Fail(WithHistory(status, state_, steps_, step));
    return {};
  }
  steps_.push_back(std::move(step));
  return {steps_.back().first_result, steps_.back().num_results};
}

void ScheduleCore::Apply(absl::Span<const Step> steps, absl::Span<const Choice> choices) {
  KILN_CHECK(steps_.empty() && choices_.empty(), "the schedule has taken steps already");
  choices_.assign(choices.begin(), choices.end());
  for (const Step& step : steps) {
    if (!ok()) return;
    FixedChooser recorded(step.decision);
    Chooser& chooser = step.decision.empty() ? *chooser_ : static_cast<Chooser&>(recorded);
    const Results results = Take(step, chooser);
    if (ok() && results.count != step.num_results) {
      Fail(absl::FailedPreconditionError(
          absl::StrCat("step ", steps_.size() - 1, " does not apply: it gives ", results.count,
                       " results here, but the trace names ", step.num_results)));
    }
  }
}

}  // namespace kiln
