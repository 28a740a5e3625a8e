#include "lang/analysis/dataflow.h"

#include <algorithm>

namespace kiln {
namespace {

void CollectBlocks(const Program& p, Id node, std::vector<Id>& blocks) {
  for (Id child = p.nodes[node].first; child != kNone; child = p.nodes[child].next) {
    if (p.IsBlock(child)) blocks.push_back(child);
    CollectBlocks(p, child, blocks);
  }
}

void Visit(const Program& p, Id expr, std::vector<Id>& order) {
  if (std::find(order.begin(), order.end(), expr) != order.end()) return;
  const Expr& e = p.exprs[expr];
  const int arity = Arity(e.op);
  if (arity > 0) Visit(p, e.a, order);
  if (arity > 1) Visit(p, e.b, order);
  if (arity > 2) Visit(p, e.c, order);
  order.push_back(expr);
}

void AddOnce(std::vector<Id>& list, Id id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

bool Contains(const std::vector<Id>& list, Id id) { return std::find(list.begin(), list.end(), id) != list.end(); }

int Depth(const Program& p, Id node) {
  int depth = 0;
  for (; p.nodes[node].parent != kNone; node = p.nodes[node].parent) ++depth;
  return depth;
}

}  // namespace

std::vector<Id> Blocks(const Program& program) { return BlocksBelow(program, kRoot); }

std::vector<Id> BlocksBelow(const Program& program, Id node) {
  std::vector<Id> blocks;
  CollectBlocks(program, node, blocks);
  return blocks;
}

std::vector<Id> BodyExprs(const Program& program, Id block) {
  std::vector<Id> order;
  for (const Id e : program.List(program.block(block).values)) Visit(program, e, order);
  for (const Id e : program.List(program.block(block).initial)) Visit(program, e, order);
  return order;
}

std::vector<Id> Loads(const Program& program, Id block) {
  std::vector<Id> loads = BodyExprs(program, block);
  loads.erase(std::remove_if(loads.begin(), loads.end(), [&](Id e) { return program.exprs[e].op != Op::kLoad; }),
              loads.end());
  return loads;
}

std::vector<Id> ReadBuffers(const Program& program, Id block) {
  std::vector<Id> buffers;
  for (const Id load : Loads(program, block)) AddOnce(buffers, program.exprs[load].a);
  return buffers;
}

std::vector<Id> WrittenBuffers(const Program& program, Id block) {
  std::vector<Id> buffers;
  for (const Access& dest : program.Accesses(program.block(block).dests)) AddOnce(buffers, dest.buffer);
  return buffers;
}

std::vector<Id> Writers(const Program& program, Id buffer) {
  std::vector<Id> writers = Blocks(program);
  writers.erase(std::remove_if(writers.begin(), writers.end(),
                               [&](Id b) { return !Contains(WrittenBuffers(program, b), buffer); }),
                writers.end());
  return writers;
}

std::vector<Id> Readers(const Program& program, Id buffer) {
  std::vector<Id> readers = Blocks(program);
  readers.erase(std::remove_if(readers.begin(), readers.end(),
                               [&](Id b) { return !Contains(ReadBuffers(program, b), buffer); }),
                readers.end());
  return readers;
}

std::vector<Id> Producers(const Program& program, Id block) {
  const std::vector<Id> read = ReadBuffers(program, block);
  std::vector<Id> producers;
  for (const Id other : Blocks(program)) {
    if (other == block) continue;
    for (const Id buffer : WrittenBuffers(program, other)) {
      if (Contains(read, buffer)) AddOnce(producers, other);
    }
  }
  return producers;
}

std::vector<Id> Consumers(const Program& program, Id block) {
  const std::vector<Id> written = WrittenBuffers(program, block);
  std::vector<Id> consumers;
  for (const Id other : Blocks(program)) {
    if (other == block) continue;
    for (const Id buffer : ReadBuffers(program, other)) {
      if (Contains(written, buffer)) AddOnce(consumers, other);
    }
  }
  return consumers;
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
