// Late steps (design D3): replay computes their effect from the program as it is at that step.
//
//   parallelize-outer   for i: for j: S           ->   parallel f in 0..I*J: S       outer loops of each nest
//   vectorize-inner     for j in 0..128: S        ->   for j0: vectorized j1 in 0..64: S   of each block
//                       for j: for i: T[j,i] = A[i,j]   ->   for i0: for j0: unrolled i1: vectorized j1: ..
//   unroll-up-to        for i in 0..4: for v: S   ->   S; S; S; S            while the straight line is short
//                       for i in 0..9: for v: S   ->   for i in 0..9 {unrolled-steps 3}: S
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/straight_line.h"
#include "lang/base/defect.h"
#include "lang/patterns/match.h"
#include "lang/schedule/lanes.h"
#include "lang/schedule/nested.h"

namespace kiln {
namespace {

absl::Status ParallelizeOuter(Call& call) {
  Program& p = call.program();
  const int64_t limit = call.numbers(0)[0];
  std::vector<Id> nests;
  for (Id child = p.nodes[kRoot].first; child != kNone; child = p.nodes[child].next) nests.push_back(child);
  for (const Id nest : nests) {
    std::vector<Id> outer;
    int64_t product = 1;
    for (Id at = nest; p.IsLoop(at) && product < limit; at = p.nodes[at].first) {
      if (p.loop(at).kind != LoopKind::kSerial) break;
      if (!CheckDataParallel(p, at).ok() && !KILN_DEFECT("parallelize-outer.dependent")) break;
      outer.push_back(at);
      product *= p.loop(at).extent.Known();
      if (p.nodes[at].first != p.nodes[at].last) break;
    }
    if (product == 1) continue;
    std::vector<Id> fused = outer;
    if (outer.size() > 1) {
      const absl::Status status = RunNested(call, "fuse", outer, {}, {}, &fused);
      if (!status.ok()) return status;
    }
    p.loop(fused[0]).kind = LoopKind::kParallel;
  }
  return absl::OkStatus();
}

// Returns the most lanes that a vectorized loop over these blocks may have: the largest multiple of `vector` (the lanes
// of a register) whose code has at most CostTable::function_line instructions, but at least `vector`. The code repeats
// for each register. The limit is meant for functions such as exp: two registers hide most of their latency.
int64_t ShortLanes(const Program& p, const std::vector<Id>& blocks, int64_t vector, const CostTable& costs) {
  int64_t instructions = 0;
  for (const Id block : blocks) instructions += Instructions(p, block, costs);
  return vector * std::max<int64_t>(1, costs.function_line / instructions);
}

// Returns the largest divisor of `extent` up to `most`.
int64_t DivisorUpTo(int64_t extent, int64_t most) {
  int64_t divisor = std::min(extent, most);
  while (extent % divisor != 0) --divisor;
  return divisor;
}

// Vectorizes a transposing copy by a tile in registers. kFailedPrecondition if no tile of at least 2 rows and 4 lanes
// divides the loops.
//   for j: for i: S   ->   for i0: for j0: unrolled i1: vectorized j1: S
absl::Status VectorizeTransposing(Call& call, const Transposing& of, int64_t vector) {
  Program& p = call.program();
  const int64_t columns = DivisorUpTo(p.loop(of.lanes).extent.Known(), vector);
  const int64_t line =
      columns * Instructions(p, BlocksBelow(p, of.rows)[0], call.target().costs);  // instructions of one row
  const int64_t rows_that_fit = std::max<int64_t>(1, call.target().max_unrolled / line);
  const int64_t rows_at_once =
      DivisorUpTo(std::gcd(p.loop(of.rows).extent.Known(), of.panel), std::min(vector, rows_that_fit));
  if (rows_at_once == 1 || columns < 4) return absl::FailedPreconditionError("no tile divides the loops");
  std::vector<Id> order, rows{of.rows}, lanes{of.lanes};
  const auto split = [&](std::vector<Id>& parts, int64_t inner) {
    if (inner == p.loop(parts[0]).extent.Known()) return absl::OkStatus();
    return RunNested(call, "split", {parts[0]}, {-1, inner}, {}, &parts);
  };
  absl::Status status = split(rows, rows_at_once);
  if (status.ok()) status = split(lanes, columns);
  if (!status.ok()) return status;
  for (const Id loop : of.nest)
    if (loop != of.rows && loop != of.lanes) order.push_back(loop);
  if (rows.size() > 1) order.push_back(rows[0]);
  if (lanes.size() > 1) order.push_back(lanes[0]);
  order.insert(order.end(), {rows.back(), lanes.back()});
  if (status = RunNested(call, "reorder", order, {}, {}, nullptr); !status.ok()) return status;
  p.loop(rows.back()).kind = LoopKind::kUnrolled;
  p.loop(lanes.back()).kind = LoopKind::kVectorized;
  return absl::OkStatus();
}

// Returns the lanes of a GPU's vectors: the greatest power of two up to `most` that divides the extent.
int64_t LanesOnGpu(int64_t extent, int64_t most) {
  int64_t lanes = 1;
  while (2 * lanes <= most && extent % (2 * lanes) == 0) lanes *= 2;
  return lanes;
}

absl::Status VectorizeInner(Call& call) {
  Program& p = call.program();
  const int64_t limit = call.numbers(0)[0];
  if (limit < 2) return absl::OkStatus();
  const bool gpu = call.target().gpu != nullptr;
  const bool laid_out = std::any_of(p.buffers.begin(), p.buffers.end(),
                                    [](const Buffer& buffer) { return buffer.layout.axes.count > 0; });
  for (const Id block : Blocks(p)) {
    const Id loop = p.nodes[block].parent;
    if (p.nodes[block].first != kNone || !p.IsLoop(loop) || p.loop(loop).kind != LoopKind::kSerial) continue;
    if (CallAround(p, block) != kNone) continue;
    const int64_t width = std::max<int64_t>(2, call.target().vector_bytes / WidestResult(p, {block}));
    if (const auto transposing = AsTransposing(p, block);
        transposing.has_value() && !gpu && call.target().policies.Has(Policy::kTransposingTiles) &&
        CheckVectorizable(p, transposing->lanes).ok() && limit >= width &&
        VectorizeTransposing(call, *transposing, width).ok())
      continue;
    const int64_t extent = p.loop(loop).extent.Known();
    if (extent == 1) continue;
    const std::vector<Id> blocks = BlocksBelow(p, loop);
    if (!std::all_of(blocks.begin(), blocks.end(),
                     [&](Id b) { return p.nodes[b].parent == loop && Lanes(p, b, loop); }) ||
        !CheckVectorizable(p, loop).ok()) {
      continue;
    }
    const int64_t vector = std::max<int64_t>(2, call.target().vector_bytes / WidestResult(p, blocks));
    const int64_t most = std::min(limit, ShortLanes(p, blocks, vector, call.target().costs));
    int64_t together = most;
    if (laid_out) {
      for (const Id b : blocks) together = Together(p, b, loop, together, vector);
    }
    const int64_t lanes =
        gpu ? LanesOnGpu(extent, std::min(limit, vector)) : LaneCount(extent, together, most, vector);
    if (gpu && lanes == 1) continue;
    std::vector<Id> parts{loop};
    if (lanes < extent) {
      const absl::Status status = RunNested(call, "split", {loop}, {-1, lanes}, {}, &parts);
      if (!status.ok()) return status;
    }
    p.loop(parts.back()).kind = LoopKind::kVectorized;
  }
  return absl::OkStatus();
}

// True if the loop repeats a whole reduction: a block below it reduces over an inner loop, but not over this one.
bool RepeatsReduction(const Program& p, Id loop) {
  for (const Id block : BlocksBelow(p, loop)) {
    if (p.block(block).monoid == kNone || UseOf(p, block, loop).reduction) continue;
    for (Id at = p.nodes[block].parent; at != loop; at = p.nodes[at].parent)
      if (p.IsLoop(at) && p.loop(at).extent.Known() > 1 && UseOf(p, block, at).reduction) return true;
  }
  return false;
}

class Unroller {
 public:
  Unroller(Program& p, int64_t limit, const Target& target) : p_(p), limit_(limit), target_(target) {}

