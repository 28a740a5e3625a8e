#include "backends/lower/rematerialize_loads.h"

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

// Returns the index operand of a memref.load, vector.load or vector.maskedload; null for other operations.
mlir::OpOperand* IndexOf(mlir::Operation* op) {
  return llvm::TypeSwitch<mlir::Operation*, mlir::OpOperand*>(op)
      .Case<mlir::memref::LoadOp, mlir::vector::LoadOp, mlir::vector::MaskedLoadOp>(
          [](auto load) { return &load.getIndicesMutable()[0]; })
      .Default(nullptr);
}

// Returns the index operands of the loads that stand in a loop (also in an if, but not in an inner loop), and whose
// index does not change in the loop. Leaves out loads from memory that other operations in the loop use, such as
// stores.
std::vector<mlir::OpOperand*> Standing(mlir::scf::ForOp loop) {
  std::vector<mlir::OpOperand*> loads;
  llvm::DenseSet<mlir::Value> stored;
  loop.getBody()->walk([&](mlir::Operation* op) {
    mlir::OpOperand* index = IndexOf(op);
    if (index == nullptr) {
      stored.insert(op->operand_begin(), op->operand_end());
    } else if (op->getParentOfType<mlir::scf::ForOp>() == loop && loop.isDefinedOutsideOfLoop(index->get())) {
      loads.push_back(index);
    }
  });
  std::erase_if(loads, [&](mlir::OpOperand* index) {  // operand 0 is the memory
    return stored.contains(index->getOwner()->getOperand(0));
  });
  return loads;
}

// Makes indices opaque to LLVM, so that it does not hoist their loads out of the loop: x + c becomes (x + 0) + c with a
// 0 that LLVM cannot see through. c remains in the address.
class Pins {
 public:
  explicit Pins(mlir::scf::ForOp loop) : b_(loop.getContext()), at_(loop.getLoc()) {
    b_.setInsertionPointToStart(loop.getBody());
    const mlir::Value zero = mlir::arith::ConstantIntOp::create(b_, at_, 0, 64);
    auto hidden =
        mlir::LLVM::InlineAsmOp::create(b_, at_, b_.getI64Type(), mlir::ValueRange{zero}, "", "=r,0", true,
                                        false, mlir::LLVM::TailCallKind::None, nullptr, nullptr);
    zero_ = mlir::arith::IndexCastOp::create(b_, at_, b_.getIndexType(), hidden.getRes());
  }

  mlir::Value Pinned(mlir::Value index) {
    auto sum = index.getDefiningOp<mlir::arith::AddIOp>();
    const bool offset = sum && sum.getRhs().getDefiningOp<mlir::arith::ConstantOp>();
    if (!offset) return Anew(index);
    const mlir::Value base = Anew(sum.getLhs());
    return mlir::arith::AddIOp::create(b_, at_, base, sum.getRhs());
  }

 private:
  mlir::Value Anew(mlir::Value value) {
    mlir::Value& made = made_[value];
    if (!made) made = mlir::arith::AddIOp::create(b_, at_, value, zero_);
    return made;
  }

  mlir::OpBuilder b_;
  const mlir::Location at_;
  mlir::Value zero_;
  llvm::DenseMap<mlir::Value, mlir::Value> made_;
};

}  // namespace

void RematerializeLoads(mlir::ModuleOp module, int registers) {
  module.walk([&](mlir::scf::ForOp loop) {
    const std::vector<mlir::OpOperand*> standing = Standing(loop);
    if (standing.size() <= static_cast<size_t>(registers)) return;
    Pins pins(loop);
    for (mlir::OpOperand* index : standing) index->set(pins.Pinned(index->get()));
  });
}

}  // namespace kiln
