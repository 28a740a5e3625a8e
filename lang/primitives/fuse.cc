// fuse
//
//   for i in 0..I                for f in 0..I*J
//     for j in 0..J       ->       S(f / J, f % J)
//       S(i, j)
//
// Fuses directly nested serial loops into one. Refuses if a reduction would then run an instance twice.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

// Defines each of the fused loops by the fused one: i = f / J and j = f % J. A loop of one iteration is 0, unless all
// have one.
void DefineDigits(Program& p, const std::vector<Id>& loops, Id fused) {
  int64_t lower = p.loop(fused).extent.Known();
  const auto repeats = [&](Id loop) { return p.loop(loop).extent.Known() > 1; };
  const auto first = std::find_if(loops.begin(), loops.end(), repeats);
  const Id outermost = first == loops.end() ? loops.front() : *first;
  for (const Id loop : loops) {
    const Extent own = p.loop(loop).extent;
    lower /= own.Known();
    // Defines the outermost loop without a remainder, so that the definition stays expressible if the fused loop is
    // later split imperfectly. Defines other loops of one iteration as the constant 0.
    IndexSum digit;
    if (loop == outermost) {
      digit.splits = {IndexSplit{Source::Loop(fused), 1, lower, 0}};
    } else if (repeats(loop)) {
      digit.splits = {IndexSplit{Source::Loop(fused), 1, lower, own.Known() - KILN_DEFECT("fuse.digit")}};
    }
    p.loops[p.nodes[loop].index].definition = p.AddMark(digit, own);
  }
}

absl::Status Fuse(Call& call) {
  Program& p = call.program();
  const std::vector<Id> loops = call.nodes(0);
  if (loops.empty()) return absl::InvalidArgumentError("no loops are given");
  int64_t extent = 1;
  bool tainted = false;
  std::string name;
  for (size_t i = 0; i < loops.size(); ++i) {
    const LoopNode& loop = p.loop(loops[i]);
    if (loop.kind != LoopKind::kSerial || !loop.extent.constant()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "loop ", p.Text(loop.name), " is ", ToString(loop.kind), "; only serial loops can be fused"));
    }
    if (i > 0 && (p.nodes[loops[i - 1]].first != loops[i] ||
                  (p.nodes[loops[i]].next != kNone && !KILN_DEFECT("fuse.siblings")))) {
      return absl::FailedPreconditionError(absl::StrCat(
          "loop ", p.Text(loop.name), " is not the only child of loop ", p.Text(p.loop(loops[i - 1]).name)));
    }
    extent *= loop.extent.Known();
    tainted |= loop.tainted;
    absl::StrAppend(&name, i == 0 ? "" : "_", p.Text(loop.name));
  }
  for (const Id block : BlocksBelow(p, loops.back())) {
    if (p.block(block).monoid == kNone || p.block(block).accumulates) continue;
    const std::vector<Id> around = LoopsAround(p, block);
    const auto first = std::find(around.begin(), around.end(), loops.front());
    const size_t position = first - around.begin(), start = ReductionStart(p, block);
    if (start <= position || start >= position + loops.size()) continue;
    const absl::Status once = CheckReducesOnce(p, block, {first, around.end()});
    if (!once.ok() && !KILN_DEFECT("fuse.restart")) return once;
  }
  const Id fused = p.AddLoop(name, extent);
  p.loop(fused).tainted = tainted;
  p.Replace(loops.front(), fused);
  const Id innermost = loops.back();
  while (p.nodes[innermost].first != kNone) {
    const Id child = p.nodes[innermost].first;
    p.Detach(child);
    p.Append(fused, child);
  }
  DefineDigits(p, loops, fused);
  for (size_t i = loops.size(); i-- > 0;) p.Kill(loops[i]);
  call.Return(fused);
  return absl::OkStatus();
}

const Primitive kFuse{
    .name = "fuse",
    .operands = {{"loops", OperandKind::kLoop, true}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "fused",
    .doc =
        "Fuses directly nested serial loops, given outermost first, into one loop.\n"
        "for i in 0..I: for j in 0..J: S(i, j)\n->\n"
        "for f in 0..I*J: S(f / J, f % J)\n"
        "Does not apply if a loop is not the only child of the previous one, or if a reduction would run "
        "an instance twice.",
    .apply = Fuse,
};
KILN_PRIMITIVE(kFuse);

}  // namespace
}  // namespace kiln