  void Unroll() {
    StraightLine(
        p_, kRoot, [&](Id block) { return Instructions(p_, block, target_.costs) * Stores(block); },
        [&](Id loop, int64_t line) { return Unrolled(loop, line); });
  }

 private:
  // Unrolls a serial loop if its straight-line code has at most `limit_` instructions. A longer one gets the annotation
  // kUnrolledSteps: the most iterations that fit and divide the extent. A loop that repeats a whole reduction stays as
  // it is if its body has more instructions than the target has vector registers. `line` is the number of instructions
  // of the body. Returns the instructions of the unrolled loop, `line` for a vectorized loop, or 0 if a loop remains.
  int64_t Unrolled(Id node, int64_t line) {
    LoopNode& loop = p_.loop(node);
    if (loop.kind == LoopKind::kVectorized) return line;
    const int64_t all = line * loop.extent.Known();
    if (loop.kind == LoopKind::kUnrolled || loop.extent.Known() == 1) return all;
    if (loop.kind != LoopKind::kSerial) return 0;
    if (line > target_.vector_registers && RepeatsReduction(p_, node)) return 0;
    if (all > limit_) {
      int64_t steps = std::max<int64_t>(1, limit_ / line);
      while (loop.extent.Known() % steps != 0) --steps;
      if (steps > 1) SetAnnotation(p_, loop.annotations, kUnrolledSteps, steps);
      return 0;
    }
    loop.kind = LoopKind::kUnrolled;
    return all;
  }

