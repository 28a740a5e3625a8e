#include "lang/graph/outline.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/expr_copier.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

void AddOnce(std::vector<Id>& list, Id id) {
  if (!absl::c_linear_search(list, id)) list.push_back(id);
}

// Copies nests of one program to another.
class Copier {
 public:
  Copier(const Program& from, Program& to)
      : from_(from),
        to_(to),
        buffers_(from.buffers.size(), kNone),
        nodes_(from.nodes.size(), kNone),
        monoids_(from.monoids.size(), kNone),
        exprs_(from, to,
               {.buffer = [this](Id buffer) { return buffers_[buffer]; },
                .mark = [this](Id mark) { return CopyMark(mark); },
                .written_out = kWrittenOut}) {}
  Copier(const Copier&) = delete;

  void AddBuffer(Id id, Role role) {
    const Buffer& b = from_.buffers[id];
    std::vector<Extent> shape;
    for (const Extent& e : from_.Dims(b.shape)) shape.push_back(CopyExtent(e));
    const Id copy = to_.AddBuffer(from_.Text(b.name), b.dtype, shape, role, b.scope);
    buffers_[id] = copy;
    if (b.data != kNone) {
      to_.parameters.pop_back();  // it carries its bytes, so it is no argument
      to_.buffers[copy].data = static_cast<Id>(constants_.size());
      constants_.push_back((*from_.constants)[b.data]);
    }
    Layout layout = b.layout;
    layout.axes = CopyMarks(b.layout.axes);
    layout.kinds = to_.AddList(from_.List(b.layout.kinds));
    if (layout.padding != kNone) layout.padding = exprs_.Copy(layout.padding);
    to_.buffers[copy].layout = layout;
  }

  // Stores the bytes of the copied constants in the new program. Call it after all buffers were added.
  void SetConstants() {
    if (!constants_.empty())
      to_.constants = std::make_shared<const std::vector<std::string>>(std::move(constants_));
  }

  void CopyNest(Id node, Id parent) {
    const Node& n = from_.nodes[node];
    const Id copy = from_.IsLoop(node) ? CopyLoop(node) : to_.AddBlock({});
    nodes_[node] = copy;
    to_.nodes[copy].prepare = n.prepare;
    to_.Append(parent, copy);
    if (from_.IsBlock(node)) CopyBlock(node);
    for (Id child = n.first; child != kNone; child = from_.nodes[child].next) CopyNest(child, copy);
  }

 private:
  Id Name(Id name) { return name == kNone ? kNone : to_.Intern(from_.Text(name)); }

  Extent CopyExtent(Extent e) {
    if (e.constant()) return e;
    return Extent::Parameter(buffers_[e.parameter()], e.LowerBound(), e.UpperBound(), e.divisor());
  }

  Range CopyAnnotations(Range annotations) {
    std::vector<int32_t> pairs(from_.List(annotations).begin(), from_.List(annotations).end());
    for (size_t i = 0; i < pairs.size(); i += 2) pairs[i] = Name(pairs[i]);
    return to_.AddList(pairs);
  }

  Id CopyMark(Id mark) {
    IndexSum sum = from_.SumOf(mark);
    for (IndexSplit& split : sum.splits) {
      Source& source = split.source;
      if (source.kind == Source::Kind::kMark) {
        source = Source::Mark(CopyMark(source.id));
      } else if (source.kind == Source::Kind::kLoop && from_.IsLoop(source.id)) {
        source = Source::Loop(nodes_[source.id]);
      } else if (source.kind == Source::Kind::kLoop) {
        source = Source::Mark(CopyMark(from_.loops[from_.nodes[source.id].index].definition));
      }
    }
    return to_.AddMark(sum, CopyExtent(from_.marks[mark].extent));
  }

  Range CopyMarks(Range marks) {
    std::vector<int32_t> copies;
    for (const Id mark : from_.List(marks)) copies.push_back(CopyMark(mark));
    return to_.AddList(copies);
  }

  Id CopyMonoid(Id id) {
    if (monoids_[id] != kNone) return monoids_[id];
    Monoid monoid = from_.monoids[id];
    monoid.identity = exprs_.Copy(monoid.identity);
    monoid.combine = exprs_.Copy(monoid.combine);
    to_.monoids.push_back(monoid);
    return monoids_[id] = static_cast<Id>(to_.monoids.size()) - 1;
  }

  Id CopyLoop(Id node) {
    const LoopNode& loop = from_.loop(node);
    const Id copy = to_.AddLoop(from_.Text(loop.name), CopyExtent(loop.extent), loop.kind);
    to_.loop(copy).tainted = loop.tainted;
    to_.loop(copy).annotations = CopyAnnotations(loop.annotations);
    if (loop.kind == LoopKind::kPipelined) {
      std::vector<Ring> rings(from_.Rings(loop).begin(), from_.Rings(loop).end());
      for (Ring& ring : rings) ring.buffer = buffers_[ring.buffer];
      to_.SetPipeline(copy, from_.Stages(loop), rings);
    }
    return copy;
  }

