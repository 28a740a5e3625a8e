// Prepares a program for execution (lang/reference/executor.h): makes variables for loops, marks and iters,
// and turns bodies into code.
#pragma once

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "lang/base/random.h"
#include "lang/reference/body_code.h"
#include "lang/reference/interpreter.h"

namespace kiln {

// A check whether an instance of a block exists: `value` must lie in 0 .. extent - 1. It is also stored in the
// variable, if that is not -1.
struct MarkStep {
  int variable;
  CodeSum value;
  int64_t extent;
};

// A loop or a block of a program that is prepared for execution, with the nodes below it.
struct PlanNode {
  Id node = kNone;
  std::vector<PlanNode> children;
  // The fields from here to `reductions` are set for loops; `reductions` is set for blocks too.
  int variable = -1;
  int64_t extent = 1;
  LoopKind kind = LoopKind::kSerial;
  bool at_once = false;  // its iterations may run in parallel
  // For a pipelined loop: before child c runs iteration n, child `other` must have run iteration n - lag, unless that
  // is negative.
  struct Wait {
    int other = 0;
    int64_t lag = 0;
  };
  std::vector<std::vector<Wait>> waits;  // by child
  std::vector<int> early;                // the children in order of their stage
  std::vector<std::vector<Id>> makes;    // by child: the ring buffers that it writes
  absl::Span<const Ring> rings;
  std::vector<int> starts;      // reductions whose destinations are initialized on entry
  std::vector<int> reductions;  // those of the blocks here and below that a loop initializes
  // The fields from here on are set for blocks.
  int number = -1;  // position among all blocks
  std::vector<MarkStep> marks;
  BodyCode body, initial, combine;
  std::vector<CodeAccess> dests;
  Id monoid = kNone;
  bool accumulates = false;
  int reduction = -1;          // number of the reduction, if it does not accumulate
  bool starts_itself = false;  // true if no loop feeds its reduction iters
};

// A program prepared for execution: the tree of its loops and blocks, with variables for loops, marks and iters, and
// code.
class ExecutionPlan {
 public:
  explicit ExecutionPlan(const Program& program);
  ExecutionPlan(const ExecutionPlan&) = delete;

  const Program& program() const { return p_; }
  const std::vector<PlanNode>& top() const { return top_; }
  const std::vector<const PlanNode*>& blocks() const { return blocks_; }
  size_t variables() const { return variable_extents_.size(); }
  // For each reduction that does not accumulate, the number of elements of its first destination.
  const std::vector<int64_t>& reductions() const { return reductions_; }

 private:
  using Scope = std::map<std::pair<Source::Kind, int32_t>, int>;  // source -> variable

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

// Returns the child of a pipelined loop that runs its next iteration, chosen among the children that may run: that of
// the earliest stage (kEager), of the latest stage (kLate), or any (kRandom). Returns -1 if none may run, as when all
// are done. `done`: for each child, how many iterations it has run.
int NextChild(const PlanNode& loop, const std::vector<int64_t>& done, PipelineOrder order, Dice& dice);

// Returns the number of copies of a buffer: the depth of its ring, or 1.
int64_t CopiesOf(const Program& program, Id buffer);

// Returns kInternal for a wrong access, with a message such as `block "b" writes out of bounds: A[3, 4]`.
absl::Status AccessError(const Program& program, const PlanNode& block, const CodeAccess& access,
                         const int64_t* variables, const char* what);

}  // namespace kiln
