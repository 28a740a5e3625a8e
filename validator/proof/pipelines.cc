// Proves that the children of pipelined loops may overlap.
//
// The iterations of one child run in order. Each iteration has its own copy of a buffer in a ring. A reader waits for
// the writer's same iteration, and a writer waits for the readers of the copy that it overwrites. So running the
// children overlapped gives the same results as running them one after the other, under two conditions: children share
// written buffers only through rings, and every element read from a ring was written in the same iteration.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "validator/proof/obligations.h"

namespace kiln::proof {

size_t Obligations::Anew(Id buffer, Id block) const {
  const std::vector<Id>& loops = model_.spaces().of(block).loops;
  for (size_t l = loops.size(); l-- > 0;) {
    const LoopNode& loop = p_.loop(loops[l]);
    const auto rings = p_.Rings(loop);
    if (loop.kind == LoopKind::kPipelined &&
        std::any_of(rings.begin(), rings.end(), [&](const Ring& ring) { return ring.buffer == buffer; }))
      return l + 1;
  }
  return 0;
}

// Checks how the children of a pipelined loop use a buffer. If a ring carries it, only one child may write it, anew in
// each iteration, and nothing outside of the loop may use it. Otherwise, if a child writes it, no other child may use
// it.
Finding Obligations::Pipelined(Id buffer, Id loop) {
  std::set<Id> writers, users;  // the children that write or use the buffer
  bool outside = p_.buffers[buffer].role != Role::kTemporary;
  const auto note = [&](Id block, bool writes) {
    outside |= !Below(loop, block);
    for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next) {
      if (!Below(child, block)) continue;
      users.insert(child);
      if (writes) writers.insert(child);
    }
  };
  size_t around = 0;
  for (Id node = loop; node != kNone; node = p_.nodes[node].parent) around += p_.IsLoop(node);
  bool anew = true;
  for (const Unit& unit : model_.units(buffer)) {
    anew &= !unit.reduces || unit.around >= around;
    for (const auto* list : {&unit.writers, &unit.starters})
      for (const Writer& w : *list) note(w.block, true);
  }
  for (const Read& read : reads_)
    if (read.buffer == buffer) note(read.block, false);
  const auto rings = p_.Rings(p_.loop(loop));
  const bool carried = std::any_of(rings.begin(), rings.end(),
                                   [&](const Ring& r) { return r.buffer == buffer && r.depth > 0; });
  if (carried ? writers.size() == 1 && !outside && anew : writers.empty() || users.size() == 1) return {};
  return {Answer::kUnknown,
          absl::StrCat("children of the pipelined loop ", p_.Text(p_.loop(loop).name), " share ",
                       p_.Text(p_.buffers[buffer].name), ", which ",
                       !carried              ? "no ring carries"
                       : writers.size() != 1 ? "several of them write"
                       : outside             ? "is used outside of it"
                                             : "is not made anew in each iteration"),
          {}};
}

Finding Obligations::Pipelines() {
  std::set<Id> loops;
  for (const Id block : model_.spaces().blocks())
    for (const Id loop : model_.spaces().of(block).loops)
      if (p_.loop(loop).kind == LoopKind::kPipelined) loops.insert(loop);
  for (const Id loop : loops) {
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      Finding finding = model_.IsWritten(b) ? Pipelined(b, loop) : Finding();
      if (finding.answer != Answer::kYes) return finding;
    }
  }
  return {};
}

}  // namespace kiln::proof
