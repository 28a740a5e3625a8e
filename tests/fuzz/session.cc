#include "tests/fuzz/session.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/text/hash.h"

namespace kiln::fuzz {
namespace {

// A chooser that returns the given decision if it is in the support, and draws one otherwise.
class GivenOrDrawn final : public Chooser {
 public:
  GivenOrDrawn(const Decision& given, Dice& dice) : given_(given), dice_(dice) {}
  Decision Choose(const Site& site) override {
    return site.distribution.Contains(given_) ? given_ : site.distribution.Sample(dice_);
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  const Decision& given_;
  Dice& dice_;
};

template <typename T>
bool SameBytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool SameBytes(const Program& a, const Program& b) {
  return SameBytes(a.nodes, b.nodes) && SameBytes(a.loops, b.loops) && SameBytes(a.blocks, b.blocks) &&
         SameBytes(a.buffers, b.buffers) && SameBytes(a.iters, b.iters) && SameBytes(a.marks, b.marks) &&
         SameBytes(a.splits, b.splits) && SameBytes(a.accesses, b.accesses) && SameBytes(a.lists, b.lists) &&
         SameBytes(a.dims, b.dims) && SameBytes(a.pipelines, b.pipelines) && SameBytes(a.stages, b.stages) &&
         SameBytes(a.rings, b.rings) && a.parameters == b.parameters && a.names == b.names;
}

std::string TextOf(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return absl::StrCat("\"", *text, "\"");
  if (const auto* number = std::get_if<int64_t>(&attribute))
    return *number > 8 ? ">8" : absl::StrCat(*number);
  return "...";
}

}  // namespace

Target& FuzzTarget() {
  static auto* const target = new Target();
  return *target;
}

void Coverage::Add(const Coverage& other) {
  for (const auto& [key, count] : other.steps) {
    steps[key].applied += count.applied;
    steps[key].refused += count.refused;
  }
  for (const auto& [key, count] : other.cases) cases[key] += count;
}

void Session::Count(const Step& step, bool applied) {
  if (coverage_ == nullptr) return;
  const auto count = [&](const std::string& key) {
    Coverage::Count& c = coverage_->steps[key];
    ++(applied ? c.applied : c.refused);
  };
  count(step.primitive->name);
  for (size_t i = 0; i < step.attributes.size(); ++i) {
    const absl::string_view name = step.primitive->attributes[i].name;
    if (absl::string_view(step.primitive->name) == "get-block") continue;
    count(absl::StrCat(step.primitive->name, " ", name, "=", TextOf(step.attributes[i])));
  }
}

Broken Session::Check(const Step& step, const State& before, const absl::Status& status) const {
  if (status.ok()) {
    if (step.primitive->reads_only) return {};
    const absl::Status valid = Verify(state_.program);
    return valid.ok() ? Broken() : Broken{"verify", std::string(valid.message())};
  }
  if (status.code() != absl::StatusCode::kFailedPrecondition &&
      status.code() != absl::StatusCode::kInvalidArgument) {
    return {"status", status.ToString()};
  }
  if (state_.blocks.size() != before.blocks.size() || state_.loops.size() != before.loops.size() ||
      state_.values.size() != before.values.size()) {
    return {"refused", absl::StrCat("left handles behind: ", status.message())};
  }
  if (!SameBytes(state_.program, before.program)) {
    return {"refused", absl::StrCat("changed the program: ", status.message())};
  }
  return {};
}

bool Session::Try(Step step, Dice& dice) {
  const State before = state_;
  const size_t sizes[] = {state_.blocks.size(), state_.loops.size(), state_.values.size()};
  const Decision given = step.decision;
  step.decision.clear();
  step.first_result = static_cast<int>(sizes[static_cast<int>(step.primitive->result)]);
  step.num_results = 0;
  GivenOrDrawn chooser(given, dice);
  const absl::Status status = Run(state_, FuzzTarget(), step, static_cast<int>(trace_.steps.size()), &chooser,
                                  &step.num_results, &step.decision);
  Count(step, status.ok());
  broken_ = Check(step, before, status);
  if (broken_) absl::StrAppend(&broken_.message, "\n  after ", ToString(step));
  if (status.ok() || broken_) trace_.steps.push_back(std::move(step));
  return status.ok();
}

void Session::LookUp(Dice& dice) {
  const auto has = [](const std::vector<Id>& table, Id node) {
    return std::find(table.begin(), table.end(), node) != table.end();
  };
  for (const Id block : Blocks(state_.program)) {
    if (!has(state_.blocks, block)) {
      Step step;
      step.primitive = FindPrimitive("get-block");
      step.attributes.push_back(std::string(state_.program.Text(state_.program.block(block).name)));
      Try(step, dice);
    }
    const std::vector<Id> loops = LoopsAround(state_.program, block);
    if (std::all_of(loops.begin(), loops.end(), [&](Id l) { return has(state_.loops, l); })) continue;
    const auto number = std::find(state_.blocks.begin(), state_.blocks.end(), block) - state_.blocks.begin();
    Step step;
    step.primitive = FindPrimitive("get-loops");
    step.operands.push_back({Operand::Kind::kBlock, number});
    Try(step, dice);
  }
}

Session Rerun(const Trace& trace, Program program, const std::vector<bool>& skip, Dice& dice,
              Coverage* coverage) {
  Session session(std::move(program), coverage);
  std::map<std::pair<int, int64_t>, int64_t> renamed;
  for (size_t i = 0; i < trace.steps.size() && !session.broken(); ++i) {
    Step step = trace.steps[i];
    bool known = !(i < skip.size() && skip[i]);
    for (Operand& operand : step.operands) {
      if (operand.kind == Operand::Kind::kInt) continue;
      const auto it = renamed.find({static_cast<int>(operand.kind), operand.number});
      known &= it != renamed.end();
      if (known) operand.number = it->second;
    }
    if (!known || !session.Try(step, dice) || session.broken()) continue;
    const Step& done = session.trace().steps.back();
    for (int r = 0; r < std::min(done.num_results, step.num_results); ++r)
      renamed[{static_cast<int>(step.primitive->result), step.first_result + r}] = done.first_result + r;
  }
  return session;
}

}  // namespace kiln::fuzz
