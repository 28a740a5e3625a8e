#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "modules/gpu/gpu.h"
#include "modules/gpu/operand_strides.h"

namespace kiln {
namespace {

constexpr int64_t kApart = 4;          // largest number of parts of a thread that lie apart
constexpr int64_t kSlice = 64;         // longest slice of a reduction
constexpr int64_t kOtherBytes = 2048;  // of shared memory: alignment, sums that threads exchange
constexpr int64_t kRegisterBytes = 4;
constexpr int64_t kOwn = 16;  // registers of a thread for addresses, counters and what is computed

// Returns how many 4-byte registers a value of `bytes` bytes takes; at least 1.
int64_t WordsOf(int64_t bytes) { return std::max<int64_t>(1, bytes / kRegisterBytes); }

// Draws the tiles of loops, innermost loop first. Keeps track of how many threads, registers and bytes of shared memory
// are left.
class Sampler {
 public:
  Sampler(Schedule& s, Block block, Factor copies)
      : s_(s), operands_(StridesOfOperands(s.program(), s.node(block))) {
    const Gpu& gpu = *s.target().gpu;
    const Value most = s.SampleCategoricalUpTo(gpu.threads_per_block, {64, 128, 256, 512, 1024}, "threads");
    threads_ = most;
    DivideRegisters(block, most);
    shared_ = Quotient(gpu.shared_per_block - kOtherBytes, copies);
    for (const OperandStrides& operand : operands_) {
      room_.push_back(Quotient(shared_, operand.bytes * std::ssize(operands_)));
      needs_.push_back({operand.bytes});
    }
  }

  // Draws the tile of a spatial loop and splits the loop. Returns the parts: thread blocks, virtual threads, threads,
  // adjacent elements of a thread. Sets `tile` to the last three.
  std::vector<Loop> Spatial(Loop loop, size_t position, ThreadTile& tile) {
    std::vector<Factor> rooms, registers{sums_};
    for (size_t o = 0; o < operands_.size(); ++o) {
      const int64_t stride = operands_[o].strides[position];
      if (stride == 0) continue;
      rooms.push_back(Quotient(room_[o], stride));
      registers.push_back(registers_[o]);
    }
    Schedule::TileOptions options{
        .parts = 4, .innermost = 0, .most = {0, Least(registers)}, .each = {0, threads_, apart_}};
    if (!rooms.empty()) options.most.push_back(Least(rooms));
    const Value drawn = s_.SamplePerfectTile(loop, options, absl::StrCat("S", position));
    tile = {s_.Part(drawn, 2), s_.Part(drawn, 1), s_.Part(drawn, 3)};
    threads_ = s_.Divide(threads_, tile.threads);
    apart_ = s_.Divide(apart_, tile.apart);
    const Value own = s_.Multiply({tile.apart, tile.elements}), whole = s_.Multiply({own, tile.threads});
    sums_ = s_.Divide(sums_, own);
    for (size_t o = 0; o < operands_.size(); ++o) {
      const int64_t stride = operands_[o].strides[position];
      if (stride == 0) continue;
      const Value more = stride > 1 ? s_.Multiply({whole, stride}) : whole;
      room_[o] = s_.Divide(room_[o], more);
      registers_[o] = s_.Divide(registers_[o], own);
      needs_[o].emplace_back(more);
    }
    return s_.Split(loop, {kAuto, tile.apart, tile.threads, tile.elements});
  }

  // Draws how many terms of a reduction loop one step sums, and splits the loop. Returns the parts: steps, and the
  // terms of one step. Call it after Spatial of all spatial loops.
  std::vector<Loop> Reduction(Loop loop, size_t position) {
    if (!slice_.has_value()) {
      std::vector<Factor> bytes;
      for (const auto& needs : needs_) bytes.emplace_back(s_.Multiply(needs));
      slice_ = s_.Minimum({kSlice, s_.Divide(shared_, s_.Add(bytes))});
    }
    int64_t stride = 1;
    for (const OperandStrides& operand : operands_) stride = std::max(stride, operand.strides[position]);
    const Value most = stride > 1 ? s_.Divide(*slice_, stride) : *slice_;
    const Value drawn =
        s_.SamplePerfectTile(loop, {.parts = 2, .innermost = 0, .most = {most}}, absl::StrCat("R", position));
    slice_ = s_.Divide(*slice_, s_.Part(drawn, -1));
    return s_.Split(loop, {drawn});
  }

 private:
  // Divides the registers of a thread, which are those of a multiprocessor divided by the threads of one block. Sums
  // may take half of them, but at most Gpu::accumulators, and there are no more sums than unrolled code may have
  // instructions for. The elements of operands that an iteration multiplies share the other half, or the registers
  // beside Gpu::accumulators if these are fewer, less those that all code needs (kOwn).
  void DivideRegisters(Block block, Value threads) {
    const Program& p = s_.program();
    const Gpu& gpu = *s_.target().gpu;
    int64_t code = 1;  // instructions for each sum, where its consumers are folded into the store
    for (const Id consumer : Consumers(p, s_.node(block)))
      code = std::max(code, Instructions(p, consumer, s_.target().costs));
    const int64_t words = WordsOf(SizeOf(p.buffers[WrittenBuffers(p, s_.node(block))[0]].dtype));
    const Value half = s_.Divide(gpu.registers_per_sm / 2, threads);
    sums_ = s_.Minimum(
        {std::min(gpu.accumulators / words, s_.target().max_unrolled / code), Quotient(half, words)});
    const Value others = s_.Subtract(s_.Minimum({gpu.registers_per_thread - gpu.accumulators, half}), kOwn);
    for (size_t o = 0; o < operands_.size(); ++o) {
      const bool as_before = o > 0 && operands_[o].bytes == operands_[o - 1].bytes;
      registers_.push_back(as_before ? registers_.back()
                                     : Quotient(others, WordsOf(operands_[o].bytes) * std::ssize(operands_)));
    }
  }

