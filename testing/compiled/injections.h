// Injects defects into the code of a program before it is compiled, to test whether a measurer notices them.
// Needs the headers of MLIR.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/builder/compile.h"
#include "backends/codegen/context.h"
#include "lang/base/random.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {

using Change =
    std::function<bool(mlir::ModuleOp)>;  // returns false if the module has no place for the change

inline absl::StatusOr<std::optional<std::string>> BuildChanged(Program program, const Change& change) {
  program.name = "kernel";
  auto module = Lower(program, Context(), LoweringFor(Host()));
  if (!module.ok()) return module.status();
  if (!change(**module)) return std::optional<std::string>();
  static Codegen& codegen = *Codegen::Create(Host())->release();
  auto object = codegen.Compile(**module, CodegenFor(program));
  if (!object.ok()) return object.status();
  auto shared = LinkKernel(program, *object);
  if (!shared.ok()) return shared.status();
  return std::optional(*std::move(shared));
}

template <typename Op>
std::vector<Op> All(mlir::ModuleOp module) {
  std::vector<Op> found;
  module.walk([&](Op op) { found.push_back(op); });
  return found;
}

template <typename T>
T Pick(const std::vector<T>& from, Engine& engine) {
  return from[engine() % from.size()];
}

inline mlir::Value Moved(mlir::OpBuilder& b, mlir::Value value, mlir::Value step, bool plus) {
  if (plus) return mlir::arith::AddIOp::create(b, value.getLoc(), value, step);
  return mlir::arith::SubIOp::create(b, value.getLoc(), value, step);
}

inline mlir::Value Number(mlir::OpBuilder& b, mlir::Location loc, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(b, loc, value);
}

// Moves the lower or upper bound of a random loop by one step, up or down. False if there is no loop.
inline bool MoveBound(mlir::ModuleOp module, Engine& engine, bool lower, bool up) {
  const auto loops = All<mlir::scf::ForOp>(module);
  if (loops.empty()) return false;
  mlir::scf::ForOp loop = Pick(loops, engine);
  mlir::OpBuilder b(loop);
  if (lower) {
    loop.setLowerBound(Moved(b, loop.getLowerBound(), loop.getStep(), up));
  } else {
    loop.setUpperBound(Moved(b, loop.getUpperBound(), loop.getStep(), up));
  }
  return true;
}

inline bool MoveAccess(mlir::ModuleOp module, Engine& engine, bool up) {
  std::vector<mlir::OpOperand*> indices;
  module.walk([&](mlir::Operation* op) {
    if (!mlir::isa<mlir::memref::LoadOp, mlir::memref::StoreOp, mlir::vector::LoadOp, mlir::vector::StoreOp,
                   mlir::vector::MaskedLoadOp, mlir::vector::MaskedStoreOp>(op))
      return;
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (operand.get().getType().isIndex()) indices.push_back(&operand);
  });
  if (indices.empty()) return false;
  mlir::OpOperand* index = Pick(indices, engine);
  mlir::OpBuilder b(index->getOwner());
  index->set(Moved(b, index->get(), Number(b, index->getOwner()->getLoc(), 1), up));
  return true;
}

inline bool DropStore(mlir::ModuleOp module, Engine& engine) {
  std::vector<mlir::Operation*> stores;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa<mlir::memref::StoreOp, mlir::vector::StoreOp, mlir::vector::MaskedStoreOp>(op))
      stores.push_back(op);
  });
  if (stores.empty()) return false;
  Pick(stores, engine)->erase();
  return true;
}

inline bool StoreBeside(mlir::ModuleOp module, Engine& engine, bool past) {
  std::vector<mlir::BlockArgument> memory;
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    for (const mlir::BlockArgument argument : function.getArguments())
      if (mlir::isa<mlir::MemRefType>(argument.getType())) memory.push_back(argument);
  }
  const mlir::BlockArgument beside = Pick(memory, engine);
  const auto type = mlir::cast<mlir::MemRefType>(beside.getType());
  mlir::OpBuilder b(beside.getOwner(), beside.getOwner()->begin());
  const mlir::Location loc = beside.getLoc();
  const mlir::Value one = mlir::arith::ConstantOp::create(
      b, loc,
      type.getElementType().isIndex()     ? b.getIndexAttr(1)
      : type.getElementType().isInteger() ? mlir::TypedAttr(b.getIntegerAttr(type.getElementType(), 1))
                                          : mlir::TypedAttr(b.getFloatAttr(type.getElementType(), 1)));
  mlir::memref::StoreOp::create(b, loc, one, beside,
                                mlir::ValueRange{Number(b, loc, past ? type.getNumElements() : -1)});
  return true;
}

struct Defect {
  const char* name;
  bool (*inject)(mlir::ModuleOp module, Engine& engine);
};

inline constexpr Defect kDefects[] = {
    {"misses the last iteration", [](mlir::ModuleOp m, Engine& e) { return MoveBound(m, e, false, false); }},
    {"misses the first iteration", [](mlir::ModuleOp m, Engine& e) { return MoveBound(m, e, true, true); }},
    {"one iteration too many", [](mlir::ModuleOp m, Engine& e) { return MoveBound(m, e, false, true); }},
    {"an access one further", [](mlir::ModuleOp m, Engine& e) { return MoveAccess(m, e, true); }},
    {"an access one before", [](mlir::ModuleOp m, Engine& e) { return MoveAccess(m, e, false); }},
    {"a store is gone", DropStore},
    {"a store past a parameter", [](mlir::ModuleOp m, Engine& e) { return StoreBeside(m, e, true); }},
    {"a store before a parameter", [](mlir::ModuleOp m, Engine& e) { return StoreBeside(m, e, false); }},
};

// Runs the first 5% of the iterations of the first outermost loop twice. Returns false if there is no loop, or if its
// upper bound is no constant multiple of 20.
inline bool RepeatRows(mlir::ModuleOp module) {
  const auto loops = All<mlir::scf::ForOp>(module);
  for (mlir::scf::ForOp loop : loops) {
    if (loop->getParentOfType<mlir::scf::ForOp>()) continue;
    mlir::OpBuilder b(loop);
    auto again = mlir::cast<mlir::scf::ForOp>(b.clone(*loop));
    b.setInsertionPoint(again);
    const auto trips = mlir::getConstantIntValue(loop.getUpperBound());
    if (!trips || *trips % 20 != 0) return false;
    again.setUpperBound(Number(b, loop.getLoc(), *trips / 20));
    return true;
  }
  return false;
}

}  // namespace kiln
