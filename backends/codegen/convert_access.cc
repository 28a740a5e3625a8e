#include "backends/codegen/convert_access.h"

#include <algorithm>
#include <type_traits>

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

using mlir::Value;

// Returns the pointer in a memref descriptor: the value that was put into the descriptor, if that can be found;
// otherwise emits code that extracts it.
Value PointerIn(Value descriptor, mlir::Location loc, mlir::OpBuilder& b) {
  constexpr int64_t kAligned = 1;
  for (Value at = descriptor; auto put = at.getDefiningOp<mlir::LLVM::InsertValueOp>();
       at = put.getContainer()) {
    if (put.getPosition() == llvm::ArrayRef<int64_t>{kAligned}) return put.getValue();
  }
  return mlir::MemRefDescriptor(descriptor).alignedPtr(b, loc);
}

template <typename Op>
struct Access : mlir::ConvertOpToLLVMPattern<Op> {
  using mlir::ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;
  static constexpr bool kScalar =
      std::is_same_v<Op, mlir::memref::LoadOp> || std::is_same_v<Op, mlir::memref::StoreOp>;
  static constexpr bool kLoad =
      std::is_same_v<Op, mlir::memref::LoadOp> || std::is_same_v<Op, mlir::vector::LoadOp>;

  mlir::LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                      mlir::ConversionPatternRewriter& rewriter) const override {
    const mlir::MemRefType memory = op.getMemRefType();
    const mlir::Type element = this->typeConverter->convertType(memory.getElementType());
    if (memory.getRank() != 1 || !memory.getLayout().isIdentity() || !element.isIntOrFloat())
      return mlir::failure();
    Value descriptor;
    if constexpr (kScalar) {
      descriptor = adaptor.getMemref();
    } else {
      descriptor = adaptor.getBase();
    }
    const mlir::Location loc = op.getLoc();
    const Value pointer = PointerIn(descriptor, loc, rewriter);
    using Flags = mlir::LLVM::GEPNoWrapFlags;
    const Value address =
        mlir::LLVM::GEPOp::create(rewriter, loc, pointer.getType(), element, pointer, adaptor.getIndices(),
                                  kScalar ? Flags::inbounds | Flags::nuw : Flags::none);
    const unsigned alignment =
        static_cast<unsigned>(op.getAlignment().value_or(std::max(1u, element.getIntOrFloatBitWidth() / 8)));
    if constexpr (kLoad) {
      const mlir::Type type = this->typeConverter->convertType(op.getResult().getType());
      rewriter.replaceOpWithNewOp<mlir::LLVM::LoadOp>(op, type, address, alignment, false,
                                                      op.getNontemporal());
    } else {
      const Value value = adaptor.getOperands().front();
      rewriter.replaceOpWithNewOp<mlir::LLVM::StoreOp>(op, value, address, alignment, false,
                                                       op.getNontemporal());
    }
    return mlir::success();
  }
};

}  // namespace

void AddAccessPatterns(const mlir::LLVMTypeConverter& types, mlir::RewritePatternSet& patterns) {
  constexpr int kBeforeOthers = 2;
  patterns.add<Access<mlir::memref::LoadOp>, Access<mlir::memref::StoreOp>, Access<mlir::vector::LoadOp>,
               Access<mlir::vector::StoreOp>>(types, kBeforeOthers);
}

}  // namespace kiln
