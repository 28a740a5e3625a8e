#include "lang/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/check.h"

namespace kiln {
namespace {

Operand Of(Block b) { return {Operand::Kind::kBlock, b.number}; }
Operand Of(Loop l) { return {Operand::Kind::kLoop, l.number}; }
Operand Of(Value v) { return {Operand::Kind::kValue, v.number}; }

std::vector<Operand> Of(const std::vector<Loop>& loops) {
  std::vector<Operand> operands;
  for (const Loop loop : loops) operands.push_back(Of(loop));
  return operands;
}

// An inert schedule gives more inert handles than code is likely to index.
constexpr int kInertHandles = 64;

bool Inert(Operand o) { return o.kind != Operand::Kind::kInt && o.number < 0; }

std::vector<Operand> TileOperands(Loop loop, const Schedule::TileOptions& options) {
  std::vector<Operand> operands{Of(loop)};
  for (const Value value : options.within) operands.push_back(Of(value));
  return operands;
}

std::vector<Attribute> TileAttributes(const Schedule::TileOptions& options) {
  return {int64_t{options.parts}, options.innermost, options.budget,
          options.bound,          options.most,      options.multiple};
}

std::vector<Operand> Of(const std::vector<Factor>& factors) {
  std::vector<Operand> operands;
  for (const Factor& factor : factors) operands.push_back(factor.operand);
  return operands;
}

std::vector<Operand> WithFactors(Loop loop, const std::vector<Factor>& factors) {
  std::vector<Operand> operands = Of(factors);
  operands.insert(operands.begin(), Of(loop));
  return operands;
}

struct FixedChooser final : Chooser {
  explicit FixedChooser(const Decision& decision) : decision(decision) {}
  Decision Choose(const Site&) override { return decision; }
  int ChooseStructure(absl::string_view, int) override { return 0; }
  const Decision& decision;
};

// The names in use are numbered from the second on: "a", "a#1", ...
template <typename List, typename NameOf>
std::string Numbered(const std::string& base, const List& list, NameOf name_of) {
  std::string name = base;
  const auto taken = [&](const auto& item) { return name_of(item) == name; };
  for (int i = 1; std::any_of(list.begin(), list.end(), taken); ++i) name = absl::StrCat(base, "#", i);
  return name;
}

}  // namespace

Schedule::Schedule(Program program, const Target& target, Chooser& chooser)
    : target_(target), chooser_(&chooser) {
  state_.program = std::move(program);
}

void Schedule::Fail(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

int64_t Schedule::ExtentOf(Loop loop) {
  if (!ok()) return 0;
  const Id id = node(loop);
  KILN_CHECK(id != kNone, "an inert handle of a schedule that is not inert");
  const LoopNode& l = program().loops[program().nodes[id].index];
  if (l.tainted) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("\"", section_, "\" asks for the extent of loop ", program().Text(l.name),
                     ", which depends on a sampled value; only recorded steps may use it")));
    return 0;
  }
  return l.extent.max;
}

Schedule::Section::Section(Schedule& schedule, absl::string_view name)
    : schedule_(schedule), length_(schedule.section_.size()) {
  absl::StrAppend(&schedule.section_, name, "/");
}

Schedule::Section::~Section() { schedule_.section_.resize(length_); }

int Schedule::Choose(absl::string_view name, int n) {
  if (!ok() || n <= 1) return 0;
  const std::string full = Numbered(absl::StrCat(section_, name), choices_,
                                    [](const Choice& c) -> const std::string& { return c.name; });
  const int picked = chooser_->ChooseStructure(full, n);
  KILN_CHECK(picked >= 0 && picked < n, "choice ", full);
  choices_.push_back({full, n, picked});
  return picked;
}

std::string Schedule::SiteName(absl::string_view label) const {
  return Numbered(absl::StrCat(section_, label), steps_,
                  [](const Step& s) -> const std::string& { return s.site; });
}

Schedule::Results Schedule::Do(absl::string_view name, std::vector<Operand> operands,
                               std::vector<Attribute> attributes, Where where, absl::string_view label) {
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
  if (primitive->sampling) step.site = SiteName(label);
  const auto inert = std::find_if(operands.begin(), operands.end(), Inert);
  if (inert != operands.end()) {
    Fail(absl::InvalidArgumentError(absl::StrCat(name, " at ", step.file, ":", step.line,
                                                 ": an operand is an inert handle; no step returned it")));
    return {};
  }
  return Take(std::move(step), *chooser_);
}

