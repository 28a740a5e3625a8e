#include "lang/analysis/dataflow.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace kiln {
namespace {

// In program order, calls `visit` with each block below a node.
template <typename Visitor>
void EachBlockBelow(const Program& p, Id node, const Visitor& visit) {
  const Id top = node;
  do {
    if (p.nodes[node].first != kNone) {
      node = p.nodes[node].first;
    } else {
      while (node != top && p.nodes[node].next == kNone) node = p.nodes[node].parent;
      if (node != top) node = p.nodes[node].next;
    }
    if (node != top && p.IsBlock(node)) visit(node);
  } while (node != top);
}

constexpr size_t kFew = 24;
using Exprs = absl::InlinedVector<Id, kFew>;

// Those of `order`, once they are too many to be looked through.
using Seen = absl::flat_hash_set<Id>;

bool Contains(const Exprs& order, const Seen& seen, Id expr) {
  return seen.empty() ? absl::c_linear_search(order, expr) : seen.contains(expr);
}

void Visit(const Program& p, Id expr, Exprs& order, Seen& seen) {
  if (Contains(order, seen, expr)) return;
  const Expr& e = p.exprs[expr];
  const int arity = Arity(e.op);
  if (arity > 0) Visit(p, e.a, order, seen);
  if (arity > 1) Visit(p, e.b, order, seen);
  if (arity > 2) Visit(p, e.c, order, seen);
  order.push_back(expr);
  if (order.size() == kFew) seen.insert(order.begin(), order.end());
  if (order.size() > kFew) seen.insert(expr);
}

void AddOnce(std::vector<Id>& list, Id id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

Exprs Body(const Program& p, Id block) {
  Exprs order;
  Seen seen;
  for (const Id e : p.List(p.block(block).values)) Visit(p, e, order, seen);
  for (const Id e : p.List(p.block(block).initial)) Visit(p, e, order, seen);
  return order;
}

// Whether a block writes (reads) one of the buffers.
template <typename List>
bool WritesAny(const Program& p, Id block, const List& buffers) {
  const auto dests = p.Accesses(p.block(block).dests);
  return std::any_of(dests.begin(), dests.end(),
                     [&](const Access& dest) { return absl::c_linear_search(buffers, dest.buffer); });
}
template <typename List>
bool ReadsAny(const Program& p, Id block, const List& buffers) {
  const Exprs body = Body(p, block);
  return std::any_of(body.begin(), body.end(),
                     [&](Id e) { return absl::c_linear_search(buffers, BufferRead(p.exprs[e])); });
}

template <typename Condition>
std::vector<Id> BlocksIf(const Program& p, const Condition& condition) {
  std::vector<Id> blocks;
  EachBlockBelow(p, kRoot, [&](Id block) {
    if (condition(block)) blocks.push_back(block);
  });
  return blocks;
}

int Depth(const Program& p, Id node) {
  int depth = 0;
  for (; p.nodes[node].parent != kNone; node = p.nodes[node].parent) ++depth;
  return depth;
}

}  // namespace

std::vector<Id> Blocks(const Program& program) { return BlocksBelow(program, kRoot); }

std::vector<Id> BlocksBelow(const Program& program, Id node) {
  std::vector<Id> blocks;
  blocks.reserve(8);
  EachBlockBelow(program, node, [&](Id block) { blocks.push_back(block); });
  return blocks;
}

std::vector<Id> BlocksOf(const Program& program, Id node) {
  std::vector<Id> blocks = BlocksBelow(program, node);
  if (program.IsBlock(node)) blocks.insert(blocks.begin(), node);
  return blocks;
}

Id BufferRead(const Expr& e) {
  return e.op == Op::kLoad ? e.a : e.op == Op::kGather ? static_cast<Id>(e.bits) : kNone;
}

std::vector<Id> BodyExprs(const Program& program, Id block) {
  const Exprs order = Body(program, block);
  return {order.begin(), order.end()};
}

std::vector<Id> Loads(const Program& program, Id block) {
  std::vector<Id> loads;
  loads.reserve(4);
  for (const Id e : Body(program, block)) {
    if (program.exprs[e].op == Op::kLoad) loads.push_back(e);
  }
  return loads;
}

std::vector<Id> Gathers(const Program& program, Id block) {
  std::vector<Id> gathers;
  for (const Id e : Body(program, block)) {
    if (program.exprs[e].op == Op::kGather) gathers.push_back(e);
  }
  return gathers;
}

bool GathersFrom(const Program& program, Id block, Id buffer) {
  const std::vector<Id> gathers = Gathers(program, block);
  return std::any_of(gathers.begin(), gathers.end(), [&](Id e) { return program.exprs[e].bits == buffer; });
}

bool ReadsInitially(const Program& program, Id block, Id buffer) {
  Exprs order;
  Seen seen;
  for (const Id e : program.List(program.block(block).initial)) Visit(program, e, order, seen);
  return std::any_of(order.begin(), order.end(),
                     [&](Id e) { return BufferRead(program.exprs[e]) == buffer; });
}

std::vector<Id> ReadBuffers(const Program& program, Id block) {
  std::vector<Id> buffers;
  buffers.reserve(4);
  for (const Id e : Body(program, block)) {
    if (const Id buffer = BufferRead(program.exprs[e]); buffer != kNone) AddOnce(buffers, buffer);
  }
  return buffers;
}

std::vector<Id> WrittenBuffers(const Program& program, Id block) {
  std::vector<Id> buffers;
  for (const Access& dest : program.Accesses(program.block(block).dests)) AddOnce(buffers, dest.buffer);
  return buffers;
}

bool Reads(const Program& program, Id block, Id buffer) {
  return ReadsAny(program, block, absl::MakeConstSpan(&buffer, 1));
}

bool Writes(const Program& program, Id block, Id buffer) {
  return WritesAny(program, block, absl::MakeConstSpan(&buffer, 1));
}

std::vector<Id> Writers(const Program& program, Id buffer) {
  return BlocksIf(program, [&](Id b) { return Writes(program, b, buffer); });
}

std::vector<Id> Readers(const Program& program, Id buffer) {
  return BlocksIf(program, [&](Id b) { return Reads(program, b, buffer); });
}

std::vector<Id> Producers(const Program& program, Id block) {
  const std::vector<Id> read = ReadBuffers(program, block);
  return BlocksIf(program, [&](Id b) { return b != block && WritesAny(program, b, read); });
}

std::vector<Id> Consumers(const Program& program, Id block) {
  const std::vector<Id> written = WrittenBuffers(program, block);
  return BlocksIf(program, [&](Id b) { return b != block && ReadsAny(program, b, written); });
}

bool WritesOutput(const Program& program, Id block) {
  for (const Id buffer : WrittenBuffers(program, block)) {
    if (program.buffers[buffer].role != Role::kTemporary) return true;
  }
  return false;
}

bool IsAncestor(const Program& program, Id ancestor, Id node) {
  for (; node != kNone; node = program.nodes[node].parent) {
    if (node == ancestor) return true;
  }
  return false;
}

Id LowestCommonAncestor(const Program& program, const std::vector<Id>& nodes) {
  Id common = nodes.front();
  for (Id other : nodes) {
    int depth = Depth(program, common), other_depth = Depth(program, other);
    for (; depth > other_depth; --depth) common = program.nodes[common].parent;
    for (; other_depth > depth; --other_depth) other = program.nodes[other].parent;
    while (common != other) {
      common = program.nodes[common].parent;
      other = program.nodes[other].parent;
    }
  }
  return common;
}

bool Before(const Program& program, Id a, Id b) {
  if (a == b) return false;
  const Id common = LowestCommonAncestor(program, {a, b});
  if (common == a) return true;
  if (common == b) return false;
  const auto child = [&](Id node) {
    while (program.nodes[node].parent != common) node = program.nodes[node].parent;
    return node;
  };
  const Id end = child(b);
  for (Id at = child(a); at != kNone; at = program.nodes[at].next) {
    if (at == end) return true;
  }
  return false;
}

}  // namespace kiln
