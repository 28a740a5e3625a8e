#include "backends/lower/emit/emit_types.h"

namespace kiln {

mlir::Type RegisterType(mlir::OpBuilder& b, DType type) {
  switch (type) {
    case DType::kF64:
      return b.getF64Type();
    case DType::kF32:
      return b.getF32Type();
    case DType::kF16:
      return b.getF16Type();
    case DType::kBF16:
      return b.getBF16Type();
    case DType::kI1:
      return b.getI1Type();
    case DType::kI8:
    case DType::kU8:
      return b.getI8Type();
    case DType::kI16:
      return b.getI16Type();
    case DType::kI32:
      return b.getI32Type();
    case DType::kI64:
    case DType::kIndex:
      return b.getI64Type();
  }
  return {};
}

mlir::Type MemoryType(mlir::OpBuilder& b, DType type) {
  return type == DType::kI1 ? b.getI8Type() : RegisterType(b, type);
}

mlir::Type WithElement(mlir::Value shape, mlir::Type element) {
  const auto vector = mlir::dyn_cast<mlir::VectorType>(shape.getType());
  return vector ? mlir::VectorType::get(vector.getShape(), element) : element;
}

}  // namespace kiln
