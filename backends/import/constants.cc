#include "backends/import/constants.h"

#include <limits>

#include "backends/workers/write_all.h"
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

// Returns the bytes of a constant that the file stores as a dense_resource; empty if the file leaves them out.
llvm::ArrayRef<char> BytesOf(mlir::DenseResourceElementsAttr resource) {
  const mlir::AsmResourceBlob* blob = resource.getRawHandle().getBlob();
  return blob ? blob->getData() : llvm::ArrayRef<char>();
}

// Returns the number of bytes of a constant that may become a parameter without bytes. Returns -1 for other operations,
// for splats, i1, index, and integers of 32 or more bits, and if the file lacks bytes of the constant.
int64_t DetachableBytes(mlir::Operation* op) {
  auto constant = llvm::dyn_cast_if_present<mlir::arith::ConstantOp>(op);
  const auto type = constant ? llvm::dyn_cast<mlir::RankedTensorType>(constant.getType()) : nullptr;
  std::vector<int64_t> shape;
  Why why;
  if (!type || !ShapeOf(type, &shape, &why)) return -1;
  const DType dtype = ElementOf(constant.getResult());
  if ((!IsFloat(dtype) && SizeOf(dtype) > 2) || dtype == DType::kI1) return -1;
  const int64_t bytes = type.getNumElements() * SizeOf(dtype);
  if (auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue())) {
    const bool whole = static_cast<int64_t>(elements.getRawData().size()) == bytes;
    return whole && !elements.isSplat() ? bytes : -1;
  }
  const auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(constant.getValue());
  return resource && static_cast<int64_t>(BytesOf(resource).size()) == bytes ? bytes : -1;
}

}  // namespace

int64_t LeastDetached(mlir::func::FuncOp function) {
  constexpr int64_t kLarge = int64_t{64} << 10, kLeast = 64;
  const auto found = function.walk([](mlir::arith::ConstantOp op) {
    return DetachableBytes(op) >= kLarge ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found.wasInterrupted() ? kLeast : std::numeric_limits<int64_t>::max();
}

bool IsDetached(mlir::Operation* op, int64_t least) { return DetachableBytes(op) >= least; }

int64_t AppendLargeConstant(mlir::arith::ConstantOp op, int file) {
  llvm::ArrayRef<char> bytes;
  if (auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getValue())) {
    bytes = elements.getRawData();
  } else {
    bytes = BytesOf(llvm::cast<mlir::DenseResourceElementsAttr>(op.getValue()));
  }
  return WriteAll(file, {bytes.data(), bytes.size()}) ? static_cast<int64_t>(bytes.size()) : -1;
}

mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values) {
  if (ToDType(op.getType())) return mlir::success();
  std::vector<int64_t> shape;
  Why why;
  if (!ShapeOf(op.getType(), &shape, &why)) return values.Refuse(op, why);
  const DType dtype = ElementOf(op.getResult());
  std::string bytes;
  if (IsDetached(op, values.least_detached)) {
    const std::string name = values.UniqueName("constant");
    values.SetBuffer(op.getResult(), values.builder().Constant(name, dtype, Extents(shape)));
    values.detached.emplace_back(name, op);
    return mlir::success();
  }
  if (auto elements = llvm::dyn_cast<mlir::DenseElementsAttr>(op.getValue())) {
    if (elements.isSplat()) {
      values.SetSplat(op.getResult(), elements.getSplatValue<mlir::TypedAttr>(), {});
      return mlir::success();
    }
    bytes = BytesOf(elements, dtype);
  } else if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(op.getValue())) {
    const llvm::ArrayRef<char> found = BytesOf(resource);
    bytes.assign(found.data(), found.size());
    const int64_t wanted = llvm::cast<mlir::RankedTensorType>(op.getType()).getNumElements() * SizeOf(dtype);
    if (!bytes.empty() && static_cast<int64_t>(bytes.size()) != wanted) {
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
