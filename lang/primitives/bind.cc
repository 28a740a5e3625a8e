// bind
//
//   for i in 0..E: S(i)      ->      thread-x i in 0..E: S(i)
//
// Runs a serial loop in parallel, or binds it to a block or thread axis or to virtual threads.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/unknown_name.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

constexpr LoopKind kAxes[] = {LoopKind::kParallel, LoopKind::kBlockX,       LoopKind::kBlockY,
                              LoopKind::kBlockZ,   LoopKind::kThreadX,      LoopKind::kThreadY,
                              LoopKind::kThreadZ,  LoopKind::kVirtualThread};

// True if a loop of kind `within` may not be inside a loop of kind `around`: inside a vectorized loop, a block axis
// inside a thread axis, or a kind inside itself. Virtual threads and serial loops may be inside their own kind.
bool Clashes(LoopKind around, LoopKind within) {
  return around == LoopKind::kVectorized || (IsThreadAxis(around) && IsBlockAxis(within)) ||
         (around == within && within != LoopKind::kVirtualThread && within != LoopKind::kSerial);
}

absl::Status Bind(Call& call) {
  Program& p = call.program();
  const Id loop = call.node(0);
  const auto axis = std::find_if(std::begin(kAxes), std::end(kAxes),
                                 [&](LoopKind kind) { return call.Text(0) == ToString(kind); });
  if (axis == std::end(kAxes)) {
    std::vector<absl::string_view> known;
    for (const LoopKind kind : kAxes) known.push_back(ToString(kind));
    return absl::InvalidArgumentError(UnknownName("axis", call.Text(0), known));
  }
  if (p.loop(loop).kind != LoopKind::kSerial) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, loop), " is ", ToString(p.loop(loop).kind), " already"));
  }
  for (Id at = p.nodes[loop].parent; at != kRoot; at = p.nodes[at].parent) {
    if (p.IsLoop(at) && Clashes(p.loop(at).kind, *axis))
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, at), " around it is ", ToString(p.loop(at).kind)));
  }
  for (const Id below : LoopsBelow(p, loop)) {
    const LoopKind kind = p.loop(below).kind;
    if (Clashes(*axis, kind))
      return absl::FailedPreconditionError(absl::StrCat(Describe(p, below), " below it is ", ToString(kind)));
  }
  absl::Status status = CheckDataParallel(p, loop);
  if (!status.ok() && IsThreadAxis(*axis) && CheckVectorizable(p, loop).ok()) status = absl::OkStatus();
  if (status.ok()) p.loop(loop).kind = *axis;
  return status;
}

const Primitive kBind{
    .name = "bind",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {{"to", std::string("thread-x")}},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Runs the iterations of a loop on an axis of the machine: parallel, block-x, -y, -z, thread-x, "
        "-y, -z or virtual-thread. Threads may share a reduction; they combine their results at the end "
        "of the loop.\n"
        "for i: S(i)\n"
        "-> bind \"thread-x\"\n"
        "thread-x i: S(i)\n"
        "Does not apply if parallel would not, if an enclosing or an inner loop has the same axis, or to "
        "a block axis below a thread axis.",
    .apply = Bind,
};
KILN_PRIMITIVE(kBind);

}  // namespace
}  // namespace kiln
