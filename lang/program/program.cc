#include "lang/program/program.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

template <typename T>
Id Push(std::vector<T>& pool, const T& value) {
  pool.push_back(value);
  return static_cast<Id>(pool.size()) - 1;
}

}  // namespace

Program::Program() { nodes.emplace_back(); }

IndexSum Program::SumOf(Id mark) const {
  const IndexMark& m = marks[mark];
  const auto list = Splits(m.splits);
  IndexSum sum;
  sum.offset = m.offset;
  sum.splits.assign(list.begin(), list.end());
  return sum;
}

std::vector<Id> Program::GatherIndex(const Expr& e) const {
  std::vector<Id> index;
  Id at = e.AsGather().index;
  for (; exprs[at].op == Op::kTuple; at = exprs[at].operand(0)) index.push_back(exprs[at].operand(1));
  index.push_back(at);
  std::reverse(index.begin(), index.end());
  return index;
}

Id Program::Intern(absl::string_view name) {
  // Searches the stored names, which all end with '\0', for `name` with its '\0'. A hit counts only at the beginning of
  // a stored name.
  const size_t length = name.size() + 1;
  absl::InlinedVector<char, 64> ended(name.begin(), name.end());
  ended.push_back('\0');
  for (const char* from = names.data();
       const void* found = memmem(from, names.data() + names.size() - from, ended.data(), length);) {
    const char* at = static_cast<const char*>(found);
    if (at == names.data() || at[-1] == '\0') return static_cast<Id>(at - names.data());
    from = at + 1;
  }
  return AddName(name);
}

Id Program::AddName(absl::string_view name) {
  const Id id = static_cast<Id>(names.size());
  names.append(name.data(), name.size());
  names.push_back('\0');
  return id;
}

Id Program::AddMark(const IndexSum& sum, Extent extent) {
  const Range range{static_cast<int32_t>(splits.size()), static_cast<int32_t>(sum.splits.size())};
  splits.insert(splits.end(), sum.splits.begin(), sum.splits.end());
  return Push(marks, IndexMark{extent, sum.offset, range});
}

Id Program::AddExpr(const Expr& expr) {
  const Id known = expr_index.Find(exprs, expr);
  if (known != kNone) return known;
  exprs.push_back(expr);
  expr_index.Update(exprs);
  return static_cast<Id>(exprs.size()) - 1;
}

Range Program::AddList(absl::Span<const int32_t> values) {
  const Range range{static_cast<int32_t>(lists.size()), static_cast<int32_t>(values.size())};
  lists.insert(lists.end(), values.begin(), values.end());
  return range;
}

Range Program::AddDims(absl::Span<const Extent> shape) {
  const Range range{static_cast<int32_t>(dims.size()), static_cast<int32_t>(shape.size())};
  dims.insert(dims.end(), shape.begin(), shape.end());
  return range;
}

Id Program::AddBuffer(absl::string_view name, DType dtype, absl::Span<const Extent> shape, Role role,
                      Scope scope) {
  Buffer buffer;
  buffer.name = AddName(name);
  buffer.dtype = dtype;
  buffer.role = role;
  buffer.scope = scope;
  buffer.shape = AddDims(shape);
  const Id id = Push(buffers, buffer);
  if (role != Role::kTemporary && role != Role::kStatus) parameters.push_back(id);
  return id;
}

Id Program::AddLoop(absl::string_view name, Extent extent, LoopKind kind) {
  LoopNode loop;
  loop.name = AddName(name);
  loop.extent = extent;
  loop.kind = kind;
  Node node;
  node.kind = Node::Kind::kLoop;
  node.index = Push(loops, loop);
  return Push(nodes, node);
}

Id Program::AddBlock(const BlockNode& block) {
  Node node;
  node.kind = Node::Kind::kBlock;
  node.index = Push(blocks, block);
  return Push(nodes, node);
}

absl::Span<const PipelineStage> Program::Stages(const LoopNode& loop) const {
  if (loop.pipeline == kNone) return {};
  const Range r = pipelines[loop.pipeline].stages;
  return {stages.data() + r.begin, static_cast<size_t>(r.count)};
}

