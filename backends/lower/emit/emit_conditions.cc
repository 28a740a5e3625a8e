// Emits tests of conditions: for one instance, and for all values of the loops that are not bound yet.
#include <algorithm>

#include "backends/lower/emit/emit.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace arith = mlir::arith;

mlir::Value Emitter::And(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return arith::AndIOp::create(b_, loc_, a, b);
}

// The test 0 <= value + least and value + most < extent; null if it is known to hold.
mlir::Value Emitter::InRange(const IndexValue& value, int64_t extent, int64_t least, int64_t most) {
  const Interval range = context_.indices().RangeOf(value);
  const bool below = range.min + least < 0, above = range.max + most >= extent;
  const auto shifted = [&](int64_t by) {
    IndexValue moved = value;
    moved.constant += by;
    return Scalar(moved);
  };
  if (below && above && least == most) {
    return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, shifted(least), ConstantIndex(extent));
  }
  Value result;
  if (above)
    result = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, shifted(most), ConstantIndex(extent));
  if (below) {
    result = And(
        result, arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, shifted(least), ConstantIndex(0)));
  }
  return result;
}

Emitter::Test Emitter::TestOf(int condition) {
  const Condition& c = plan_.conditions[condition];
  Test test;
  const int before = context_.indices().num_atoms();
  test.known = context_.Decided(condition);
  EmitAtoms(before);
  if (test.known.has_value()) return test;
  const IndexValue value = context_.ValueOf(condition);
  const Interval range = context_.indices().RangeOf(value);
  if (value.uniform()) {
    test.uniform = InRange(value, c.extent, 0, 0);
    return test;
  }
  const IndexValue base = value.Uniform();
  const Interval least_most = [&] {
    IndexValue apart = value;
    apart.constant = 0;
    apart.terms.clear();
    return context_.indices().RangeOf(apart);
  }();
  // If this test fails, no lane passes: it tests the lanes that are nearest to the two bounds.
  test.any = InRange(base, c.extent - least_most.min + least_most.max, least_most.max, least_most.max);
  const bool narrow =
      std::max(-range.min, std::max(range.max, c.extent)) < INT32_MAX && value.vectors.empty();
  if (!narrow) {
    const Value extent = ConstantLanes(std::vector<int64_t>(context_.lanes(), c.extent), b_.getIndexType());
    test.mask = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, Vector(value), extent);
    return test;
  }
  const mlir::Type i32 = b_.getI32Type();
  Value lanes = ConstantLanes(value.lanes, i32);
  if (!base.is_constant() || base.constant != 0) {
    const Value scalar = arith::IndexCastOp::create(b_, loc_, i32, Scalar(base));
    lanes = arith::AddIOp::create(b_, loc_, AsVector(scalar), lanes);
  }
  const Value extent = ConstantLanes(std::vector<int64_t>(context_.lanes(), c.extent), i32);
  test.mask = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, lanes, extent);
  return test;
}

// Emits the test that all conditions hold for every value of their rest (plan_context.h). Null if they are known to.
mlir::Value Emitter::HoldsForAll(const std::vector<int>& conditions) {
  Value all;
  for (const int condition : conditions) {
    const Interval rest = context_.PartOf(condition).rest;
    const int before = context_.indices().num_atoms();
    const IndexValue bound = context_.BoundValue(condition);
    EmitAtoms(before);
    all = And(all, InRange(bound, plan_.conditions[condition].extent, rest.min, rest.max));
  }
  return all;
}

// The number of iterations for which all conditions that end the loop may hold; null if nothing ends it.
mlir::Value Emitter::UpperBound(const plan::Loop& loop) {
  Value upper;
  for (const int condition : loop.trims) {
    const auto trim = context_.TrimOf(condition, loop.loop);
    KILN_CHECK(trim.has_value(), "a condition that ends no loop");
    IndexValue room =
        IndexValue::Constant(plan_.conditions[condition].extent - trim->others.min + trim->scale - 1);
    room.Add(Eval(trim->bound), -1);
    Value count = Scalar(room);
    if (trim->scale != 1) count = arith::DivSIOp::create(b_, loc_, count, ConstantIndex(trim->scale));
    upper = arith::MinSIOp::create(b_, loc_, upper ? upper : ConstantIndex(loop.count), count);
  }
  if (loop.runs_once) upper = arith::MaxSIOp::create(b_, loc_, upper, ConstantIndex(1));
  return upper;
}

}  // namespace kiln
