#include "lang/analysis/dataflow.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace kiln {
namespace {

// Calls `visit` for each block below a node, in program order.
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

// Collects expressions and their operands, each once, operands before users.
class Visit {
 public:
  // If `buffer` is given, collects only expressions that read the buffer, themselves or through an operand.
  explicit Visit(const Program& program, Id buffer = kNone) : p_(program), buffer_(buffer) {}

  void Add(Range list) {
    for (const Id expr : p_.List(list)) Add(expr);
  }
  void Add(Id expr) {
    if (Seen(expr) || (buffer_ != kNone && !absl::c_linear_search(p_.expr_index.Reads(expr), buffer_)))
      return;
    for (const Id operand : p_.exprs[expr].Operands()) Add(operand);
    order_.push_back(expr);
    if (order_.size() == kFew) seen_.insert(order_.begin(), order_.end());
    if (order_.size() > kFew) seen_.insert(expr);
  }
  const Exprs& order() const { return order_; }

 private:
  bool Seen(Id expr) const {
    return seen_.empty() ? absl::c_linear_search(order_, expr) : seen_.contains(expr);
  }
  const Program& p_;
  Id buffer_;
  Exprs order_;
  absl::flat_hash_set<Id> seen_;  // the elements of order_, used once order_ is long
};

void AddOnce(std::vector<Id>& list, Id id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

Exprs Body(const Program& p, Id block, Id buffer = kNone) {
  Visit visit(p, buffer);
  visit.Add(p.block(block).values);
  visit.Add(p.block(block).initial);
  return visit.order();
}

// True if `reads` returns true for some expression of the list. Its argument is the list of buffers that the expression
// reads.
template <typename Condition>
bool AnyOf(const Program& p, Range list, const Condition& reads) {
  return absl::c_any_of(p.List(list), [&](Id expr) { return reads(p.expr_index.Reads(expr)); });
}

// Returns true if a block writes (ReadsAny: reads, also as initial values) one of the buffers.
template <typename List>
bool WritesAny(const Program& p, Id block, const List& buffers) {
  const auto dests = p.Accesses(p.block(block).dests);
  return std::any_of(dests.begin(), dests.end(),
                     [&](const Access& dest) { return absl::c_linear_search(buffers, dest.buffer); });
}
template <typename List>
bool ReadsAny(const Program& p, Id block, const List& buffers) {
  const auto among = [&](Id buffer) { return absl::c_linear_search(buffers, buffer); };
  const auto any = [&](absl::Span<const Id> read) { return absl::c_any_of(read, among); };
  return AnyOf(p, p.block(block).values, any) || AnyOf(p, p.block(block).initial, any);
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

std::vector<Id> LoadsOf(const Program& program, Id block, Id buffer) {
  std::vector<Id> loads;
  for (const Id e : Body(program, block, buffer)) {
    if (program.exprs[e].op == Op::kLoad && program.exprs[e].AsLoad().buffer == buffer) loads.push_back(e);
  }
  return loads;
}

bool GathersFrom(const Program& program, Id block, Id buffer) {
  return absl::c_any_of(Body(program, block, buffer), [&](Id e) {
    return program.exprs[e].op == Op::kGather && program.exprs[e].AsGather().buffer == buffer;
  });
}

bool ReadsInitially(const Program& program, Id block, Id buffer) {
  return AnyOf(program, program.block(block).initial,
               [&](absl::Span<const Id> read) { return absl::c_linear_search(read, buffer); });
}

std::vector<Id> ReadBuffers(const Program& program, Id block) {
  std::vector<Id> buffers;
  buffers.reserve(4);
  for (const Range list : {program.block(block).values, program.block(block).initial}) {
    for (const Id expr : program.List(list)) {
      for (const Id buffer : program.expr_index.Reads(expr)) AddOnce(buffers, buffer);
    }
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
