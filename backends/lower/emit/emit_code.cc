#include "backends/lower/emit/emit_code.h"

#include <cstring>

#include "backends/lower/emit/emit_types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {

CodeBuilder::CodeBuilder(const Program& program, const IndexPlan& plan, const LowerOptions& options,
                         mlir::ModuleOp module)
    : options_(options),
      module_(module),
      b_(mlir::UnknownLoc::get(module.getContext()), module.getContext()),
      context_(program, plan) {}

void CodeBuilder::InLevel(mlir::Block* block, mlir::Operation* last, llvm::function_ref<void()> emit) {
  levels_.push_back({block, last, {}});
  emit();
  levels_.pop_back();
}

mlir::Value CodeBuilder::Hoist(int level, std::vector<int64_t> key, llvm::function_ref<Value()> make) {
  Level& at = levels_[level];
  const auto known = at.made.find(key);
  if (known != at.made.end()) return known->second;
  mlir::OpBuilder::InsertionGuard guard(b_);
  if (at.last == nullptr) {
    b_.setInsertionPointToStart(at.block);
  } else {
    b_.setInsertionPointAfter(at.last);
  }
  const Value value = make();
  at.last = value.getDefiningOp();
  at.made.emplace(std::move(key), value);
  return value;
}

mlir::Value CodeBuilder::ConstantIndex(int64_t value) {
  return Hoist(0, {kConstantKey, value}, [&] { return mlir::arith::ConstantIndexOp::create(b_, value); });
}

mlir::Value CodeBuilder::ConstantLanes(const std::vector<int64_t>& values, mlir::Type element) {
  std::vector<int64_t> key{kLanesKey, reinterpret_cast<intptr_t>(element.getAsOpaquePointer())};
  key.insert(key.end(), values.begin(), values.end());
  return Hoist(0, std::move(key), [&]() -> Value {
    const unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    llvm::SmallVector<llvm::APInt> bits;
    for (const int64_t value : values) bits.push_back(llvm::APInt(width, value, true, true));
    const auto type = mlir::VectorType::get({static_cast<int64_t>(values.size())}, element);
    return mlir::arith::ConstantOp::create(b_, mlir::DenseIntElementsAttr::get(type, bits));
  });
}

mlir::Value CodeBuilder::SameInLanes(int64_t value, mlir::Type element) {
  return ConstantLanes(std::vector<int64_t>(lanes(), value), element);
}

mlir::Value CodeBuilder::Constant(DType type, int64_t bits) {
  const mlir::Type element = RegisterType(b_, type);
  if (!IsFloat(type))
    return Splat(b_.getIntegerAttr(element, llvm::APInt(element.getIntOrFloatBitWidth(), bits, true, true)),
                 element);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return Splat(b_.getFloatAttr(element, value), element);
}

mlir::Value CodeBuilder::Splat(mlir::Attribute scalar, mlir::Type type) {
  const std::vector<int64_t> key{kSplatKey, reinterpret_cast<intptr_t>(scalar.getAsOpaquePointer()),
                                 reinterpret_cast<intptr_t>(type.getAsOpaquePointer())};
  return Hoist(0, key, [&]() -> Value {
    if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
      return mlir::arith::ConstantOp::create(b_, mlir::DenseElementsAttr::get(vector, scalar));
    }
    return mlir::arith::ConstantOp::create(b_, mlir::cast<mlir::TypedAttr>(scalar));
  });
}

mlir::Value CodeBuilder::AsVector(Value value) {
  if (IsVector(value)) return value;
  const auto type = mlir::VectorType::get({lanes()}, value.getType());
  if (auto constant = value.getDefiningOp<mlir::arith::ConstantOp>()) return Splat(constant.getValue(), type);
  return mlir::vector::BroadcastOp::create(b_, type, value);
}

}  // namespace kiln
