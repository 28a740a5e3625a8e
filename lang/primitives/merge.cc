// merge
//
//   for i in 0..E: S(i)              for m in 0..E:
//   for j in 0..E: T(j)      ->        S(m)
//                                      T(m)
//
// Merges two loops that follow each other. T(m) then runs before S(m+1), S(m+2), ... So T(m) must not access what these
// write, nor write what they access. If T starts a reduction when the loop is entered, its start runs before S(0) too.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

// Returns by how much the base of a range grows from one iteration of the loop to the next; nullopt if that is not
// constant. Appends the terms of the base without the loop to `rest`.
std::optional<int64_t> StepOf(const DimRange& range, Id loop, IndexSum& rest) {
  int64_t step = 0;
  for (const IndexSplit& split : range.base.splits) {
    if (split.source != Source::Loop(loop)) {
      rest.splits.push_back(split);
    } else if (split.lower != 1 || split.extent != 0) {
      return std::nullopt;
    } else {
      step += split.scale;
    }
  }
  return step;
}

// True if it is proven that i <= j whenever iteration i of `first` touches an element of region a and iteration j of
// `second` touches the same element as part of region b.
bool NeverLater(const Program& p, const Region& a, const Region& b, Id first, Id second) {
  std::vector<IndexSum> same;  // functions of the iteration that must be equal if both touch an element
  for (size_t d = 0; d < a.size(); ++d) {
    IndexSum rest_a, rest_b;
    const std::optional<int64_t> step = StepOf(a[d], first, rest_a), other = StepOf(b[d], second, rest_b);
    const int64_t ahead = b[d].base.offset - a[d].base.offset;
    if (step.has_value() && *step != 0 && step == other && rest_a == rest_b) {
      // Returns true if this dimension alone proves i <= j. Both bases move by `step` per iteration; that of b is
      // `ahead` larger. If iterations i and j touch one element, step * (i - j) is at least ahead - (a.extent - 1) and
      // at most ahead + (b.extent - 1).
      if (*step > 0 ? ahead + b[d].extent - 1 < *step : a[d].extent - 1 - ahead < -*step) return true;
      continue;
    }
    IndexSum moved = b[d].base;
    for (IndexSplit& split : moved.splits) {
      if (split.source == Source::Loop(second)) split.source = Source::Loop(first);
    }
    if (a[d].extent == 1 && b[d].extent == 1 && moved == a[d].base) same.push_back(moved);
  }
  return Determine(p, same, {first});
}

// True if the reduction of the block starts when the loop is entered.
bool StartsAt(const Program& p, Id block, Id loop) {
  if (p.block(block).monoid == kNone || p.block(block).accumulates) return false;
  const std::vector<Id> loops = LoopsAround(p, block);
  return loops.begin() + ReductionStart(p, block) == std::find(loops.begin(), loops.end(), loop);
}

absl::Status CheckMerge(const Program& p, Id first, Id second) {
  for (const Id loop : {first, second}) {
    if (p.loop(loop).kind != LoopKind::kSerial) {
      return absl::FailedPreconditionError(absl::StrCat(
          Describe(p, loop), " is ", ToString(p.loop(loop).kind), "; only serial loops can be merged"));
    }
  }
  if (first == second || p.nodes[first].next != second || p.nodes[first].prepare != p.nodes[second].prepare) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, second), " does not follow ", Describe(p, first)));
  }
  if (!(p.loop(first).extent == p.loop(second).extent)) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, first), " has extent ", p.loop(first).extent.Known(), ", and ",
                     Describe(p, second), " has ", p.loop(second).extent.Known()));
  }
  const bool once = p.loop(first).extent.Known() == 1;
  const auto touched = [&](Id block, Id buffer, bool written, Id loop) {
    const Bindings bindings = ResolveBindings(p, block);
    return written ? WrittenRegion(p, bindings, buffer, loop) : ReadRegion(p, bindings, buffer, loop);
  };
  for (const Id a : BlocksBelow(p, first)) {
    for (const Id b : BlocksBelow(p, second)) {
      for (const auto& [a_writes, b_writes] : {std::pair(true, false), {false, true}, {true, true}}) {
        const std::vector<Id> by_b = b_writes ? WrittenBuffers(p, b) : ReadBuffers(p, b);
        for (const Id buffer : a_writes ? WrittenBuffers(p, a) : ReadBuffers(p, a)) {
          if (std::find(by_b.begin(), by_b.end(), buffer) == by_b.end()) continue;
          const bool at_entry = StartsAt(p, b, second) && (b_writes || ReadsInitially(p, b, buffer));
          if (!at_entry && (once || NeverLater(p, touched(a, buffer, a_writes, first),
                                               touched(b, buffer, b_writes, second), first, second)))
            continue;
          return absl::FailedPreconditionError(absl::StrCat(
              Describe(p, b), b_writes ? " writes " : " reads ", p.Text(p.buffers[buffer].name),
              at_entry ? " at the loop's entry" : "", ", which later iterations of ", Describe(p, first),
              a_writes ? " may write" : " may read", " in ", Describe(p, a)));
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Merge(Call& call) {
  Program& p = call.program();
  const Id first = call.node(0), second = call.node(1);
  const absl::Status status = CheckMerge(p, first, second);
  if (!status.ok()) return status;
  const LoopNode old = p.loop(first);
  const Id merged = p.AddLoop(p.Text(old.name), old.extent);
  p.loop(merged).tainted = old.tainted || p.loop(second).tainted;
  p.loop(merged).annotations = old.annotations;
  p.nodes[merged].prepare = p.nodes[first].prepare;
  p.InsertBefore(first, merged);
  for (const Id loop : {first, second}) {
    while (p.nodes[loop].first != kNone) {
      const Id child = p.nodes[loop].first;
      p.Detach(child);
      p.Append(merged, child);
    }
    p.loops[p.nodes[loop].index].definition = p.AddMark(IndexSum::Of(Source::Loop(merged)), old.extent);
    p.Kill(loop);
  }
  call.Return(merged);
  return absl::OkStatus();
}

const Primitive kMerge{
    .name = "merge",
    .operands = {{"first", OperandKind::kLoop}, {"second", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "merged",
    .doc =
        "Merges two serial loops that follow each other and have equal extents.\n"
        "for i in 0..E: S(i)\n"
        "for j in 0..E: T(j)\n->\n"
        "for m in 0..E:\n"
        "  S(m)\n"
        "  T(m)\n"
        "Applies only if it is proven that T touches nothing that later iterations of S write, and "
        "writes nothing that these read.",
    .apply = Merge,
};
KILN_PRIMITIVE(kMerge);

}  // namespace
}  // namespace kiln