absl::Span<const Ring> Program::Rings(const LoopNode& loop) const {
  if (loop.pipeline == kNone) return {};
  const Range r = pipelines[loop.pipeline].rings;
  return {rings.data() + r.begin, static_cast<size_t>(r.count)};
}

void Program::SetPipeline(Id node, absl::Span<const PipelineStage> of_children,
                          absl::Span<const Ring> carried) {
  loop(node).kind = LoopKind::kPipelined;
  loop(node).pipeline = static_cast<Id>(pipelines.size());
  pipelines.push_back({{static_cast<int32_t>(stages.size()), static_cast<int32_t>(of_children.size())},
                       {static_cast<int32_t>(rings.size()), static_cast<int32_t>(carried.size())}});
  stages.insert(stages.end(), of_children.begin(), of_children.end());
  rings.insert(rings.end(), carried.begin(), carried.end());
}

std::string Program::FreshName(absl::string_view wanted) const {
  const auto taken = [&](const std::string& name) {
    const auto is = [&](Id known) { return std::strcmp(names.c_str() + known, name.c_str()) == 0; };
    for (const Buffer& b : buffers) {
      if (is(b.name)) return true;
    }
    for (const Node& n : nodes) {
      if (n.kind == Node::Kind::kBlock && is(blocks[n.index].name)) return true;
    }
    return false;
  };
  std::string name(wanted);
  for (int i = 1; taken(name); ++i) name = absl::StrCat(wanted, ".", i);
  return name;
}

void Program::Append(Id parent, Id node) {
  Node& n = nodes[node];
  Node& p = nodes[parent];
  KILN_CHECK(n.parent == kNone, "node ", node, " is in the tree already");
  n.prepare = n.prepare && parent == kRoot;
  n.parent = parent;
  n.prev = p.last;
  n.next = kNone;
  (p.last == kNone ? p.first : nodes[p.last].next) = node;
  p.last = node;
}

void Program::InsertBefore(Id sibling, Id node) {
  Node& n = nodes[node];
  Node& s = nodes[sibling];
  KILN_CHECK(n.parent == kNone && s.parent != kNone, "node ", node, " before ", sibling);
  n.prepare = s.prepare;
  n.parent = s.parent;
  n.prev = s.prev;
  n.next = sibling;
  (s.prev == kNone ? nodes[s.parent].first : nodes[s.prev].next) = node;
  s.prev = node;
}

void Program::InsertAfter(Id sibling, Id node) {
  const Id next = nodes[sibling].next;
  next == kNone ? Append(nodes[sibling].parent, node) : InsertBefore(next, node);
  nodes[node].prepare = nodes[sibling].prepare;
}

void Program::Detach(Id node) {
  Node& n = nodes[node];
  KILN_CHECK(n.parent != kNone, "node ", node, " is not in the tree");
  (n.prev == kNone ? nodes[n.parent].first : nodes[n.prev].next) = n.next;
  (n.next == kNone ? nodes[n.parent].last : nodes[n.next].prev) = n.prev;
  n.parent = n.prev = n.next = kNone;
}

void Program::Kill(Id node) {
  KILN_CHECK(nodes[node].first == kNone, "node ", node, " has children");
  if (nodes[node].parent != kNone) Detach(node);
  nodes[node].kind = Node::Kind::kDead;
}

void Program::Replace(Id old, Id node) {
  InsertBefore(old, node);
  Detach(old);
}

absl::Status CheckConstantExtents(const Program& p, absl::string_view needing) {
  const auto variable = [&](absl::string_view what, absl::string_view name) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, name, " has an extent that is a parameter; ", needing, " needs constant extents"));
  };
  for (const Buffer& buffer : p.buffers) {
    for (const Extent& extent : p.Dims(buffer.shape)) {
      if (!extent.constant()) return variable("buffer ", p.Text(buffer.name));
    }
  }
  for (const LoopNode& loop : p.loops) {
    if (!loop.extent.constant()) return variable("loop ", p.Text(loop.name));
  }
  for (const Iter& iter : p.iters) {
    if (!iter.extent.constant()) return variable("iter ", p.Text(iter.name));
  }
  for (const IndexMark& mark : p.marks) {
    if (!mark.extent.constant()) return variable("an index", "");
  }
  return absl::OkStatus();
}

}  // namespace kiln
