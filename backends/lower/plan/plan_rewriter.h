// The base class of passes that rewrite a loop plan. It visits the body of an unrolled or vectorized loop once for each
// copy, with the loop's value bound, and each arm of a branch with its conditions decided. It then joins adjacent
// copies that come out equal to one node.
//
//   class DropFences : public Rewriter {
//    public:
//     using Rewriter::Rewriter;
//    private:
//     void Visit(const Node& node, Nodes& out) override {
//       if (node.As<Fence>() == nullptr) Rewriter::Visit(node, out);
//     }
//   };
//   nodes = DropFences(program, plan.indices).Rewrite(nodes);
//
// Leaves out nodes whose arms are all empty, so a loop or branch that becomes empty vanishes.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "backends/lower/plan/loop_plan.h"
#include "backends/lower/plan/plan_context.h"

namespace kiln::plan {

class Rewriter {
 public:
  // Makes a rewriter for plans of this program. Keeps references to both arguments.
  Rewriter(const Program& program, const IndexPlan& indices) : context_(program, indices) {}
  virtual ~Rewriter() = default;

  Nodes Rewrite(const Nodes& nodes);

 protected:
  // Appends the nodes that replace `node` to `out`. By default, this is the node with rewritten arms, or nothing if all
  // its arms become empty. An unrolled or vectorized loop may become several nodes (AppendCopies).
  virtual void Visit(const Node& node, Nodes& out);
  // Appends the loop to `out`. Calls `body` for the contents of each copy of an unrolled loop and each group of vector
  // lanes, or once for a loop that runs. Adjacent copies with equal contents become one node; empty copies are left
  // out.
  void AppendCopies(const Loop& loop, absl::FunctionRef<Nodes()> body, Nodes& out);

  PlanContext context_;
};

// Returns the blocks that a node computes, in the order of its leaves. A block with several leaves occurs several
// times.
std::vector<Id> BlocksIn(const Program& program, const Node& node);

}  // namespace kiln::plan
