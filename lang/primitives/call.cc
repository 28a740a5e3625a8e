// call
//
//   for i in 0..32: for j in 0..16: F[i, j] = S[i, j]     ->     for i0 in 0..2: call load-a(F, S)
//
// Splits the innermost loops of a block by the sizes of an intrinsic's description, moves the inner parts
// inside and tensorizes them. Fragments without a layout get the one that the description wants.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/base/unknown_name.h"
#include "lang/patterns/match.h"
#include "lang/program/layout.h"
#include "lang/schedule/nested.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

// Returns, for each iter of an intrinsic's description, the iter of the block that it stands for: the last iters of its
// kind, in the block's order; -1 for an iter of extent 1. kFailedPrecondition if the block has too few.
absl::StatusOr<std::vector<int>> ItersOfCall(const Program& p, Id block, const Program& description) {
  const auto own = p.Iters(p.block(block).iters);
  const auto wanted = description.Iters(description.block(BlockOf(description)).iters);
  std::vector<int> iters(wanted.size(), -1);
  int next[] = {static_cast<int>(own.size()) - 1, static_cast<int>(own.size()) - 1};  // by kind
  for (size_t i = wanted.size(); i-- > 0;) {
    if (wanted[i].extent.Known() == 1) continue;
    int& at = next[static_cast<int>(wanted[i].kind)];
    while (at >= 0 && own[at].kind != wanted[i].kind) --at;
    if (at < 0)
      return No(absl::StrCat(Describe(p, block), " has fewer iters than the intrinsic, whose iters are ",
                             wanted.size()));
    iters[i] = at--;
  }
  return iters;
}

// Returns the outermost loop with several iterations that steps the given iter of the block by 1. kFailedPrecondition
// if there is none between the block and its enclosing block.
absl::StatusOr<Id> LoopOfIter(const Program& p, Id block, int iter) {
  const Iter& of = p.Iters(p.block(block).iters)[iter];
  for (const Id loop : LoopsAround(p, block)) {
    if (EnclosingBlock(p, loop) != EnclosingBlock(p, block) || p.loop(loop).extent.UpperBound() == 1)
      continue;
    const std::optional<int64_t> step = StepOf(p, EnclosingBlock(p, block), of.binding, loop);
    if (step.has_value() && *step == 1) return loop;
  }
  return No(absl::StrCat("no loop of ", Describe(p, block), " steps its iter ", p.Text(of.name), " by 1"));
}

// Gives a fragment (a buffer in registers of a warp or warpgroup) without a layout the layout that the intrinsic's
// description wants for each tile of its shape; each tile is in registers of its own. Leaves other buffers as they are.
// kFailedPrecondition if the numbers of dimensions differ, or CheckLayout refuses the layout.
absl::Status LayOut(Program& p, Id buffer, const Program& description, Id parameter) {
  const Layout& wanted = description.buffers[parameter].layout;
  const bool fragment =
      p.buffers[buffer].scope == description.buffers[parameter].scope && wanted.kinds.count > 0;
  if (!fragment || p.buffers[buffer].layout.axes.count > 0) return absl::OkStatus();
  const auto tile = description.Dims(description.buffers[parameter].shape);
  const std::vector<Extent> shape(p.Dims(p.buffers[buffer].shape).begin(),
                                  p.Dims(p.buffers[buffer].shape).end());
  if (shape.size() != tile.size()) {
    return No(absl::StrCat("buffer ", p.Text(p.buffers[buffer].name), " has ", shape.size(),
                           " dimensions, and that of ", "the intrinsic has ", tile.size()));
  }
  std::vector<int32_t> axes, kinds;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t size = tile[d].Known();
    const IndexSum which{0, {{Source::Iter(static_cast<int32_t>(d)), 1, size, 0}}};
    axes.push_back(p.AddMark(which, (shape[d].Known() + size - 1) / size));
    kinds.push_back(static_cast<int32_t>(AxisKind::kRegister));
  }
  for (int32_t a = 0; a < wanted.axes.count; ++a) {
    const Id axis = description.List(wanted.axes)[a];
    IndexSum sum = description.SumOf(axis);
    for (IndexSplit& split : sum.splits) {  // of the index within the tile
      const int64_t size = tile[split.source.id].Known();
      if (split.extent == 0) split.extent = (size + split.lower - 1) / split.lower;
    }
    axes.push_back(p.AddMark(sum, description.marks[axis].extent));
    kinds.push_back(description.List(wanted.kinds)[a]);
  }
  Layout layout = p.buffers[buffer].layout;
  layout.axes = p.AddList(axes);
  layout.kinds = p.AddList(kinds);
  p.buffers[buffer].layout = layout;
  return CheckLayout(p, buffer);
}

