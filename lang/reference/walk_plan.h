// A program made ready to be walked (lang/reference/walk.h): variables for its loops, marks and iters, bodies as code.
#pragma once

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "lang/base/random.h"
#include "lang/reference/body_code.h"
#include "lang/reference/interpreter.h"

namespace kiln {

// A variable to set, or a value to check only (variable -1);
// outside of 0 .. extent - 1 the instance does not exist.
struct MarkStep {
  int variable;
  CodeSum value;
  int64_t extent;
};

// A loop or a block, and what is below.
struct PlanNode {
  Id node = kNone;
  std::vector<PlanNode> children;
  // loop
  int variable = -1;
  int64_t extent = 1;
  LoopKind kind = LoopKind::kSerial;
  bool at_once = false;  // its iterations may run at once
  // of a pipelined loop: before child c runs iteration n, child `other` has run iteration n - lag
  struct Wait {
    int other = 0;
    int64_t lag = 0;
  };
  std::vector<std::vector<Wait>> waits;  // by child
  std::vector<int> early;                // the children, early stages first
  std::vector<std::vector<Id>> makes;    // by child, what rings carry from it
  absl::Span<const Ring> rings;
  std::vector<int> starts;      // reductions whose destinations are set anew when the loop is entered
  std::vector<int> reductions;  // of the blocks here and below, those that a loop starts
  // block
  int number = -1;  // among the blocks
  std::vector<MarkStep> marks;
  BodyCode body, initial, combine;
  std::vector<CodeAccess> dests;
  Id monoid = kNone;
  bool accumulates = false;
  int reduction = -1;          // not accumulating: number among these
  bool starts_itself = false;  // no loop feeds its reduction iters
};

// A program made ready.
class WalkPlan {
 public:
  explicit WalkPlan(const Program& program);
  WalkPlan(const WalkPlan&) = delete;

  const Program& program() const { return p_; }
  const std::vector<PlanNode>& top() const { return top_; }
  const std::vector<const PlanNode*>& blocks() const { return blocks_; }
  size_t variables() const { return variable_extents_.size(); }
  // Elements of the first destination of each reduction that does not accumulate.
  const std::vector<int64_t>& reductions() const { return reductions_; }

 private:
  using Scope = std::map<std::pair<Source::Kind, int32_t>, int>;  // variables

  std::vector<PlanNode> CompileChildren(Id node, Id scope_block, Scope& scope,
                                        std::map<Id, PlanNode*>& loops);
  void CompileBlock(Id node, Id scope_block, Scope& scope, std::map<Id, PlanNode*>& loops, PlanNode& place);
  int VariableOf(Source source, Scope& scope, PlanNode& place);
  int MarkVariable(Id mark, Scope& scope, PlanNode& place);
  void CompilePipeline(Id loop, PlanNode& place) const;
  void FindStart(Id node, std::map<Id, PlanNode*>& loops, PlanNode& place);
  int NewVariable(int64_t extent) {
    variable_extents_.push_back(extent);
    return static_cast<int>(variable_extents_.size()) - 1;
  }

  const Program& p_;
  std::vector<int64_t> variable_extents_, reductions_;
  std::map<Id, std::vector<int>> iter_variables_;  // by block
  std::vector<PlanNode> top_;
  std::vector<const PlanNode*> blocks_;
};

// The child of a pipelined loop that runs its next iteration, of those that may; -1 if all are done. `done`:
// the iterations that each has run.
int NextChild(const PlanNode& loop, const std::vector<int64_t>& done, PipelineOrder order, Dice& dice);

// How often a buffer is there: the depth of the ring that carries it, or 1.
int64_t CopiesOf(const Program& program, Id buffer);

// kInternal: `block "b" what: A[3, 4]`.
absl::Status AccessError(const Program& program, const PlanNode& block, const CodeAccess& access,
                         const int64_t* variables, const char* what);

}  // namespace kiln
