#include "backends/lower/carry_in_place.h"

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace kiln {
namespace {

namespace scf = mlir::scf;
namespace tensor = mlir::tensor;

bool IsTensor(mlir::Value value) { return mlir::isa<mlir::TensorType>(value.getType()); }

absl::Status CheckSizes(mlir::ValueRange carried) {
  for (const mlir::Value value : carried) {
    const auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (IsTensor(value) && (!type || !type.hasStaticShape()))
      return absl::InvalidArgumentError("a loop carries a tensor whose size is not a number");
  }
  return absl::OkStatus();
}

// Adds to `seen` the tensor and, transitively, the tensors from which its definition may take its buffer. Stops at
// block arguments, tensor.empty and alloc_tensor. Ignores values that are not tensors.
void Roots(mlir::Value value, llvm::SmallPtrSetImpl<mlir::Value>& seen) {
  if (!IsTensor(value) || !seen.insert(value).second) return;
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr || mlir::isa<tensor::EmptyOp, mlir::bufferization::AllocTensorOp>(op)) return;
  if (auto tied = mlir::dyn_cast<mlir::DestinationStyleOpInterface>(op)) {
    Roots(tied.getTiedOpOperand(mlir::cast<mlir::OpResult>(value))->get(), seen);
    return;
  }
  const unsigned number = mlir::cast<mlir::OpResult>(value).getResultNumber();
  if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) {
    Roots(loop.getInitArgs()[number], seen);
    Roots(loop.getYieldedValues()[number], seen);
  } else if (auto choice = mlir::dyn_cast<scf::IfOp>(op)) {
    Roots(choice.thenYield().getOperand(number), seen);
    Roots(choice.elseYield().getOperand(number), seen);
  } else {
    for (const mlir::Value operand : op->getOperands()) Roots(operand, seen);
    for (mlir::Region& region : op->getRegions()) {
      for (const mlir::Value yielded : region.front().getTerminator()->getOperands()) Roots(yielded, seen);
    }
  }
}

// Whether a value that a loop yields may share its buffer with the carried tensor that it replaces (`own`), and with
// any other carried tensor (`others`).
struct Sharing {
  bool own = false, others = false;
};

Sharing SharingOf(mlir::Value value, mlir::ValueRange carried, size_t position) {
  llvm::SmallPtrSet<mlir::Value, 16> roots;
  Roots(value, roots);
  Sharing sharing;
  for (size_t i = 0; i < carried.size(); ++i)
    (i == position ? sharing.own : sharing.others) |= roots.contains(carried[i]);
  return sharing;
}

// Makes a loop write each tensor that its terminator passes on, from operand `first` on, to the buffer of the carried
// tensor that it replaces. Copies the tensor first if it may share its buffer with another carried tensor; with
// `copies`, also if it may share that of the tensor that it replaces. Leaves a tensor as it is if it is the tensor that
// it replaces, or, without `copies`, if it may share the buffer of that tensor alone.
void WriteTo(mlir::Operation* terminator, unsigned first, mlir::ValueRange carried, bool copies) {
  mlir::OpBuilder b(terminator);
  const mlir::Location loc = terminator->getLoc();
  llvm::SmallVector<bool> writes(carried.size());
  for (unsigned i = 0; i < carried.size(); ++i) {
    const mlir::Value value = terminator->getOperand(first + i);
    if (!IsTensor(value) || value == carried[i]) continue;
    const Sharing sharing = SharingOf(value, carried, i);
    writes[i] = copies || sharing.others || !sharing.own;
    if (!sharing.others && !(copies && sharing.own)) continue;
    const mlir::Value copy = mlir::bufferization::AllocTensorOp::create(
        b, loc, mlir::cast<mlir::RankedTensorType>(value.getType()), mlir::ValueRange(), value);
    terminator->setOperand(first + i, copy);
  }
  for (unsigned i = 0; i < carried.size(); ++i) {
    if (!writes[i]) continue;
    const mlir::Value value = terminator->getOperand(first + i);
    auto written =
        mlir::bufferization::MaterializeInDestinationOp::create(b, loc, value.getType(), value, carried[i]);
    terminator->setOperand(first + i, written.getResult());
  }
}

