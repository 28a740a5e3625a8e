#include "backends/lower/emit/emit_conditions.h"

#include <algorithm>

#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {
namespace arith = mlir::arith;

mlir::Value And(CodeBuilder& code, mlir::Value a, mlir::Value b) {
  if (!a || !b) return a ? a : b;
  return arith::AndIOp::create(code.b(), a, b);
}

mlir::Value InRange(IndexEmitter& indices, const IndexValue& value, int64_t extent, int64_t least,
                    int64_t most) {
  CodeBuilder& code = indices.code();
  mlir::ImplicitLocOpBuilder& b = code.b();
  const Interval range = code.indices().RangeOf(value);
  const bool below = range.min + least < 0, above = range.max + most >= extent;
  const auto shifted = [&](int64_t by) {
    IndexValue moved = value;
    moved.constant += by;
    return indices.Scalar(moved);
  };
  if (below && above && least == most) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, shifted(least), code.ConstantIndex(extent));
  }
  mlir::Value result;
  if (above)
    result = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, shifted(most), code.ConstantIndex(extent));
  if (below) {
    result = And(code, result,
                 arith::CmpIOp::create(b, arith::CmpIPredicate::sge, shifted(least), code.ConstantIndex(0)));
  }
  return result;
}

ConditionTest TestOf(IndexEmitter& indices, int condition) {
  CodeBuilder& code = indices.code();
  mlir::ImplicitLocOpBuilder& b = code.b();
  PlanContext& context = code.context();
  const Condition& c = code.plan().conditions[condition];
  ConditionTest test;
  const int before = code.indices().num_atoms();
  test.known = context.Decided(condition);
  indices.EmitAtoms(before);
  if (test.known.has_value()) return test;
  const IndexValue value = context.ValueOf(condition);
  const Interval range = code.indices().RangeOf(value);
  if (value.uniform()) {
    test.uniform = InRange(indices, value, c.extent, 0, 0);
    return test;
  }
  const IndexValue base = value.Uniform();
  const Interval least_most = [&] {
    IndexValue apart = value;
    apart.constant = 0;
    apart.terms.clear();
    return code.indices().RangeOf(apart);
  }();
  // Emits one test for all lanes. It fails only if no lane passes: if even the greatest lane is below 0, or even the
  // least lane is not below the extent.
  test.any =
      InRange(indices, base, c.extent - least_most.min + least_most.max, least_most.max, least_most.max);
  const bool narrow =
      std::max(-range.min, std::max(range.max, c.extent)) < INT32_MAX && value.vectors.empty();
  if (!narrow) {
    const mlir::Value extent = code.SameInLanes(c.extent, b.getIndexType());
    test.mask = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, indices.Vector(value), extent);
    return test;
  }
  const mlir::Type i32 = b.getI32Type();
  mlir::Value lanes = code.ConstantLanes(value.lanes, i32);
  if (!base.is_constant() || base.constant != 0) {
    const mlir::Value scalar = arith::IndexCastOp::create(b, i32, indices.Scalar(base));
    lanes = arith::AddIOp::create(b, code.AsVector(scalar), lanes);
  }
  const mlir::Value extent = code.SameInLanes(c.extent, i32);
  test.mask = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lanes, extent);
  return test;
}

mlir::Value HoldsForAll(IndexEmitter& indices, const std::vector<int>& conditions) {
  CodeBuilder& code = indices.code();
  PlanContext& context = code.context();
  mlir::Value all;
  for (const int condition : conditions) {
    const Interval rest = context.PartOf(condition).rest;
    const int before = code.indices().num_atoms();
    const IndexValue bound = context.BoundValue(condition);
    indices.EmitAtoms(before);
    all =
        And(code, all, InRange(indices, bound, code.plan().conditions[condition].extent, rest.min, rest.max));
  }
  return all;
}

mlir::Value UpperBound(IndexEmitter& indices, const plan::Loop& loop) {
  CodeBuilder& code = indices.code();
  mlir::ImplicitLocOpBuilder& b = code.b();
  mlir::Value upper;
  for (const int condition : loop.trims) {
    const auto trim = code.context().TrimOf(condition, loop.loop);
    KILN_CHECK(trim.has_value(), "a condition that ends no loop");
    IndexValue room =
        IndexValue::Constant(code.plan().conditions[condition].extent - trim->others.min + trim->scale - 1);
    room.Add(indices.Eval(trim->bound), -1);
    mlir::Value count = indices.Scalar(room);
    if (trim->scale != 1) count = arith::DivSIOp::create(b, count, code.ConstantIndex(trim->scale));
    upper = arith::MinSIOp::create(b, upper ? upper : code.ConstantIndex(loop.count), count);
  }
  if (loop.runs_once) upper = arith::MaxSIOp::create(b, upper, code.ConstantIndex(1));
  return upper;
}

void EmitIf(CodeBuilder& code, SharedLoads& loads, mlir::Value condition, llvm::function_ref<void()> holds,
            llvm::function_ref<void()> otherwise) {
  if (!condition) return holds();
  mlir::ImplicitLocOpBuilder& b = code.b();
  auto either = mlir::scf::IfOp::create(b, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(either.thenBlock());
  loads.InRegion(holds);
  if (!otherwise) return;
  b.setInsertionPointToStart(either.elseBlock());
  loads.InRegion(otherwise);
}

}  // namespace kiln