  void CopyBlock(Id node) {
    BlockNode block = from_.block(node);
    block.name = Name(block.name);
    std::vector<Iter> iters;
    for (Iter iter : from_.Iters(block.iters)) {
      iter.name = Name(iter.name);
      iter.extent = CopyExtent(iter.extent);
      if (iter.binding != kNone) iter.binding = CopyMark(iter.binding);
      iters.push_back(iter);
    }
    block.iters.begin = static_cast<int32_t>(to_.iters.size());
    to_.iters.insert(to_.iters.end(), iters.begin(), iters.end());
    block.domain = CopyMarks(block.domain);
    if (block.monoid != kNone) block.monoid = CopyMonoid(block.monoid);
    std::vector<Access> dests;
    for (const Access& dest : from_.Accesses(block.dests))
      dests.push_back({buffers_[dest.buffer], CopyMarks(dest.index)});
    block.dests.begin = static_cast<int32_t>(to_.accesses.size());
    to_.accesses.insert(to_.accesses.end(), dests.begin(), dests.end());
    block.values = exprs_.Copy(block.values);
    block.initial = exprs_.Copy(block.initial);
    block.annotations = CopyAnnotations(block.annotations);
    if (block.intrinsic != kNone) block.intrinsic = to_.Intern(from_.Text(block.intrinsic));
    block.provenance = {Provenance::Kind::kCompute, nodes_[node], {}};
    to_.block(nodes_[node]) = block;
  }

  const Program& from_;
  Program& to_;
  std::vector<Id> buffers_, nodes_, monoids_;  // by id in `from_`: the copies
  ExprCopier exprs_;
  std::vector<std::string> constants_;
};

}  // namespace

absl::StatusOr<Outlined> Outline(const Program& program, absl::Span<const Id> blocks, absl::string_view name,
                                 absl::Span<const char> prepared, absl::Span<const ForeignCall> foreign) {
  std::vector<Id> nests;
  for (Id node : blocks) {
    while (program.nodes[node].parent != kRoot) node = program.nodes[node].parent;
    AddOnce(nests, node);
  }
  Outlined result;
  std::vector<Id> read, written, used_outside, written_outside;
  for (const Id block : Blocks(program)) {
    const bool inside =
        std::any_of(nests.begin(), nests.end(), [&](Id n) { return IsAncestor(program, n, block); });
    if (inside) result.blocks.push_back(block);
    for (const Id b : ReadBuffers(program, block)) AddOnce(inside ? read : used_outside, b);
    for (const Id b : WrittenBuffers(program, block)) AddOnce(inside ? written : written_outside, b);
  }
  for (const ForeignCall& call : foreign) {
    for (const Id b : call.reads) AddOnce(used_outside, b);
  }
  for (const Id b : written) {
    if (!absl::c_linear_search(written_outside, b)) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("blocks outside of the task write to ", program.Text(program.buffers[b].name), " too"));
  }

  result.task.name = std::string(name);
  Copier copier(program, result.task);
  for (const Id b : read) {
    if (absl::c_linear_search(written, b)) continue;
    const Role role = program.buffers[b].role;
    const bool is_prepared = !prepared.empty() && prepared[b] != 0;
    copier.AddBuffer(b, IsGiven(role) ? role : is_prepared ? Role::kConstant : Role::kInput);
    if (program.buffers[b].data == kNone) result.boundary.push_back(b);
  }
  for (const Id b : written) {
    const Role role = program.buffers[b].role;
    const bool crosses = role == Role::kOutput || absl::c_linear_search(used_outside, b);
    copier.AddBuffer(b, role == Role::kStatus ? role : crosses ? Role::kOutput : Role::kTemporary);
    if (crosses) result.boundary.push_back(b);
  }
  copier.SetConstants();
  for (Id nest = program.nodes[kRoot].first; nest != kNone; nest = program.nodes[nest].next) {
    if (absl::c_linear_search(nests, nest)) copier.CopyNest(nest, kRoot);
  }
  const absl::Status status = Verify(result.task);
  if (!status.ok()) return status;
  return result;
}

bool HasGivenConstants(const Program& program) {
  return absl::c_any_of(program.parameters, [&](Id b) { return program.buffers[b].role == Role::kConstant; });
}

std::vector<char> PreparedBuffers(const Program& program) {
  std::vector<int> prepared(program.buffers.size(), -1);  // -1: nothing writes it yet
  const auto is_constant = [&](Id b) {
    return program.buffers[b].role == Role::kConstant || prepared[b] == 1;
  };
  for (const Id block : Blocks(program)) {
    const std::vector<Id> written = WrittenBuffers(program, block);
    bool all = true, any_given = false;
    int64_t most = 0, written_elements = 1;
    for (const Iter& iter : program.Iters(program.block(block).iters))
      written_elements *= iter.kind == IterKind::kSpatial ? iter.extent.UpperBound() : 1;
    for (const Id b : ReadBuffers(program, block)) {
      if (absl::c_linear_search(written, b)) continue;
      all = all && is_constant(b);
      any_given = any_given || program.buffers[b].data == kNone;
      most = std::max(most, ElementsOf(program, b));
    }
    for (const Id b : written) {
      const bool fits = program.buffers[b].role == Role::kTemporary && written_elements <= most;
      prepared[b] = prepared[b] != 0 && all && any_given && fits ? 1 : 0;
    }
  }
  std::vector<char> result;
  for (const int is : prepared) result.push_back(is == 1 ? 1 : 0);
  return result;
}

}  // namespace kiln