Schedule::Results Schedule::Take(Step step, Chooser& chooser) {
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

void Schedule::Apply(absl::Span<const Step> steps, absl::Span<const Choice> choices) {
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

template <typename Handle>
std::vector<Handle> Schedule::ListOf(Results results) {
  if (results.first < 0) return std::vector<Handle>(kInertHandles);
  std::vector<Handle> handles;
  for (int i = 0; i < results.count; ++i) handles.push_back({results.first + i});
  return handles;
}

Block Schedule::GetBlock(absl::string_view name, Where where) {
  return BlockOf(Do("get-block", {}, {std::string(name)}, where));
}

std::vector<Loop> Schedule::GetLoops(Block block, Where where) {
  return ListOf<Loop>(Do("get-loops", {Of(block)}, {}, where));
}

std::vector<Block> Schedule::GetProducers(Block block, Where where) {
  return ListOf<Block>(Do("get-producers", {Of(block)}, {}, where));
}

std::vector<Block> Schedule::GetConsumers(Block block, Where where) {
  return ListOf<Block>(Do("get-consumers", {Of(block)}, {}, where));
}

Value Schedule::SamplePerfectTile(Loop loop, TileOptions options, absl::string_view label, Where where) {
  return {Do("sample-perfect-tile", TileOperands(loop, options), TileAttributes(options), where,
             label.empty() ? "tile" : label)
              .first};
}

Value Schedule::SampleTile(Loop loop, TileOptions options, absl::string_view label, Where where) {
  std::vector<Attribute> attributes = TileAttributes(options);
  attributes.emplace_back(options.waste);
  return {Do("sample-tile", TileOperands(loop, options), std::move(attributes), where,
             label.empty() ? "tile" : label)
              .first};
}

Value Schedule::SampleCategorical(const std::vector<int64_t>& values, const std::vector<double>& weights,
                                  absl::string_view label, Where where) {
  return {
      Do("sample-categorical", {}, {values, weights}, where, label.empty() ? "categorical" : label).first};
}

Value Schedule::SampleComputeLocation(Block block, absl::string_view label, Where where) {
  return {Do("sample-compute-location", {Of(block)}, {}, where, label.empty() ? "location" : label).first};
}

Value Schedule::Multiply(const std::vector<Factor>& numbers, Where where) {
  return {Do("multiply", Of(numbers), {}, where).first};
}
Value Schedule::Add(const std::vector<Factor>& numbers, Where where) {
  return {Do("add", Of(numbers), {}, where).first};
}
Value Schedule::Part(Value tile, int index, Where where) {
  return {Do("part", {Of(tile)}, {int64_t{index}}, where).first};
}
std::vector<Loop> Schedule::Split(Loop loop, const std::vector<Factor>& factors, Where where) {
  return ListOf<Loop>(Do("split", WithFactors(loop, factors), {}, where));
}

Loop Schedule::Merge(Loop first, Loop second, Where where) {
  return {Do("merge", {Of(first), Of(second)}, {}, where).first};
}

std::vector<Loop> Schedule::LoopPartition(Loop loop, const std::vector<Factor>& sizes, Where where) {
  return ListOf<Loop>(Do("loop-partition", WithFactors(loop, sizes), {}, where));
}

Loop Schedule::Fuse(const std::vector<Loop>& loops, Where where) {
  return {Do("fuse", Of(loops), {}, where).first};
}
void Schedule::Reorder(const std::vector<Loop>& loops, Where where) { Do("reorder", Of(loops), {}, where); }

Loop Schedule::AddUnitLoop(Loop below, Where where) {
  return {Do("add-unit-loop", {Of(below)}, {}, where).first};
}
Loop Schedule::AddUnitLoop(Block below, Where where) {
  return {Do("add-unit-loop-at", {Of(below)}, {}, where).first};
}
void Schedule::Parallel(Loop loop, Where where) { Do("parallel", {Of(loop)}, {}, where); }
void Schedule::Vectorize(Loop loop, Where where) { Do("vectorize", {Of(loop)}, {}, where); }
void Schedule::Unroll(Loop loop, Where where) { Do("unroll", {Of(loop)}, {}, where); }

void Schedule::Bind(Loop loop, LoopKind axis, Where where) {
  Do("bind", {Of(loop)}, {std::string(ToString(axis))}, where);
}

void Schedule::ComputeAt(Block block, Loop loop, absl::string_view place, Where where) {
  Do("compute-at", {Of(block), Of(loop)}, {std::string(place)}, where);
}
void Schedule::ReverseComputeAt(Block block, Loop loop, absl::string_view place, Where where) {
  Do("reverse-compute-at", {Of(block), Of(loop)}, {std::string(place)}, where);
}
void Schedule::ComputeInline(Block block, Where where) { Do("compute-inline", {Of(block)}, {}, where); }
void Schedule::ReverseComputeInline(Block block, Where where) {
  Do("reverse-compute-inline", {Of(block)}, {}, where);
}
void Schedule::ComputeAtLocation(Block block, Value location, Where where) {
  Do("compute-at-location", {Of(block), Of(location)}, {}, where);
}

Block Schedule::CacheRead(Block block, int operand, absl::string_view storage, Where where) {
  return BlockOf(Do("cache-read", {Of(block)}, {int64_t{operand}, std::string(storage)}, where));
}
Block Schedule::CacheWrite(Block block, absl::string_view storage, Where where) {
  return BlockOf(Do("cache-write", {Of(block)}, {std::string(storage)}, where));
}
Block Schedule::AccumulateAt(Block block, Loop loop, absl::string_view storage, Where where) {
  return BlockOf(Do("accumulate-at", {Of(block), Of(loop)}, {std::string(storage)}, where));
}
Block Schedule::Reindex(Block block, int n, absl::string_view storage, Where where) {
  return BlockOf(Do("reindex", {Of(block)}, {int64_t{n}, std::string(storage)}, where));
}
std::vector<Block> Schedule::PadEinsum(Block block, const std::vector<int64_t>& to, Where where) {
  return ListOf<Block>(Do("pad-einsum", {Of(block)}, {to}, where));
}
Block Schedule::DecomposePadding(Block block, Loop loop, Where where) {
  return BlockOf(Do("decompose-padding", {Of(block), Of(loop)}, {}, where));
}
void Schedule::TransformLayout(Block block, int operand, absl::string_view map, Where where) {
  Do("transform-layout", {Of(block)}, {int64_t{operand}, std::string(map)}, where);
}
void Schedule::SetScope(Block block, absl::string_view storage, Where where) {
  Do("set-scope", {Of(block)}, {std::string(storage)}, where);
}

Block Schedule::Blockize(Loop loop, Where where) { return BlockOf(Do("blockize", {Of(loop)}, {}, where)); }
void Schedule::Tensorize(Block tile, absl::string_view intrinsic, Where where) {
  Do("tensorize", {Of(tile)}, {std::string(intrinsic)}, where);
}
void Schedule::Tensorize(Loop loop, absl::string_view intrinsic, Where where) {
  Tensorize(Blockize(loop, where), intrinsic, where);
}
std::array<Loop, 3> Schedule::Einsum(Block block, const std::vector<int64_t>& to, Where where) {
  return First<3>(ListOf<Loop>(Do("einsum", {Of(block)}, {to}, where)));
}

Block Schedule::Rfactor(Block block, Loop loop, int axis, absl::string_view storage, Where where) {
  return BlockOf(Do("rfactor", {Of(block), Of(loop)}, {int64_t{axis}, std::string(storage)}, where));
}
Block Schedule::DecomposeReduction(Block block, Loop loop, Where where) {
  return BlockOf(Do("decompose-reduction", {Of(block), Of(loop)}, {}, where));
}

void Schedule::Annotate(Block block, absl::string_view key, int64_t value, Where where) {
  Do("annotate-block", {Of(block)}, {std::string(key), value}, where);
}
void Schedule::Annotate(Loop loop, absl::string_view key, int64_t value, Where where) {
  Do("annotate-loop", {Of(loop)}, {std::string(key), value}, where);
}

void Schedule::ParallelizeOuter(Factor limit, Where where) {
  Do("parallelize-outer", {limit.operand}, {}, where);
}
void Schedule::VectorizeInner(Factor lanes, Where where) {
  Do("vectorize-inner", {lanes.operand}, {}, where);
}
void Schedule::UnrollUpTo(Factor steps, Where where) { Do("unroll-up-to", {steps.operand}, {}, where); }

}  // namespace kiln