  Factor Least(const std::vector<Factor>& numbers) {
    return numbers.size() > 1 ? Factor(s_.Minimum(numbers)) : numbers[0];
  }
  // Returns number / by. Records a step for this unless both are plain numbers or `by` is 1.
  Factor Quotient(Factor number, Factor by) {
    const Operand a = number.operand, b = by.operand;
    if (b.kind != Operand::Kind::kInt) return s_.Divide(number, by);
    if (b.number == 1) return number;
    return a.kind == Operand::Kind::kInt ? Factor(a.number / b.number) : Factor(s_.Divide(number, by));
  }

  Schedule& s_;
  const std::vector<OperandStrides> operands_;
  Factor threads_ = 1, apart_ = kApart, sums_ = 1;
  Factor shared_ = 0;                       // bytes of shared memory for one copy of all operands
  std::vector<Factor> room_;                // elements that a tile may need, by operand
  std::vector<Factor> registers_;           // elements that a thread may hold, by operand
  std::vector<std::vector<Factor>> needs_;  // by operand: their product is the bytes of a slice of one term
  std::optional<Value> slice_;
};

Loop FuseAll(Schedule& s, const std::vector<Loop>& loops) {
  return loops.size() > 1 ? s.Fuse(loops) : loops.empty() ? Loop{} : loops[0];
}

// Returns, for each spatial iter of an unscheduled block, the position of its loop in LoopsAround(block). An iter
// without a loop gets the number of these loops. No iter has more than one loop.
std::vector<size_t> SpatialLoops(const Program& p, Id block) {
  const std::vector<Id> around = LoopsAround(p, block);
  const Bindings bindings = ResolveBindings(p, block);
  const auto iters = p.Iters(p.block(block).iters);
  std::vector<size_t> positions;
  for (int i = 0; i < std::ssize(iters); ++i) {
    if (iters[i].kind != IterKind::kSpatial) continue;
    const std::vector<Id> along = LoopsAlong(bindings, IndexSum::Of(Source::Iter(i)));
    positions.push_back(along.empty() ? around.size()
                                      : std::find(around.begin(), around.end(), along[0]) - around.begin());
  }
  return positions;
}

}  // namespace

ThreadTiles SampleThreadTiles(Schedule& s, Block block, Factor copies) {
  if (!s.ok()) return {};
  const Program& p = s.program();
  const std::vector<bool> reduces = Feeds(p, s.node(block), IterKind::kReduction);
  const std::vector<Loop> loops = s.GetLoops(block);
  const std::vector<size_t> of_iters = SpatialLoops(p, s.node(block));
  ThreadTiles tiles;
  tiles.of_iters.resize(of_iters.size());
  tiles.slices.resize(loops.size());
  Sampler sampler(s, block, copies);
  std::vector<Loop> blocks, steps, threads, slice, apart, elements;
  const auto fixed = [&](Loop loop) { return p.loop(s.node(loop)).tainted || s.ExtentOf(loop) == 1; };
  for (size_t i = loops.size(); i-- > 0;) {
    if (reduces[i]) continue;
    if (fixed(loops[i])) {
      blocks.insert(blocks.begin(), loops[i]);
      continue;
    }
    ThreadTile tile;
    const std::vector<Loop> parts = sampler.Spatial(loops[i], i, tile);
    for (size_t iter = 0; iter < of_iters.size(); ++iter)
      if (of_iters[iter] == i) tiles.of_iters[iter] = tile;
    blocks.insert(blocks.begin(), parts[0]);
    apart.insert(apart.begin(), parts[1]);
    threads.insert(threads.begin(), parts[2]);
    elements.insert(elements.begin(), parts[3]);
  }
  for (size_t i = loops.size(); i-- > 0;) {
    if (!reduces[i]) continue;
    const std::vector<Loop> parts = sampler.Reduction(loops[i], i);
    steps.insert(steps.begin(), parts[0]);
    slice.insert(slice.begin(), parts[1]);
    tiles.slices[i] = parts[1];
  }
  std::vector<Loop> order;
  for (const auto* level : {&blocks, &steps, &threads, &slice, &apart, &elements})
    order.insert(order.end(), level->begin(), level->end());
  s.Reorder(order);
  tiles.block = FuseBlocks(s, blocks);
  tiles.step = FuseAll(s, steps);
  tiles.thread = FuseAll(s, threads);
  for (const auto* level : {&apart, &elements})
    for (const Loop loop : *level) s.Unroll(loop);
  return tiles;
}

}  // namespace kiln
