// Cross-Thread-Reduction: lets the threads of a block share a reduction.
//
//   for i: for k: B[i] sum= f(i, k)
//   ->
//   block-x i0: thread-y i1: thread-x t: { for k0: unrolled v: B.acc[i, t] sum= f(i, k0, t, v);  B[i] sum= B.acc }
//
// Each thread sums its elements in a register: vectors of up to 4 elements, `threads` vectors apart. Then the threads
// combine their sums. Threads share the last reduction loop, which must have at least 32 terms, and a multiple of 8.
//
// Applies to: unscheduled reductions, on GPUs, that initialize their result and store it at single iters. They must
// reuse nothing, or have fewer results than 4 * multiprocessors * threads of the largest block. Structure:
//   threads = no, or yes
//   split-k = no, or yes: blocks sum chunks of the longest reduction loop. Offered with threads = yes, if there are
//             fewer results than multiprocessors and the last reduction loop has at least 8192 terms
// Sampling sites: how many threads share a reduction, up to a whole block, and the adjacent elements that a thread
// reads at once; how many results a block computes; with split-k, the number of chunks
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/gpu/gpu.h"
#include "modules/module.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

constexpr int64_t kWarp = 32, kVector = 4;
constexpr int64_t kLong = 8192;  // terms that are worth partial sums of several blocks

// Returns the largest power of two, at most 32 (a warp), that divides the number of terms. Without split-k, the product
// of the threads that share a reduction and the elements that a thread reads at once is a multiple of it.
int64_t Lanes(int64_t terms) {
  int64_t lanes = kWarp;
  while (terms % lanes != 0) lanes /= 2;
  return lanes;
}

struct Nest {
  std::vector<Loop> spatial, reduction;
  int64_t results = 1, terms = 1;  // terms: of the last reduction loop

  void Read(Schedule& s, Block block) {
    const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
    const std::vector<Loop> loops = s.GetLoops(block);
    spatial = reduction = {};
    for (size_t i = 0; i < loops.size(); ++i) (reduces[i] ? reduction : spatial).push_back(loops[i]);
  }
};

Nest NestOf(Schedule& s, Block block) {
  Nest nest;
  nest.Read(s, block);
  for (const Loop loop : nest.spatial) nest.results *= s.ExtentOf(loop);
  nest.terms = s.ExtentOf(nest.reduction.back());
  return nest;
}

absl::Status CheckFewResults(Schedule& s, Block block, const Nest& nest) {
  const Gpu& gpu = *s.target().gpu;
  const std::string what = Describe(s.program(), s.node(block));
  if (nest.terms < kWarp || Lanes(nest.terms) < kWarp / 4)
    return absl::FailedPreconditionError(
        absl::StrCat(what, " sums too few terms for a warp, or an odd number"));
  for (const IndexSum& index : ResultIndices(s.program(), s.node(block))) {
    if (index.splits.size() > 1)
      return absl::FailedPreconditionError(absl::StrCat(what, " stores at sums of its iters"));
  }
  const bool occupies = nest.results >= int64_t{4} * gpu.sms * gpu.threads_per_block;
  if (HasReuse(s.program(), s.node(block)) && occupies)
    return absl::FailedPreconditionError(absl::StrCat(what, " has results for all threads of the GPU"));
  return absl::OkStatus();
}

}  // namespace

void CrossThreadReduction(Schedule& s, Block block) {
  if (!s.ok() || s.target().gpu == nullptr || s.Skip(CheckReduces(s.program(), s.node(block)))) return;
  Nest nest = NestOf(s, block);
  if (s.Skip(CheckFewResults(s, block, nest)) || s.Choose("threads", {"no", "yes"}) == 0) return;
  const Gpu& gpu = *s.target().gpu;
  const int64_t limit = gpu.threads_per_block;
  Schedule::TileOptions options{.parts = 3, .innermost = kVector, .each = {0, limit}};
  if (nest.results < gpu.sms && nest.terms >= kLong && s.Choose("split-k", {"no", "yes"}) == 1) {
    SplitReduction(s, block, int64_t{2} * gpu.sms);
    nest.Read(s, block);
  } else {
    options.multiple = {0, Lanes(nest.terms)};
  }
  const Value tile = s.SamplePerfectTile(nest.reduction.back(), options, "threads");
  const std::vector<Loop> parts = s.Split(nest.reduction.back(), {tile});
  std::vector<Loop> blocks = nest.spatial, order;
  if (!nest.spatial.empty()) {
    const Value rows =
        s.SamplePerfectTile(nest.spatial.back(),
                            {.parts = 2, .innermost = 0, .most = {s.Divide(limit, s.Part(tile, 1))}}, "rows");
    const std::vector<Loop> cut = s.Split(nest.spatial.back(), {rows});
    blocks.back() = cut[0];
    order = blocks;
    order.push_back(cut[1]);
  }
  order.push_back(parts[1]);
  order.insert(order.end(), nest.reduction.begin(), nest.reduction.end() - 1);
  order.insert(order.end(), {parts[0], parts[2]});
  s.Reorder(order);
  s.AccumulateAt(block, parts[1], "register");
  s.Unroll(parts[2]);
  if (!nest.spatial.empty()) {
    s.Bind(order[blocks.size()], LoopKind::kThreadY);
    s.Bind(blocks.size() > 1 ? s.Fuse(blocks) : blocks[0], LoopKind::kBlockX);
  }
  s.Bind(parts[1], LoopKind::kThreadX);
}

KILN_MODULE("cross-thread-reduction", CrossThreadReduction);

}  // namespace kiln
