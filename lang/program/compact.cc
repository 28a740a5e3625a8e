#include "lang/program/compact.h"

#include <utility>
#include <vector>

namespace kiln {
namespace {

class Compaction {
 public:
  explicit Compaction(Program& program) : p_(program), used_(program.exprs.size(), false) {}

  void Run() {
    ForgetDeadBlocks();
    EachRoot([&](Id& root) { used_[root] = true; });
    for (Id id = static_cast<Id>(p_.exprs.size()) - 1; id >= 0; --id) {
      if (!used_[id]) continue;
      for (const Id operand : p_.exprs[id].Operands()) used_[operand] = true;
    }
    std::vector<Expr> kept;
    std::vector<Id> now(p_.exprs.size(), kNone);
    for (size_t id = 0; id < used_.size(); ++id) {
      if (!used_[id]) continue;
      for (Id& operand : p_.exprs[id].Operands()) operand = now[operand];
      now[id] = static_cast<Id>(kept.size());
      kept.push_back(p_.exprs[id]);
    }
    EachRoot([&](Id& root) { root = now[root]; });
    p_.exprs = std::move(kept);
    p_.expr_index.Rebuild(p_.exprs);
  }

 private:
  // Clears the expression lists of dead blocks, so that their expressions can be dropped.
  void ForgetDeadBlocks() {
    std::vector<bool> live(p_.blocks.size(), false);
    for (const Node& node : p_.nodes)
      if (node.kind == Node::Kind::kBlock) live[node.index] = true;
    for (size_t i = 0; i < live.size(); ++i)
      if (!live[i]) p_.blocks[i].dests = p_.blocks[i].values = p_.blocks[i].initial = {};
  }

  // Visits each expression id that something outside the pool refers to: values and initial values of live blocks,
  // monoids, and paddings of layouts. An entry of Program::lists that several blocks share is visited once.
  template <typename Visit>
  void EachRoot(const Visit& visit) {
    std::vector<bool> visited(p_.lists.size(), false);
    const auto each = [&](Range list) {
      for (int32_t i = list.begin; i < list.begin + list.count; ++i) {
        if (!visited[i]) visit(p_.lists[i]);
        visited[i] = true;
      }
    };
    for (const Node& node : p_.nodes) {
      if (node.kind == Node::Kind::kBlock)
        each(p_.blocks[node.index].values), each(p_.blocks[node.index].initial);
    }
    for (const Monoid& monoid : p_.monoids) each(monoid.identity), each(monoid.combine);
    for (Buffer& buffer : p_.buffers)
      if (buffer.layout.padding != kNone) visit(buffer.layout.padding);
  }

  Program& p_;
  std::vector<bool> used_;
};

}  // namespace

void DropUnusedExprs(Program& program) { Compaction(program).Run(); }

}  // namespace kiln
