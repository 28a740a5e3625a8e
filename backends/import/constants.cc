#include "backends/import/constants.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace kiln {
namespace {

void AppendBytes(const llvm::APInt& value, int64_t size, std::string* bytes) {
  const uint64_t bits = value.getZExtValue();
  bytes->append(reinterpret_cast<const char*>(&bits), size);
}

std::string BytesOf(mlir::DenseElementsAttr elements, DType dtype) {
  std::string bytes;
  const int64_t size = SizeOf(dtype);
  bytes.reserve(elements.getNumElements() * size);
  if (IsFloat(dtype)) {
    for (const llvm::APFloat& value : elements.getValues<llvm::APFloat>())
      AppendBytes(value.bitcastToAPInt(), size, &bytes);
  } else {
    for (const llvm::APInt& value : elements.getValues<llvm::APInt>()) AppendBytes(value, size, &bytes);
  }
  return bytes;
}

}  // namespace

mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values) {
  if (ToDType(op.getType())) return mlir::success();
  std::vector<int64_t> shape;
  Why why;
  if (!ShapeOf(op.getType(), &shape, &why)) return values.Refuse(op, why);
  const DType dtype = ElementOf(op.getResult());
  std::string bytes;
  if (auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getValue())) {
    if (elements.isSplat()) {
      values.SetSplat(op.getResult(), elements.getSplatValue<mlir::TypedAttr>(), {});
      return mlir::success();
    }
    bytes = BytesOf(elements, dtype);
  } else if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(op.getValue())) {
    const mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
    if (blob) bytes.assign(blob->getData().data(), blob->getData().size());
    const int64_t wanted = llvm::cast<mlir::RankedTensorType>(op.getType()).getNumElements() * SizeOf(dtype);
    if (blob && static_cast<int64_t>(bytes.size()) != wanted) {
      return values.Refuse(op, "a resource whose size is not that of its type",
                           "write the file again, with whole resources");
    }
  } else {
    return values.Refuse(op, "a constant that is neither dense nor a resource", "use dense<...>");
  }
  values.SetBuffer(op.getResult(), values.builder().Constant(values.UniqueName("constant"), dtype,
                                                             Extents(shape), std::move(bytes)));
  return mlir::success();
}

}  // namespace kiln
