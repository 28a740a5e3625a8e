#include "lang/schedule/schedule.h"

namespace kiln {
namespace {

std::vector<Operand> LoopOperands(const std::vector<Loop>& loops) {
  std::vector<Operand> operands;
  for (const Loop loop : loops) operands.push_back(OperandOf(loop));
  return operands;
}

template <class Handle>
std::vector<Operand> WithFactors(Handle loop, const std::vector<Factor>& factors) {
  std::vector<Operand> operands = OperandsOf(factors);
  operands.insert(operands.begin(), OperandOf(loop));
  return operands;
}

}  // namespace

Block Schedule::GetBlock(absl::string_view name, Where where) {
  return BlockOf(Do("get-block", {}, {std::string(name)}, where));
}

std::vector<Loop> Schedule::GetLoops(Block block, Where where) {
  return ListOf<Loop>(Do("get-loops", {OperandOf(block)}, {}, where));
}

std::vector<Block> Schedule::GetProducers(Block block, Where where) {
  return ListOf<Block>(Do("get-producers", {OperandOf(block)}, {}, where));
}

std::vector<Block> Schedule::GetConsumers(Block block, Where where) {
  return ListOf<Block>(Do("get-consumers", {OperandOf(block)}, {}, where));
}

std::vector<Loop> Schedule::Split(Loop loop, const std::vector<Factor>& factors, Where where) {
  return ListOf<Loop>(Do("split", WithFactors(loop, factors), {}, where));
}

Loop Schedule::Merge(Loop first, Loop second, Where where) {
  return {Do("merge", {OperandOf(first), OperandOf(second)}, {}, where).first};
}

std::vector<Loop> Schedule::LoopPartition(Loop loop, const std::vector<Factor>& sizes, Where where) {
  return ListOf<Loop>(Do("loop-partition", WithFactors(loop, sizes), {}, where));
}

Loop Schedule::Fuse(const std::vector<Loop>& loops, Where where) {
  return {Do("fuse", LoopOperands(loops), {}, where).first};
}
void Schedule::Reorder(const std::vector<Loop>& loops, Where where) {
  Do("reorder", LoopOperands(loops), {}, where);
}

Loop Schedule::AddUnitLoop(Loop below, Where where) {
  return {Do("add-unit-loop", {OperandOf(below)}, {}, where).first};
}
Loop Schedule::AddUnitLoop(Block below, Where where) {
  return {Do("add-unit-loop-at", {OperandOf(below)}, {}, where).first};
}
void Schedule::Parallel(Loop loop, Where where) { Do("parallel", {OperandOf(loop)}, {}, where); }
void Schedule::Vectorize(Loop loop, Where where) { Do("vectorize", {OperandOf(loop)}, {}, where); }
void Schedule::Unroll(Loop loop, Where where) { Do("unroll", {OperandOf(loop)}, {}, where); }

void Schedule::Bind(Loop loop, LoopKind axis, Where where) {
  Do("bind", {OperandOf(loop)}, {std::string(ToString(axis))}, where);
}

void Schedule::Pipeline(Loop loop, PipelineOptions options, Where where) {
  Do("pipeline", WithFactors(loop, options.depths),
     {options.stages, options.order, std::vector<int64_t>(), options.transport, options.producers}, where);
}
Block Schedule::AccumulateIn(Block block, absl::string_view dtype, Where where) {
  return BlockOf(Do("accumulate-in", {OperandOf(block)}, {std::string(dtype)}, where));
}
void Schedule::AssumeFinite(Block block, Where where) { Do("assume-finite", {OperandOf(block)}, {}, where); }
void Schedule::SkipZeros(Block block, Where where) { Do("skip-zeros", {OperandOf(block)}, {}, where); }
void Schedule::Prepare(Block block, Where where) { Do("prepare", {OperandOf(block)}, {}, where); }

void Schedule::ComputeAt(Block block, Loop loop, absl::string_view place, Where where) {
  Do("compute-at", {OperandOf(block), OperandOf(loop)}, {std::string(place)}, where);
}
void Schedule::ReverseComputeAt(Block block, Loop loop, absl::string_view place, Where where) {
  Do("reverse-compute-at", {OperandOf(block), OperandOf(loop)}, {std::string(place)}, where);
}
void Schedule::ComputeInline(Block block, Where where) {
  Do("compute-inline", {OperandOf(block)}, {}, where);
}
void Schedule::ReverseComputeInline(Block block, Where where) {
  Do("reverse-compute-inline", {OperandOf(block)}, {}, where);
}
void Schedule::ComputeAtLocation(Block block, Value location, Where where) {
  Do("compute-at-location", {OperandOf(block), OperandOf(location)}, {}, where);
}

Block Schedule::CacheRead(Block block, int operand, absl::string_view storage, Where where) {
  return BlockOf(Do("cache-read", {OperandOf(block)}, {int64_t{operand}, std::string(storage)}, where));
}
Block Schedule::CacheReadForAll(Block block, int operand, absl::string_view storage, Where where) {
  return BlockOf(Do("cache-read", {OperandOf(block)},
                    {int64_t{operand}, std::string(storage), std::string("all")}, where));
}
Block Schedule::CacheWrite(Block block, absl::string_view storage, Where where) {
  return BlockOf(Do("cache-write", {OperandOf(block)}, {std::string(storage)}, where));
}
Block Schedule::AccumulateAt(Block block, Loop loop, absl::string_view storage, Where where) {
  return BlockOf(Do("accumulate-at", {OperandOf(block), OperandOf(loop)}, {std::string(storage)}, where));
}
Block Schedule::Reindex(Block block, int n, absl::string_view storage, Where where) {
  return BlockOf(Do("reindex", {OperandOf(block)}, {int64_t{n}, std::string(storage)}, where));
}
std::vector<Block> Schedule::PadEinsum(Block block, const std::vector<int64_t>& to, Where where) {
  return ListOf<Block>(Do("pad-einsum", {OperandOf(block)}, {to}, where));
}
Block Schedule::DecomposePadding(Block block, Loop loop, Where where) {
  return BlockOf(Do("decompose-padding", {OperandOf(block), OperandOf(loop)}, {}, where));
}
void Schedule::TransformLayout(Block block, int operand, absl::string_view map, Where where) {
  Do("transform-layout", {OperandOf(block)}, {int64_t{operand}, std::string(map)}, where);
}
void Schedule::TransformLayout(Block block, int operand, absl::string_view map,
                               const std::vector<Factor>& numbers, Where where) {
  Do("transform-layout", WithFactors(block, numbers), {int64_t{operand}, std::string(map)}, where);
}

void Schedule::TransformLayout(Block block, int operand, absl::string_view map, Swizzle swizzle,
                               Where where) {
  Do("transform-layout", {OperandOf(block)},
     {int64_t{operand}, std::string(map), std::vector<int64_t>{swizzle.from, swizzle.to, swizzle.bits}},
     where);
}
void Schedule::TransformLayout(Block block, int operand, absl::string_view map, absl::string_view kinds,
                               Where where) {
  Do("transform-layout", {OperandOf(block)},
     {int64_t{operand}, std::string(map), std::vector<int64_t>(), std::string(kinds)}, where);
}
void Schedule::SetScope(Block block, absl::string_view storage, Where where) {
  Do("set-scope", {OperandOf(block)}, {std::string(storage)}, where);
}

Block Schedule::Blockize(Loop loop, Where where) {
  return BlockOf(Do("blockize", {OperandOf(loop)}, {}, where));
}
void Schedule::Tensorize(Block tile, absl::string_view intrinsic, Where where) {
  Do("tensorize", {OperandOf(tile)}, {std::string(intrinsic)}, where);
}
void Schedule::Tensorize(Loop loop, absl::string_view intrinsic, Where where) {
  Tensorize(Blockize(loop, where), intrinsic, where);
}
void Schedule::Call(Block block, absl::string_view intrinsic, Where where) {
  Do("call", {OperandOf(block)}, {std::string(intrinsic)}, where);
}
void Schedule::SwizzleLines(Block block, Where where) { Do("swizzle-lines", {OperandOf(block)}, {}, where); }
std::array<Loop, 3> Schedule::Einsum(Block block, const std::vector<int64_t>& to, Where where) {
  return First<3>(ListOf<Loop>(Do("einsum", {OperandOf(block)}, {to}, where)));
}

Block Schedule::Rfactor(Block block, Loop loop, int axis, absl::string_view storage, Where where) {
  return BlockOf(
      Do("rfactor", {OperandOf(block), OperandOf(loop)}, {int64_t{axis}, std::string(storage)}, where));
}
Block Schedule::DecomposeReduction(Block block, Loop loop, Where where) {
  return BlockOf(Do("decompose-reduction", {OperandOf(block), OperandOf(loop)}, {}, where));
}

void Schedule::Annotate(Block block, absl::string_view key, int64_t value, Where where) {
  Do("annotate-block", {OperandOf(block)}, {std::string(key), value}, where);
}
void Schedule::Annotate(Loop loop, absl::string_view key, int64_t value, Where where) {
  Do("annotate-loop", {OperandOf(loop)}, {std::string(key), value}, where);
}

void Schedule::ParallelizeOuter(Factor limit, Where where) {
  Do("parallelize-outer", {limit.operand}, {}, where);
}
void Schedule::VectorizeInner(Factor lanes, Where where) {
  Do("vectorize-inner", {lanes.operand}, {}, where);
}
void Schedule::RfactorLanes(Factor lanes, Where where) { Do("rfactor-lanes", {lanes.operand}, {}, where); }
void Schedule::CooperativeFetch(Block block, Factor vector, Where where) {
  Do("cooperative-fetch", {OperandOf(block), vector.operand}, {}, where);
}
void Schedule::BindRest(Factor blocks, Factor threads, Where where) {
  Do("bind-rest", {blocks.operand, threads.operand}, {}, where);
}
void Schedule::UnrollUpTo(Factor steps, Where where) { Do("unroll-up-to", {steps.operand}, {}, where); }

}  // namespace kiln
