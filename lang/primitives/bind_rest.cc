// bind-rest
//
//   for i in 0..I: for j in 0..J: S(i, j)     ->     block-x b in 0..B: thread-x t in 0..T: S(f / J, f % J)
//                                                    where f = b*T + t
//
// Fuses the outer independent serial loops of each nest, and binds them to thread-x, unless the nest has threads
// already, and to the first axis of blocks that it does not have. The nest then has up to `threads` threads and up to
// `blocks` blocks, and what remains of the fused loop is serial. Leaves a nest as it is if a step does not apply or
// would break a rule of owners.
#include <algorithm>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/base/defect.h"
#include "lang/schedule/nested.h"

namespace kiln {
namespace {

struct Nest {
  // The outer serial loops of the nest whose iterations are independent and repeat no stores to global memory. Each is
  // the only child of the previous one. Loops on block axes may be around all of them.
  std::vector<Id> outer;
  bool threads = false;      // the nest already has threads
  bool reduces = false;      // a block of it reduces
  std::set<LoopKind> taken;  // the axes of blocks that it already has
  int64_t blocks = 1;        // how many blocks these make
};

constexpr LoopKind kBlockAxes[] = {LoopKind::kBlockX, LoopKind::kBlockY, LoopKind::kBlockZ};

// Returns the first of block-x, -y and -z to which no loop of the nest is bound; nullopt if it uses all.
std::optional<LoopKind> FreeAxis(const Nest& nest) {
  for (const LoopKind axis : kBlockAxes)
    if (!nest.taken.contains(axis)) return axis;
  return std::nullopt;
}

// True if a block below the loop writes a buffer in global memory and does not depend on the loop: its iterations
// repeat the same stores, which would race if the loop were bound to an axis. False for a loop of one iteration.
bool Repeats(const Program& p, Id loop) {
  if (p.loop(loop).extent.UpperBound() == 1) return false;
  return absl::c_any_of(BlocksOf(p, loop), [&](Id block) {
    const LoopUse use = UseOf(p, block, loop);
    return !use.spatial && !use.reduction && absl::c_any_of(WrittenBuffers(p, block), [&](Id buffer) {
      return p.buffers[buffer].scope.owner == Owner::kGrid;
    });
  });
}

Nest Look(const Program& p, Id node) {
  Nest nest;
  std::vector<Id> all = LoopsBelow(p, node);
  if (p.IsLoop(node)) all.push_back(node);
  for (const Id loop : all) {
    nest.threads |= IsThreadAxis(p.loop(loop).kind);
    if (IsBlockAxis(p.loop(loop).kind)) nest.taken.insert(p.loop(loop).kind);
  }
  for (const Id block : BlocksOf(p, node)) nest.reduces |= p.block(block).monoid != kNone;
  for (const LoopKind axis : nest.taken) {
    int64_t most = 1;
    for (const Id loop : all)
      if (p.loop(loop).kind == axis) most = std::max(most, p.loop(loop).extent.UpperBound());
    nest.blocks *= most;
  }
  for (Id at = node; p.IsLoop(at); at = p.nodes[at].first) {
    const LoopKind kind = p.loop(at).kind;
    if (kind == LoopKind::kSerial && p.loop(at).extent.constant() && !Repeats(p, at) &&
        (CheckDataParallel(p, at).ok() || KILN_DEFECT("bind-rest.unchecked"))) {
      nest.outer.push_back(at);
    } else if (!IsBlockAxis(kind) || !nest.outer.empty()) {
      break;
    }
    if (p.nodes[at].first != p.nodes[at].last) break;
  }
  return nest;
}

// Returns how many of `extent` iterations the inner loop of a split gets: at most `most`, and for a reduction a divisor
// of `extent`, because all its tiles must be complete.
int64_t Inside(int64_t extent, int64_t most, bool reduces) {
  int64_t inside = std::min(most, extent);
  while (reduces && extent % inside != 0) --inside;
  return inside;
}

absl::Status BindNest(Call& call, const Nest& nest, int64_t blocks, int64_t threads) {
  Program& p = call.program();
  std::vector<Id> fused = nest.outer;
  absl::Status status;
  const auto run = [&](const char* name, Id loop, const std::vector<int64_t>& numbers, LoopKind axis) {
    std::vector<Id> parts;
    const std::vector<Attribute> attributes = absl::string_view(name) == "bind"
                                                  ? std::vector<Attribute>{std::string(ToString(axis))}
                                                  : std::vector<Attribute>();
    if (!attributes.empty() && KILN_DEFECT("bind-rest.unchecked")) {
      p.loop(loop).kind = axis;
      return parts;
    }
    if (status.ok()) status = RunNested(call, name, {loop}, numbers, attributes, &parts);
    return parts;
  };
  if (fused.size() > 1) status = RunNested(call, "fuse", nest.outer, {}, {}, &fused);
  if (!status.ok()) return status;
  Id outer = fused[0];
  if (!nest.threads) {
    const int64_t lanes = Inside(p.loop(outer).extent.Known(), threads, nest.reduces);
    const std::vector<Id> parts = run("split", outer, {-1, lanes}, {});
    if (!status.ok()) return status;
    outer = parts[0];
    run("bind", parts[1], {}, LoopKind::kThreadX);
  }
  const std::optional<LoopKind> axis = FreeAxis(nest);
  blocks /= nest.blocks;
  if (!axis.has_value() || (blocks <= 1 && !nest.taken.empty())) return status;
  if (p.loop(outer).extent.Known() > blocks) {
    const std::vector<Id> parts =
        run("split", outer, {Inside(p.loop(outer).extent.Known(), blocks, nest.reduces), -1}, {});
    if (!status.ok()) return status;
    outer = parts[0];
  }
  run("bind", outer, {}, *axis);
  return status;
}

absl::Status BindRest(Call& call) {
  Program& p = call.program();
  const int64_t blocks = call.numbers(0)[0], threads = call.numbers(1)[0];
  if (blocks < 1 || threads < 1)
    return absl::InvalidArgumentError(absl::StrCat("limits are positive, not ", blocks, " and ", threads));
  std::vector<Id> nests;
  for (Id child = p.nodes[kRoot].first; child != kNone; child = p.nodes[child].next) nests.push_back(child);
  for (const Id node : nests) {
    const Nest nest = Look(p, node);
    if (nest.outer.empty() || (!FreeAxis(nest).has_value() && nest.threads)) continue;
    Program before = p;
    absl::Status status = BindNest(call, nest, blocks, threads);
    if (status.ok()) status = CheckKeepsOwners(before, p);
    if (!status.ok()) p = std::move(before);
  }
  return absl::OkStatus();
}

const Primitive kBindRest{
    .name = "bind-rest",
    .operands = {{"blocks", OperandKind::kFactor}, {"threads", OperandKind::kFactor}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Late. In each nest, fuses the outer independent serial loops and binds the result to thread-x, "
        "unless the nest has threads already, and to the first of block-x, block-y and block-z that the "
        "nest does not have. It uses up to `threads` threads and, with the blocks that the nest has, up to "
        "`blocks` blocks, which share the remaining iterations. If the nest reduces, the numbers divide the "
        "iterations. A loop that only repeats stores is not bound.\n"
        "for i in 0..I: for j in 0..J: S(i, j)\n->\n"
        "block-x b: thread-x t in 0..T: S(f / J, f % J)    where f = b*T + t\n"
        "A nest stays unchanged if the binding would not apply.",
    .apply = BindRest,
};
KILN_PRIMITIVE(kBindRest);

}  // namespace
}  // namespace kiln
