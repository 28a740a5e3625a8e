#include "lang/analysis/legality.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

bool IsPrepared(const Program& p, Id node) { return p.nodes[NestOf(p, node)].prepare; }

absl::Status CheckPreparedBlock(const Program& p, Id block) {
  for (const Id buffer : ReadBuffers(p, block)) {
    const std::vector<Id> writers = Writers(p, buffer);
    const auto prepared = [&](Id writer) { return IsPrepared(p, writer); };
    const Role role = p.buffers[buffer].role;
    const bool constant = role == Role::kConstant || (role == Role::kTemporary && !writers.empty() &&
                                                      std::all_of(writers.begin(), writers.end(), prepared));
    if (constant || KILN_DEFECT("prepare.reads")) continue;
    return No(absl::StrCat(Describe(p, block), " is prepared, but reads ", p.Text(p.buffers[buffer].name),
                           ", which is neither constant nor prepared"));
  }
  for (const Id buffer : WrittenBuffers(p, block)) {
    const absl::string_view name = p.Text(p.buffers[buffer].name);
    if (p.buffers[buffer].role != Role::kTemporary)
      return No(absl::StrCat(Describe(p, block), " is prepared, but writes ", name, ", a result"));
    for (const Id writer : Writers(p, buffer)) {
      if (!IsPrepared(p, writer)) {
        return No(absl::StrCat(Describe(p, block), " is prepared, but ", Describe(p, writer), " writes ",
                               name, " too"));
      }
    }
    const std::vector<Id> readers = Readers(p, buffer);
    const bool crosses =
        std::any_of(readers.begin(), readers.end(), [&](Id reader) { return !IsPrepared(p, reader); });
    if (crosses && p.buffers[buffer].scope.owner != Owner::kGrid) {
      return No(absl::StrCat(Describe(p, block), " is prepared; what it writes for others, ", name,
                             ", must be in global memory, but is in ",
                             ToString(p.buffers[buffer].scope.storage)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool Restricted(const Program& program) {
  // Looks only at the first child of the root for prepared nests: prepared children come before the others.
  const Id first = program.nodes[kRoot].first;
  if (first != kNone && program.nodes[first].prepare) return true;
  return !program.pipelines.empty() &&
         std::any_of(program.nodes.begin(), program.nodes.end(), [&](const Node& node) {
           return node.kind == Node::Kind::kLoop && program.loops[node.index].kind == LoopKind::kPipelined;
         });
}

absl::Status CheckRestrictions(const Program& program) {
  absl::Status status = CheckPrepared(program);
  for (const Id loop : LoopsBelow(program, kRoot)) {
    if (status.ok() && program.loop(loop).kind == LoopKind::kPipelined) status = CheckPipeline(program, loop);
  }
  return status;
}

absl::Status CheckPrepared(const Program& program) {
  bool first = true;
  for (Id nest = program.nodes[kRoot].first; nest != kNone; nest = program.nodes[nest].next) {
    if (!program.nodes[nest].prepare) {
      first = false;
      continue;
    }
    if (!first) return No(absl::StrCat(Describe(program, nest), " is prepared, but does not come first"));
    std::vector<Id> blocks = BlocksBelow(program, nest);
    if (program.IsBlock(nest)) blocks.push_back(nest);
    for (const Id block : blocks) {
      const absl::Status status = CheckPreparedBlock(program, block);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

bool IsBlockAxis(LoopKind kind) { return kind >= LoopKind::kBlockX && kind <= LoopKind::kBlockZ; }
bool IsThreadAxis(LoopKind kind) { return kind >= LoopKind::kThreadX && kind <= LoopKind::kThreadZ; }

bool OnAxis(const Program& program, Id loop) {
  const LoopNode& l = program.loop(loop);
  return (IsBlockAxis(l.kind) || IsThreadAxis(l.kind)) && l.extent.UpperBound() > 1;
}

bool HasAxes(const Program& program) {
  const std::vector<Id> loops = LoopsBelow(program, kRoot);
  return std::any_of(loops.begin(), loops.end(), [&](Id loop) { return OnAxis(program, loop); });
}

Id NestOf(const Program& program, Id node) {
  while (program.nodes[node].parent != kRoot) node = program.nodes[node].parent;
  return node;
}

bool IsKernel(const Program& program, Id nest) {
  std::vector<Id> loops = LoopsBelow(program, nest);
  if (program.IsLoop(nest)) loops.push_back(nest);
  return std::any_of(loops.begin(), loops.end(), [&](Id loop) { return OnAxis(program, loop); });
}

}  // namespace kiln
