// The base of passes over a loop plan: visits each node once for each copy in which the code around it exists, with
// what is known there, and joins copies again that come out alike.
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
// Nodes without contents are left out, so a loop or branch that becomes empty vanishes.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "backends/lower/plan/loop_plan.h"
#include "backends/lower/plan/plan_context.h"

namespace kiln::plan {

class Rewriter {
 public:
  // Keeps references to both.
  Rewriter(const Program& program, const IndexPlan& indices) : context_(program, indices) {}
  virtual ~Rewriter() = default;

  Nodes Rewrite(const Nodes& nodes);

 protected:
  // Appends what takes the node's place. By default the node, with rewritten contents.
  virtual void Visit(const Node& node, Nodes& out);
  // Appends the loop with the body that `body` makes in each copy. Adjacent copies with equal bodies become one node;
  // copies with an empty body are left out.
  void AppendCopies(const Loop& loop, absl::FunctionRef<Nodes()> body, Nodes& out);

  PlanContext context_;
};

// Returns the blocks that a node computes, in the order of its leaves; a block with several leaves occurs several times.
std::vector<Id> BlocksIn(const Program& program, const Node& node);

}  // namespace kiln::plan
