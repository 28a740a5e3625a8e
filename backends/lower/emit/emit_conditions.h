// Emits tests of conditions: for one instance, and for all values of the loops that are not bound yet.
// Private to emit/.
#pragma once

#include <optional>
#include <vector>

#include "backends/lower/emit/emit_index.h"
#include "backends/lower/emit/shared_loads.h"

namespace kiln {

// A condition at the current place: known now, or one bit for all lanes, or one bit per lane.
struct ConditionTest {
  std::optional<bool> known;
  mlir::Value uniform, mask, any;  // any: whether some lane may pass (null: yes)
};
ConditionTest TestOf(IndexEmitter& indices, int condition);

// Emits the conjunction of two tests. Null stands for a test that is known to hold, here and below.
mlir::Value And(CodeBuilder& code, mlir::Value a, mlir::Value b);
// Emits the test that all conditions hold for every value of their rest (plan_context.h).
mlir::Value HoldsForAll(IndexEmitter& indices, const std::vector<int>& conditions);
// Emits the test 0 <= value + least and value + most < extent.
mlir::Value InRange(IndexEmitter& indices, const IndexValue& value, int64_t extent, int64_t least,
                    int64_t most);

// Emits the number of iterations for which all conditions that end the loop may hold. Returns null if nothing ends it.
mlir::Value UpperBound(IndexEmitter& indices, const plan::Loop& loop);

// Emits both sides of a condition, each a region for loads, or only the first if the condition is null.
void EmitIf(CodeBuilder& code, SharedLoads& loads, mlir::Value condition, llvm::function_ref<void()> holds,
            llvm::function_ref<void()> otherwise = nullptr);

}  // namespace kiln
