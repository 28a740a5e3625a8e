#include "backends/lower/passes/stream_stores.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "backends/lower/plan/plan_rewriter.h"
#include "lang/analysis/annotations.h"
#include "lang/base/defect.h"

namespace kiln::plan {
namespace {

class StreamPass : public Rewriter {
 public:
  StreamPass(const Program& program, const IndexPlan& indices, const LowerOptions& options)
      : Rewriter(program, indices), p_(program), plan_(indices), options_(options) {}

  Nodes Run(const Nodes& nodes) { return Fenced(Rewrite(nodes)); }

 private:
  void Visit(const Node& node, Nodes& out) override {
    const Loop* loop = node.As<Loop>();
    if (loop != nullptr && loop->run == Run::kThreads)
      return AppendCopies(*loop, [&] { return Fenced(Rewrite(node.arms[0])); }, out);
    const Leaf* leaf = node.As<Leaf>();
    if (leaf == nullptr || AnnotationOf(p_, p_.block(leaf->block).annotations, kNonTemporal) == 0 ||
        context_.IsMasked(leaf->asks))
      return Rewriter::Visit(node, out);
    Leaf made = *leaf;
    const auto dests = p_.Accesses(p_.block(leaf->block).dests);
    made.stores.resize(dests.size());
    for (size_t r = 0; r < dests.size(); ++r) {
      if (!Streams(dests[r].buffer, plan_.blocks.at(leaf->block).dests[r])) continue;
      made.stores[r] = {Store::Mode::kStream};
      streams_ = true;
    }
    out.push_back({std::move(made)});
  }

  // True if the vector lanes of a store are whole vectors at aligned addresses of a parameter, which can bypass the
  // caches. The code relies on aligned parameters, or tests whether they are.
  bool Streams(Id buffer, const IndexSum& address) {
    const int64_t whole = options_.vector_bytes, size = SizeOf(p_.buffers[buffer].dtype);
    if (plan_.buffers[buffer].place != Memory::kParameter || context_.lanes() * size % whole != 0 ||
        p_.buffers[buffer].layout.swizzle.bits != 0)
      return false;
    const IndexValue at = context_.indices().Eval(address);
    const auto is_multiple = [&](int64_t value) { return value % (whole / size) == 0; };
    return at.stride() == 1 && is_multiple(at.constant) &&
           absl::c_all_of(at.terms, [&](const auto& term) { return is_multiple(term.second); });
  }

  Nodes Fenced(Nodes nodes) {
    if (std::exchange(streams_, false) && !KILN_DEFECT("plan.stream-stores.fence"))
      nodes.push_back({Fence()});
    return nodes;
  }

  const Program& p_;
  const IndexPlan& plan_;
  const LowerOptions& options_;
  bool streams_ = false;  // since the last fence
};

}  // namespace

Nodes StreamStores(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                   const LowerOptions& options) {
  return StreamPass(program, indices, options).Run(nodes);
}

}  // namespace kiln::plan