  // Returns the number of store instructions of a block for all lanes of the vectorized loop around it: one for each
  // vector register, or one for each lane if a layout does not store the lanes next to each other. Without such a loop,
  // returns 1.
  int64_t Stores(Id block) const {
    Id loop = p_.nodes[block].parent;
    while (loop != kRoot && !(p_.IsLoop(loop) && p_.loop(loop).kind == LoopKind::kVectorized))
      loop = p_.nodes[loop].parent;
    if (loop == kRoot) return 1;
    const int64_t lanes = p_.loop(loop).extent.Known();
    if (StoresApart(p_, block, loop)) return lanes;
    const int64_t bytes = lanes * WidestResult(p_, BlocksBelow(p_, loop));
    return (bytes + target_.vector_bytes - 1) / target_.vector_bytes;
  }

  Program& p_;
  const int64_t limit_;
  const Target& target_;
};

absl::Status UnrollUpTo(Call& call) {
  Unroller(call.program(), call.numbers(0)[0], call.target()).Unroll();
  return absl::OkStatus();
}

const Primitive kParallelizeOuter{
    .name = "parallelize-outer",
    .operands = {{"limit", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Late. In each nest, fuses the outer data-parallel loops until they have `limit` iterations, and "
        "runs these in parallel.\n"
        "for i: for j: S\n->\n"
        "parallel f in 0..I*J: S",
    .apply = ParallelizeOuter,
};
KILN_PRIMITIVE(kParallelizeOuter);

const Primitive kVectorizeInner{
    .name = "vectorize-inner",
    .operands = {{"lanes", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Late. Vectorizes the innermost loop of every block whose accesses take small steps along it, "
        "with up to `lanes` lanes, and fewer if an iteration takes many instructions. For a block that "
        "transposes, it vectorizes the loop along which the block reads neighbours and unrolls a tile of "
        "the other loop around it; lowering then transposes in registers. For a GPU, the lanes are a power "
        "of two that divides the loop and takes at most 16 bytes, and no tile is transposed.\n"
        "for j in 0..128: S\n->\n"
        "for j0 in 0..2: vectorized j1 in 0..64: S",
    .apply = VectorizeInner,
};
KILN_PRIMITIVE(kVectorizeInner);

const Primitive kUnrollUpTo{
    .name = "unroll-up-to",
    .operands = {{"steps", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Late. Unrolls inner loops while the resulting straight-line code has at most `steps` "
        "instructions. Multiply-adds, other operations and copies count once for each vector register "
        "that the lanes fill, or once for each lane if a layout does not store them next to each other. "
        "A longer loop is annotated to unroll as many iterations together as fit and divide it. A loop "
        "stays if it repeats a reduction that is longer than the number of vector registers: the loads "
        "that its iterations share would have to stay in registers, and there are not enough.\n"
        "for i in 0..2: vectorized v: S\n->\n"
        "vectorized v: S; vectorized v: S",
    .apply = UnrollUpTo,
};
KILN_PRIMITIVE(kUnrollUpTo);

}  // namespace
}  // namespace kiln
