// Emits tests of conditions 0 <= value < extent: for one instance of a block, and for all values of the loops that are
// not bound yet. Private to emit/.
#pragma once

#include <optional>
#include <vector>

#include "backends/lower/emit/emit_index.h"
#include "backends/lower/emit/shared_loads.h"

namespace kiln {

// The test of a condition at the current place. If the answer is known now, `known` has it. Otherwise code was emitted:
// one bit for all vector lanes (`uniform`), or a bit for each lane (`mask`) and one that is false only if no lane
// passes (`any`).
struct ConditionTest {
  std::optional<bool> known;
  mlir::Value uniform, mask, any;  // any: whether some lane may pass (null: yes)
};
ConditionTest TestOf(IndexEmitter& indices, int condition);

// Emits the logical AND of two tests. In the functions of this file, null stands for a test that is known to hold.
mlir::Value And(CodeBuilder& code, mlir::Value a, mlir::Value b);
// Emits the test whether all conditions hold for all values of the loops that are not bound yet. Returns null if they
// are proven to hold.
mlir::Value HoldsForAll(IndexEmitter& indices, const std::vector<int>& conditions);
// Emits the test 0 <= value + least and value + most < extent. Returns null if it is proven to hold.
mlir::Value InRange(IndexEmitter& indices, const IndexValue& value, int64_t extent, int64_t least,
                    int64_t most);

// Emits the number of iterations of a loop that ends early: the iterations for which all its `trims`, the conditions
// that end it, may hold. The number is at most the loop's count, and at least 1 if the plan has proven that
// (Loop::runs_once); otherwise it may be negative. Returns null if the loop has no trims.
mlir::Value UpperBound(IndexEmitter& indices, const plan::Loop& loop);

// Emits an if statement: `holds` emits the code of its first branch, `otherwise` (optional) that of the second. Values
// loaded in a branch are not used after it. If the condition is null, it always holds: emits only the code of `holds`.
void EmitIf(CodeBuilder& code, SharedLoads& loads, mlir::Value condition, llvm::function_ref<void()> holds,
            llvm::function_ref<void()> otherwise = nullptr);

}  // namespace kiln
