// reorder
//
//   for i: for j: for k: S      -- reorder k i -->      for k: for j: for i: S
//
// Puts loops of one nest into the given order. They take each other's places; other loops between them keep theirs. A
// reduction may then combine its values in another order, which its monoid allows.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

// Checks the reductions below the loops: where a reduction starts at another loop in the new order, no instance may run
// twice below that loop.
absl::Status CheckReductions(const Program& p, const std::vector<Id>& chain, const std::vector<Id>& order) {
  for (const Id block : BlocksBelow(p, chain.back())) {
    if (p.block(block).monoid == kNone || p.block(block).accumulates) continue;
    const std::vector<Id> before = LoopsAround(p, block);
    const auto first = std::find(before.begin(), before.end(), chain.front());
    if (first == before.end()) continue;
    const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
    const auto reducing = [&](Id loop) {
      return reduces[std::find(before.begin(), before.end(), loop) - before.begin()];
    };
    std::vector<Id> after = before;
    std::copy(order.begin(), order.end(), after.begin() + (first - before.begin()));
    const auto from = std::find_if(before.begin(), before.end(), reducing);
    const auto start = std::find_if(after.begin(), after.end(), reducing);
    if (start == after.end()) continue;
    if (std::all_of(start, after.end(),
                    [&](Id loop) { return std::find(from, before.end(), loop) != before.end(); }))
      continue;
    const absl::Status status = CheckReducesOnce(p, block, {start, after.end()});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Checks that, in the new order, an iteration reads only what earlier iterations have written. For each buffer, the
// loops whose iterations read what others write must stay in the same order.
absl::Status CheckDependences(const Program& p, const std::vector<Id>& chain, const std::vector<Id>& order) {
  const std::vector<Id> blocks = BlocksBelow(p, chain.back());
  if (blocks.size() < 2) return absl::OkStatus();
  for (const Id block : blocks) {
    for (const Id buffer : WrittenBuffers(p, block)) {
      std::vector<Id> apart[2];
      for (const bool now : {false, true}) {
        for (const Id loop : now ? order : chain) {
          if (p.loop(loop).extent.Known() > 1 && ReadsBeside(p, buffer, loop)) apart[now].push_back(loop);
        }
      }
      if (apart[0] == apart[1]) continue;
      return absl::FailedPreconditionError(absl::StrCat("iterations of ", Describe(p, apart[0].front()),
                                                        " read of ", p.Text(p.buffers[buffer].name),
                                                        " what earlier iterations write"));
    }
  }
  return absl::OkStatus();
}

absl::Status Reorder(Call& call) {
  Program& p = call.program();
  const std::vector<Id> wanted = call.nodes(0);
  if (wanted.empty()) return absl::InvalidArgumentError("no loops are given");
  const auto given = [&](Id n) { return std::count(wanted.begin(), wanted.end(), n); };
  Id outermost = wanted.front(), innermost = wanted.front();
  for (const Id loop : wanted) {
    if (given(loop) != 1) {
      // Refuses a loop that is given twice as a failed precondition, not an invalid argument: with other decisions, the
      // two handles may name different loops.
      return absl::FailedPreconditionError(
          absl::StrCat("loop ", p.Text(p.loop(loop).name), " is given twice"));
    }
    if (IsAncestor(p, loop, outermost)) outermost = loop;
    if (IsAncestor(p, innermost, loop)) innermost = loop;
  }
  std::vector<Id> chain;  // innermost first
  chain.reserve(16);
  for (Id at = innermost;; at = p.nodes[at].parent) {
    if (at == kNone || !p.IsLoop(at)) {
      return absl::FailedPreconditionError("the loops are not on one chain");
    }
    if (at != innermost && p.nodes[at].first != p.nodes[at].last) {
      return absl::FailedPreconditionError(
          absl::StrCat("loop ", p.Text(p.loop(at).name),
                       " has more than one child, so it is not on one chain with the loops within"));
    }
    chain.push_back(at);
    if (at == outermost) break;
  }
  std::reverse(chain.begin(), chain.end());
  std::vector<Id> order = chain;
  size_t next = 0;
  for (Id& place : order) {
    if (given(place)) place = wanted[next++];
  }
  if (next != wanted.size()) return absl::FailedPreconditionError("the loops are not on one chain");
  const absl::Status once = CheckReductions(p, chain, order);
  if (!once.ok() && !KILN_DEFECT("reorder.restart")) return once;
  if (const absl::Status kept = CheckDependences(p, chain, order); !kept.ok()) return kept;

  // Reorders the nodes, and leaves each loop in its node, because handles and bindings refer to nodes.
  const Id marker = p.AddLoop("place", 1);
  p.Replace(outermost, marker);
  std::vector<Id> children;
  for (Id c = p.nodes[innermost].first; c != kNone; c = p.nodes[innermost].first) {
    p.Detach(c);
    children.push_back(c);
  }
  for (size_t i = 1; i < chain.size(); ++i) p.Detach(chain[i]);
  p.Replace(marker, order.front());
  p.Kill(marker);
  for (size_t i = 1; i < order.size(); ++i) p.Append(order[i - 1], order[i]);
  if (KILN_DEFECT("reorder.children") && children.size() > 1) children.pop_back();
  for (const Id c : children) p.Append(order.back(), c);
  return absl::OkStatus();
}

const Primitive kReorder{
    .name = "reorder",
    .operands = {{"loops", OperandKind::kLoop, true}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Puts loops of one chain in the given order. Other loops keep their places.\n"
        "for i: for j: for k: S\n"
        "-> reorder k i\n"
        "for k: for j: for i: S\n"
        "Does not apply if a loop between the outermost and the innermost has more than one child.",
    .apply = Reorder,
};
KILN_PRIMITIVE(kReorder);

}  // namespace
}  // namespace kiln
