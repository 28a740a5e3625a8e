// Emits scf.for loops that carry tensors, and operations on single elements of the tensors.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace kiln {

using ValueList = llvm::SmallVector<mlir::Value>;

class TensorLoops {
 public:
  TensorLoops(mlir::OpBuilder& builder, mlir::Location location) : b(builder), loc(location) {}

  mlir::Value Index(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, loc, value); }
  mlir::Value Add(mlir::Value a, mlir::Value c) { return mlir::arith::AddIOp::create(b, loc, a, c); }
  mlir::Value Least(mlir::Value a, mlir::Value c) { return mlir::arith::MinSIOp::create(b, loc, a, c); }
  mlir::Value Less(mlir::Value a, mlir::Value c) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt, a, c);
  }
  mlir::Value Select(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return mlir::arith::SelectOp::create(b, loc, condition, yes, no);
  }
  mlir::Value At(mlir::Value tensor, mlir::ValueRange index) {
    return mlir::tensor::ExtractOp::create(b, loc, tensor, index);
  }
  mlir::Value Put(mlir::Value value, mlir::Value tensor, mlir::ValueRange index) {
    return mlir::tensor::InsertOp::create(b, loc, value, tensor, index);
  }

  // Emits `for i = from .. to by step: carried = body(i, carried)`, without i = to. Returns the last values.
  using Body = llvm::function_ref<ValueList(mlir::Value, mlir::ValueRange)>;
  ValueList For(mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange carried, Body body) {
    auto loop = mlir::scf::ForOp::create(
        b, loc, from, to, step, carried,
        [&](mlir::OpBuilder& inside, mlir::Location at, mlir::Value i, mlir::ValueRange values) {
          const mlir::OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
          const ValueList next = body(i, values);
          mlir::scf::YieldOp::create(b, at, next);
        });
    return ValueList(loop.getResults());
  }

  // Emits nested loops over all points of a box with the extents `shape`: carried = body(point, carried). Returns the
  // last values.
  using PointBody = llvm::function_ref<ValueList(ValueList, mlir::ValueRange)>;
  ValueList ForAll(llvm::ArrayRef<int64_t> shape, mlir::ValueRange carried, PointBody body,
                   const ValueList& point = {}) {
    if (point.size() == shape.size()) return body(point, carried);
    return For(Index(0), Index(shape[point.size()]), Index(1), carried,
               [&](mlir::Value i, mlir::ValueRange values) {
                 ValueList next = point;
                 next.push_back(i);
                 return ForAll(shape, values, body, next);
               });
  }

  mlir::OpBuilder& b;
  const mlir::Location loc;
};

}  // namespace kiln