// Gives layouts (LayOut) to the fragments that the block reads and then to those that it writes: the i-th buffer gets
// the layout of the i-th buffer of the intrinsic's description. Fails as LayOut does.
absl::Status LayOutOperands(Program& p, Id block, const Program& description) {
  const Id described = BlockOf(description);
  for (const bool writes : {false, true}) {
    const auto of = [&](const Program& program, Id b) {
      std::vector<Id> buffers = writes ? WrittenBuffers(program, b) : ReadBuffers(program, b);
      if (!writes)  // a reduction reads what it writes
        std::erase_if(buffers, [&](Id buffer) { return Writes(program, b, buffer); });
      return buffers;
    };
    const std::vector<Id> own = of(p, block), wanted = of(description, described);
    for (size_t i = 0; i < std::min(own.size(), wanted.size()); ++i) {
      const absl::Status status = LayOut(p, own[i], description, wanted[i]);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Splits the loops of the block by the sizes of the intrinsic's description, and moves the inner parts inside. Returns
// the outermost inner part. kFailedPrecondition if an iter of the description has no counterpart with a loop that steps
// it by 1, if a loop's iterations are no multiple of the size, or if the description has no loops.
absl::StatusOr<Id> LoopsOfCall(Call& call, Id block, const Program& description) {
  Program& p = call.program();
  const absl::StatusOr<std::vector<int>> iters = ItersOfCall(p, block, description);
  if (!iters.ok()) return iters.status();
  const auto wanted = description.Iters(description.block(BlockOf(description)).iters);
  std::vector<Id> inner;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if ((*iters)[i] < 0) continue;
    const absl::StatusOr<Id> loop = LoopOfIter(p, block, (*iters)[i]);
    if (!loop.ok()) return loop.status();
    const int64_t size = wanted[i].extent.Known(), extent = p.loop(*loop).extent.UpperBound();
    if (extent % size != 0) {
      return No(absl::StrCat(Describe(p, *loop), " has ", extent, " iterations, no multiple of the ", size,
                             " of the intrinsic"));
    }
    std::vector<Id> parts{*loop};
    if (extent != size) {
      const absl::Status status = RunNested(call, "split", {*loop}, {-1, size}, {}, &parts);
      if (!status.ok()) return status;
    }
    inner.push_back(parts.back());
  }
  if (inner.empty()) return No("the intrinsic has no loops");
  std::vector<Id> order;  // the loops from the outermost of `inner` down, with `inner` last
  bool below = false;
  for (const Id loop : LoopsAround(p, block)) {
    const bool of_call = absl::c_linear_search(inner, loop);
    below = below || of_call;
    if (below && !of_call) order.push_back(loop);
  }
  order.insert(order.end(), inner.begin(), inner.end());
  if (order.size() > 1) {
    const absl::Status status = RunNested(call, "reorder", order, {}, {}, nullptr);
    if (!status.ok()) return status;
  }
  return inner[0];
}

absl::Status MakeCall(Call& call, const Intrinsic& intrinsic) {
  Program& p = call.program();
  const Id block = call.node(0);
  const Program& description = DescriptionOf(intrinsic);
  const absl::StatusOr<Id> outer = LoopsOfCall(call, block, description);
  if (!outer.ok()) return outer.status();
  absl::Status status = LayOutOperands(p, block, description);
  std::vector<Id> tile;
  if (status.ok()) status = RunNested(call, "blockize", {*outer}, {}, {}, &tile);
  if (status.ok()) status = RunNestedOnBlock(call, "tensorize", tile[0], {}, {intrinsic.name}, nullptr);
  if (status.ok()) call.Return(tile[0]);
  return status;
}

absl::Status CallIntrinsic(Call& call) {
  const Intrinsic* const intrinsic = FindIntrinsic(call.Text(0));
  if (intrinsic == nullptr) {
    std::vector<absl::string_view> known;
    for (const Intrinsic* each : AllIntrinsics()) known.push_back(each->name);
    return absl::InvalidArgumentError(UnknownName("intrinsic", call.Text(0), known));
  }
  Program& p = call.program();
  if (p.nodes[call.node(0)].first != kNone || p.block(call.node(0)).dests.count == 0)
    return No(absl::StrCat(Describe(p, call.node(0)), " is a tile; `tensorize` makes a call of it"));
  const Program before = p;
  const absl::Status status = MakeCall(call, *intrinsic);
  if (!status.ok()) p = before;
  return status;
}

const Primitive kCall{
    .name = "call",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"intrinsic", std::string()}},
    .result = HandleKind::kBlock,
    .result_names = "tile",
    .doc =
        "Late. Lets the innermost loops of a block be calls of an intrinsic. Splits the loops by the sizes of "
        "the intrinsic's description, gives fragments without a layout the layout that the description wants, "
        "moves the inner loops inside, and applies blockize and tensorize.\n"
        "for i in 0..32: for j in 0..16: F[i, j] = S[i, j]\n->\n"
        "for i0 in 0..2: block F.tile(i0), a call: for i in 0..16: for j in 0..16: F[i0*16 + i, j] = S[..]\n"
        "Does not apply if a loop is no multiple of its size, or if one of these steps does not apply.",
    .apply = CallIntrinsic,
};
KILN_PRIMITIVE(kCall);

}  // namespace
}  // namespace kiln
