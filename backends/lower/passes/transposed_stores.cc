#include "backends/lower/passes/transposed_stores.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/unrolled.h"
#include "backends/lower/plan/plan_rewriter.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/defect.h"

namespace kiln::plan {
namespace {

// True if two accesses to one buffer are proven to have no element in common.
bool AreApart(const IndexValue& a, const IndexValue& b) {
  if (KILN_DEFECT("plan.transposed-stores.apart")) return true;
  if (a.terms != b.terms || !a.vectors.empty() || !b.vectors.empty()) return false;
  const std::vector<int64_t> one{0};
  for (const int64_t of_a : a.lanes.empty() ? one : a.lanes)
    for (const int64_t of_b : b.lanes.empty() ? one : b.lanes)
      if (a.constant + of_a == b.constant + of_b) return false;
  return true;
}

constexpr int kEndOfCode = -1;  // a Flush with this number marks the end of an arm while the pass runs

class TransposePass : public Rewriter {
 public:
  TransposePass(const Program& program, const IndexPlan& indices)
      : Rewriter(program, indices),
        p_(program),
        plan_(indices),
        registers_(KeptInRegisters(program, indices)) {}

  Nodes Run(const Nodes& nodes) {
    Nodes out = Rewrite(nodes);
    if (!KILN_DEFECT("plan.transposed-stores.end")) FlushAll(out);
    return out;
  }

 private:
  struct Delayed {
    Id buffer = kNone;
    IndexValue at;
  };
  struct Group {  // the delayed stores to one memory
    int flush = 0;
    std::vector<Delayed> stores;
  };

  void Visit(const Node& node, Nodes& out) override {
    if (const Leaf* leaf = node.As<Leaf>()) return VisitLeaf(*leaf, out);
    if (const Flush* flush = node.As<Flush>(); flush != nullptr && flush->number == kEndOfCode)
      return FlushAll(out);
    const Loop* loop = node.As<Loop>();
    const bool is_copies = loop != nullptr && (loop->run == Run::kOne || loop->run == Run::kUnrolled ||
                                               loop->run == Run::kLanes);
    if (is_copies || node.arms.empty()) {
      if (node.As<Call>() != nullptr) FlushAll(out);
      return Rewriter::Visit(node, out);
    }
    // Handles a node whose code may run several times or not at all. Flushes delayed stores before the node if a block
    // inside uses their memory. Stores inside the node are delayed and flushed inside.
    std::vector<Id> blocks = BlocksIn(p_, node);
    if (KILN_DEFECT("plan.transposed-stores.code")) blocks.clear();
    for (const Id block : blocks) {
      for (const Id buffer : ReadBuffers(p_, block)) FlushMemory(plan_.MemoryOf(buffer), out);
      for (const Id buffer : WrittenBuffers(p_, block)) FlushMemory(plan_.MemoryOf(buffer), out);
    }
    const std::map<Id, Group> outside = std::exchange(delayed_, {});
    if (loop != nullptr) {
      AppendCopies(*loop, [&] { return Run(node.arms[0]); }, out);
    } else {
      Node wrapped = node;
      for (Nodes& arm : wrapped.arms) arm.push_back({Flush{kEndOfCode}});
      Rewriter::Visit(wrapped, out);
    }
    delayed_ = outside;
  }

  void VisitLeaf(const Leaf& leaf, Nodes& out) {
    const BlockPlan& plan = plan_.blocks.at(leaf.block);
    for (const auto& [expr, address] : plan.addresses) {
      const Expr& e = p_.exprs[expr];
      e.op == Op::kLoad ? FlushClashing(e.AsLoad().buffer, AddressOf(e.AsLoad().buffer, address), out)
                        : FlushMemory(plan_.MemoryOf(BufferRead(e)), out);
    }
    const auto dests = p_.Accesses(p_.block(leaf.block).dests);
    std::vector<IndexValue> at;
    for (size_t r = 0; r < dests.size(); ++r) {
      at.push_back(AddressOf(dests[r].buffer, plan.dests[r]));
      FlushClashing(dests[r].buffer, at[r], out);
    }
    Leaf made = leaf;
    for (size_t r = 0; r < dests.size(); ++r) {
      if (!leaf.asks.empty() || !IsWorthDelaying(dests[r].buffer, at[r])) continue;
      made.stores.resize(dests.size());
      Group& group = delayed_[plan_.MemoryOf(dests[r].buffer)];
      if (group.stores.empty()) group.flush = flushes_++;
      group.stores.push_back({dests[r].buffer, at[r]});
      made.stores[r] = {Store::Mode::kTransposed, group.flush};
    }
    out.push_back({std::move(made)});
  }

  IndexValue AddressOf(Id buffer, const IndexSum& address) {
    return context_.indices().Swizzled(p_.buffers[buffer].layout.swizzle, plan_.buffers[buffer].elements,
                                       context_.indices().Eval(address));
  }

  // True if it pays to delay a store and transpose it with others: it stores more than two vector lanes at a constant
  // distance above 1, to a buffer that is not in registers. The type has at least four bytes; others take many
  // shuffles.
  bool IsWorthDelaying(Id buffer, const IndexValue& at) const {
    return !registers_[buffer] && SizeOf(p_.buffers[buffer].dtype) >= 4 &&
           p_.buffers[buffer].dtype != DType::kI1 && context_.lanes() > 2 && at.vectors.empty() &&
           at.stride() > 1;
  }

  void FlushClashing(Id buffer, const IndexValue& access, Nodes& out) {
    const Id memory = plan_.MemoryOf(buffer);
    const auto group = delayed_.find(memory);
    if (group == delayed_.end()) return;
    const bool clashes = absl::c_any_of(group->second.stores, [&](const Delayed& store) {
      return store.buffer != buffer || !AreApart(store.at, access);
    });
    if (clashes) FlushMemory(memory, out);
  }

  void FlushMemory(Id memory, Nodes& out) {
    const auto group = delayed_.find(memory);
    if (group == delayed_.end()) return;
    out.push_back({Flush{group->second.flush}});
    delayed_.erase(group);
  }

  void FlushAll(Nodes& out) {
    while (!delayed_.empty()) FlushMemory(delayed_.begin()->first, out);
  }

  const Program& p_;
  const IndexPlan& plan_;
  const std::vector<bool> registers_;
  std::map<Id, Group> delayed_;  // by memory
  int flushes_ = 0;
};

}  // namespace

Nodes TransposedStores(const Program& program, const IndexPlan& indices, const Nodes& nodes) {
  return TransposePass(program, indices).Run(nodes);
}

}  // namespace kiln::plan
