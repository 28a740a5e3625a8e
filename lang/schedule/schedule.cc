#include "lang/schedule/schedule.h"

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

// The bounds of a sampled tile that are operands of its step: those of `each` (but for the number 0), and those of
// `most` that are sampled values. Bounds in `most` that are plain numbers are in the step's attribute `most`.
struct TileBoundOperands {
  std::vector<Operand> operands;
  std::vector<int64_t> most, each;  // which bound each operand is
};
bool IsNumber(const Factor& factor) { return factor.operand.kind == Operand::Kind::kInt; }

TileBoundOperands BoundOperandsOf(const Schedule::TileOptions& options) {
  TileBoundOperands bounds;
  for (size_t i = 0; i < options.most.size(); ++i) {
    if (IsNumber(options.most[i])) continue;
    bounds.operands.push_back(options.most[i].operand);
    bounds.most.push_back(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < options.each.size(); ++i) {
    if (IsNumber(options.each[i]) && options.each[i].operand.number == 0) continue;
    bounds.operands.push_back(options.each[i].operand);
    bounds.each.push_back(static_cast<int64_t>(i));
  }
  return bounds;
}

std::vector<Operand> TileOperands(Loop loop, const Schedule::TileOptions& options) {
  std::vector<Operand> operands{Of(loop)};
  for (const Value value : options.within) operands.push_back(Of(value));
  const TileBoundOperands bounds = BoundOperandsOf(options);
  operands.insert(operands.end(), bounds.operands.begin(), bounds.operands.end());
  return operands;
}

std::vector<Attribute> TileAttributes(const Schedule::TileOptions& options) {
  const TileBoundOperands bounds = BoundOperandsOf(options);
  std::vector<int64_t> most;
  for (const Factor& bound : options.most) most.push_back(IsNumber(bound) ? bound.operand.number : 0);
  while (!bounds.most.empty() && !most.empty() && most.back() == 0) most.pop_back();
  return {int64_t{options.parts}, options.innermost, options.budget, options.bound, most,
          options.multiple,       options.lanes,     bounds.most,    bounds.each};
}

std::vector<Operand> Of(const std::vector<Factor>& factors) {
  std::vector<Operand> operands;
  for (const Factor& factor : factors) operands.push_back(factor.operand);
  return operands;
}

template <class Handle>
std::vector<Operand> WithFactors(Handle loop, const std::vector<Factor>& factors) {
  std::vector<Operand> operands = Of(factors);
  operands.insert(operands.begin(), Of(loop));
  return operands;
}

}  // namespace

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
Value Schedule::SampleCategoricalUpTo(Factor most, const std::vector<int64_t>& values,
                                      absl::string_view label, Where where) {
  return {Do("sample-categorical", {most.operand}, {values, std::vector<double>()}, where,
             label.empty() ? "categorical" : label)
              .first};
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
Value Schedule::Divide(Factor number, Factor by, Where where) {
  return {Do("divide", {number.operand, by.operand}, {}, where).first};
}
Value Schedule::Subtract(Factor number, Factor less, Where where) {
  return {Do("subtract", {number.operand, less.operand}, {}, where).first};
}
Value Schedule::Minimum(const std::vector<Factor>& numbers, Where where) {
  return {Do("minimum", Of(numbers), {}, where).first};
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

void Schedule::Pipeline(Loop loop, PipelineOptions options, Where where) {
  Do("pipeline", WithFactors(loop, options.depths),
     {options.stages, options.order, std::vector<int64_t>(), options.transport, options.producers}, where);
}
Block Schedule::AccumulateIn(Block block, absl::string_view dtype, Where where) {
  return BlockOf(Do("accumulate-in", {Of(block)}, {std::string(dtype)}, where));
}
void Schedule::AssumeFinite(Block block, Where where) { Do("assume-finite", {Of(block)}, {}, where); }
void Schedule::SkipZeros(Block block, Where where) { Do("skip-zeros", {Of(block)}, {}, where); }
void Schedule::Prepare(Block block, Where where) { Do("prepare", {Of(block)}, {}, where); }

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
Block Schedule::CacheReadForAll(Block block, int operand, absl::string_view storage, Where where) {
  return BlockOf(
      Do("cache-read", {Of(block)}, {int64_t{operand}, std::string(storage), std::string("all")}, where));
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
void Schedule::TransformLayout(Block block, int operand, absl::string_view map,
                               const std::vector<Factor>& numbers, Where where) {
  Do("transform-layout", WithFactors(block, numbers), {int64_t{operand}, std::string(map)}, where);
}

void Schedule::TransformLayout(Block block, int operand, absl::string_view map, Swizzle swizzle,
                               Where where) {
  Do("transform-layout", {Of(block)},
     {int64_t{operand}, std::string(map), std::vector<int64_t>{swizzle.from, swizzle.to, swizzle.bits}},
     where);
}
void Schedule::TransformLayout(Block block, int operand, absl::string_view map, absl::string_view kinds,
                               Where where) {
  Do("transform-layout", {Of(block)},
     {int64_t{operand}, std::string(map), std::vector<int64_t>(), std::string(kinds)}, where);
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
void Schedule::Call(Block block, absl::string_view intrinsic, Where where) {
  Do("call", {Of(block)}, {std::string(intrinsic)}, where);
}
void Schedule::SwizzleLines(Block block, Where where) { Do("swizzle-lines", {Of(block)}, {}, where); }
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
void Schedule::RfactorLanes(Factor lanes, Where where) { Do("rfactor-lanes", {lanes.operand}, {}, where); }
void Schedule::CooperativeFetch(Block block, Factor vector, Where where) {
  Do("cooperative-fetch", {Of(block), vector.operand}, {}, where);
}
void Schedule::BindRest(Factor blocks, Factor threads, Where where) {
  Do("bind-rest", {blocks.operand, threads.operand}, {}, where);
}
void Schedule::UnrollUpTo(Factor steps, Where where) { Do("unroll-up-to", {steps.operand}, {}, where); }

}  // namespace kiln