// Returns an arbitrary value of the type as an initial value that is never read: an empty tensor, or the number 0.
// Fails for other types.
mlir::FailureOr<mlir::Value> Anything(mlir::OpBuilder& b, mlir::Location loc, mlir::Type type) {
  if (auto ranked = mlir::dyn_cast<mlir::RankedTensorType>(type))
    return mlir::Value(tensor::EmptyOp::create(b, loc, ranked.getShape(), ranked.getElementType()));
  if (!type.isIntOrIndexOrFloat()) return mlir::failure();
  return mlir::Value(mlir::arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
}

bool PassesOnWhatItTakes(scf::WhileOp loop) {
  const mlir::ValueRange passed = loop.getConditionOp().getArgs();
  return llvm::equal(passed, loop.getBeforeArguments());
}

// Replaces an scf.while by a loop that carries the values that it takes, followed by those that its condition passes on
// to its body. Fails if such a value is neither a ranked tensor nor a number.
absl::StatusOr<scf::WhileOp> WithPassedValues(scf::WhileOp loop) {
  mlir::IRRewriter b(loop);
  const mlir::Location loc = loop.getLoc();
  llvm::SmallVector<mlir::Value> inits(loop.getInits());
  for (const mlir::Type type : loop.getResultTypes()) {
    const auto anything = Anything(b, loc, type);
    if (mlir::failed(anything)) return absl::InvalidArgumentError("a loop passes on a value of unknown type");
    inits.push_back(*anything);
  }
  const llvm::SmallVector<mlir::Type> types(mlir::ValueRange(inits).getTypes());
  const unsigned taken = static_cast<unsigned>(loop.getInits().size());
  auto made = scf::WhileOp::create(b, loc, types, inits);
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  mlir::Block &before = made.getBefore().front(), &after = made.getAfter().front();
  for (const mlir::Type type : loop.getResultTypes()) before.addArgument(type, loc);
  scf::ConditionOp condition = made.getConditionOp();
  llvm::SmallVector<mlir::Value> passed(before.getArguments().take_front(taken));
  passed.append(condition.getArgs().begin(), condition.getArgs().end());
  condition.getArgsMutable().assign(passed);
  for (unsigned i = 0; i < taken; ++i) after.insertArgument(i, types[i], loc);
  scf::YieldOp yield = made.getYieldOp();
  llvm::SmallVector<mlir::Value> next(yield.getOperands());
  next.append(after.getArguments().begin() + taken, after.getArguments().end());
  yield->setOperands(next);
  b.replaceOp(loop, made.getResults().drop_front(taken));
  return made;
}

absl::Status CarryInPlace(scf::WhileOp loop, bool copies) {
  if (!PassesOnWhatItTakes(loop)) {
    auto made = WithPassedValues(loop);
    if (!made.ok()) return made.status();
    loop = *made;
  }
  if (auto status = CheckSizes(loop.getInits()); !status.ok()) return status;
  WriteTo(loop.getConditionOp(), 1, loop.getBeforeArguments(), copies);
  WriteTo(loop.getYieldOp(), 0, loop.getAfterArguments(), copies);
  return absl::OkStatus();
}

}  // namespace

absl::Status CarryInPlace(mlir::Operation* root, bool copies) {
  llvm::SmallVector<mlir::Operation*> loops;
  root->walk([&](mlir::Operation* op) {
    if (mlir::isa<scf::ForOp, scf::WhileOp>(op)) loops.push_back(op);
  });
  for (mlir::Operation* op : loops) {
    absl::Status status;
    if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) {
      status = CarryInPlace(loop, copies);
    } else if (auto counted = mlir::cast<scf::ForOp>(op); counted.getNumRegionIterArgs() > 0) {
      status = CheckSizes(counted.getInitArgs());
      if (status.ok()) WriteTo(counted.getBody()->getTerminator(), 0, counted.getRegionIterArgs(), copies);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace kiln
