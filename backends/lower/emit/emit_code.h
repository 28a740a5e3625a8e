// Builds the code of a function at a place of its loop plan. Values that depend on no inner loop are computed
// once, at the beginning of a level: the body of a loop that runs, or of the function.
//
//   CodeBuilder code(program, plan, options, module);
//   code.InLevel(body, nullptr, [&] {
//     const mlir::Value two = code.ConstantIndex(2);
//     const mlir::Value twice = code.Hoist(1, key, [&] { return arith::MulIOp::create(code.b(), x, two); });
//   });
//
// Private to emit/.
#pragma once

#include <map>
#include <vector>

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/plan_context.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kiln {

class CodeBuilder {
 public:
  using Value = mlir::Value;

  // Makes a builder of code in `module`. `program` is the decomposed program that was planned. Keeps references to
  // program, plan and options.
  CodeBuilder(const Program& program, const IndexPlan& plan, const LowerOptions& options,
              mlir::ModuleOp module);

  const Program& program() const { return context_.program(); }
  const IndexPlan& plan() const { return context_.plan(); }
  const LowerOptions& options() const { return options_; }
  mlir::ModuleOp module() const { return module_; }
  mlir::ImplicitLocOpBuilder& b() { return b_; }
  PlanContext& context() { return context_; }
  IndexEvaluator& indices() { return context_.indices(); }
  int64_t lanes() const { return context_.lanes(); }

  // Calls emit() with one more level, the block `block`. Values that are hoisted to this level are emitted after the
  // operation `last`, or, if it is null, at the start of the block.
  void InLevel(mlir::Block* block, mlir::Operation* last, llvm::function_ref<void()> emit);
  int levels() const { return static_cast<int>(levels_.size()); }
  // Returns the value with this key that was hoisted to a level: 0 is the function, 1 the body of the outermost loop
  // that runs around this place, and so on. If there is none, emits it there with `make`: at the beginning of the level
  // (see InLevel), after the values hoisted before. Keys start with a HoistedKind.
  Value Hoist(int level, std::vector<int64_t> key, llvm::function_ref<Value()> make);

  Value ConstantIndex(int64_t value);
  Value ConstantLanes(const std::vector<int64_t>& values, mlir::Type element);
  Value SameInLanes(int64_t value, mlir::Type element);  // in each lane of the vectorized loop
  Value Constant(DType type, int64_t bits);
  // Returns a constant: the scalar, or a vector of it if `type` is one.
  Value Splat(mlir::Attribute scalar, mlir::Type type);
  Value AsVector(Value value);  // with the lanes of the vectorized loop

 private:
  struct Level {
    mlir::Block* block = nullptr;
    mlir::Operation* last = nullptr;             // the operation that was hoisted last
    std::map<std::vector<int64_t>, Value> made;  // by key
  };

  const LowerOptions& options_;
  mlir::ModuleOp module_;
  mlir::ImplicitLocOpBuilder b_;
  PlanContext context_;
  std::vector<Level> levels_;
};

enum HoistedKind : int64_t { kConstantKey, kTermKey, kOffsetKey, kAtomKey, kLanesKey, kSplatKey };

}  // namespace kiln
