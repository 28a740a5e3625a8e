#include "backends/lower/lift_allocations.h"

#include "backends/cpu/passes/outline_parallel.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {
namespace {

constexpr int64_t kPieceAlignment = 64;  // in bytes

int64_t ElementBytes(mlir::MemRefType type) {
  const mlir::Type element = type.getElementType();
  return element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

// Returns the type of an array that holds `pieces` arrays of the given type, one for each thread. Each of them is
// padded to a multiple of kPieceAlignment bytes.
mlir::MemRefType ArrayOfPieces(mlir::MemRefType type, int pieces) {
  const int64_t bytes = ElementBytes(type) * type.getNumElements();
  const int64_t padded = (bytes + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
  return mlir::MemRefType::get({pieces * padded / ElementBytes(type)}, type.getElementType());
}

}  // namespace

std::vector<int64_t> LiftAllocations(mlir::ModuleOp module, const std::string& function, int pieces) {
  KILN_CHECK(pieces >= 2 && pieces <= kMaxPieces, pieces, " pieces");
  auto entry = module.lookupSymbol<mlir::func::FuncOp>(function);
  std::vector<mlir::memref::AllocOp> arrays;
  entry.walk([&](mlir::memref::AllocOp array) {
    if (array.getType().hasStaticShape()) arrays.push_back(array);
  });
  std::vector<int64_t> bytes;
  for (mlir::memref::AllocOp array : arrays) {
    const bool per_iteration = array->hasAttr(kPerIterationAttribute);
    const mlir::MemRefType type = array.getType();
    const mlir::MemRefType given = per_iteration ? ArrayOfPieces(type, pieces) : type;
    bytes.push_back(given.getNumElements() * ElementBytes(given));
    const unsigned position = entry.getNumArguments();
    (void)entry.insertArgument(position, given, {}, array.getLoc());
    mlir::Value memory = entry.getArgument(position);
    if (per_iteration) {
      mlir::OpBuilder b(array);
      auto piece = mlir::memref::ReinterpretCastOp::create(b, array.getLoc(), type, memory, /*offset=*/0,
                                                           type.getShape(), llvm::ArrayRef<int64_t>{1});
      piece->setAttr(kPerIterationAttribute, b.getUnitAttr());
      piece->setAttr(kPiecesAttribute, b.getI64IntegerAttr(pieces));
      memory = piece;
    }
    for (mlir::Operation* user : llvm::make_early_inc_range(array->getUsers())) {
      if (mlir::isa<mlir::memref::DeallocOp>(user)) user->erase();
    }
    array.getResult().replaceAllUsesWith(memory);
    array.erase();
  }
  return bytes;
}

}  // namespace kiln
