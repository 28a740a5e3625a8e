#include "backends/lower/emit/emit_buffers.h"

#include "absl/strings/str_cat.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/lower/emit/emit_types.h"
#include "backends/lower/passes/share_storage.h"
#include "lang/base/check.h"
#include "lang/program/layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {

mlir::MemRefType BufferEmitter::MemoryOf(Id buffer, int64_t elements) {
  return mlir::MemRefType::get({elements}, MemoryType(code_.b(), code_.program().buffers[buffer].dtype));
}

mlir::Type BufferEmitter::TypeOfParameter(Id buffer) {
  // Takes the number of a parameter's elements from the plan, or, if no block uses the parameter, from its shape.
  const BufferPlan& plan = code_.plan().buffers[buffer];
  return MemoryOf(buffer, plan.used() ? plan.elements : ElementsOf(code_.program(), buffer));
}

mlir::Value BufferEmitter::operator[](Id buffer) const {
  const Program& p = code_.program();
  KILN_CHECK(values_[buffer], "buffer ", p.Text(p.buffers[buffer].name), " is not there");
  return values_[buffer];
}

mlir::Value BufferEmitter::Status() {
  for (size_t id = 0; id < values_.size(); ++id) {
    if (code_.program().buffers[id].role == Role::kStatus && values_[id])
      return mlir::memref::LoadOp::create(code_.b(), values_[id], mlir::ValueRange{code_.ConstantIndex(0)});
  }
  return mlir::arith::ConstantOp::create(code_.b(), code_.b().getI32IntegerAttr(0));
}

void BufferEmitter::Declare(llvm::function_ref<bool(Id)> uses) {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  const IndexPlan& plan = code_.plan();
  for (Id id = 0; id < std::ssize(values_); ++id) {
    const BufferPlan& buffer = plan.buffers[id];
    if (!uses(id) || values_[id] || buffer.place == Memory::kParameter || buffer.shares != kNone) continue;
    const mlir::MemRefType type = MemoryOf(id, ElementsHeld(plan, id));
    const mlir::IntegerAttr alignment = b.getI64IntegerAttr(kHeapAlignment);
    if (buffer.place == Memory::kGlobal) {
      values_[id] = Global(id);
    } else if (buffer.place == Memory::kShared) {
      values_[id] = SharedMemory(code_, type.getElementType(), type.getNumElements(), buffer.offset);
    } else if (buffer.place == Memory::kAlloca) {
      values_[id] = mlir::memref::AllocaOp::create(b, type, alignment);
    } else {
      values_[id] = mlir::memref::AllocOp::create(b, type, alignment);
      allocated_.push_back(id);
    }
    if (buffer.per_iteration) values_[id].getDefiningOp()->setAttr(kPerIterationAttribute, b.getUnitAttr());
  }
  for (Id id = 0; id < std::ssize(values_); ++id) {
    if (uses(id)) values_[id] = values_[plan.MemoryOf(id)];
  }
}

void BufferEmitter::Free() {
  for (const Id id : allocated_) mlir::memref::DeallocOp::create(code_.b(), values_[id]);
}

mlir::Value SharedMemory(CodeBuilder& code, mlir::Type element, int64_t elements, int64_t offset) {
  constexpr int64_t kSharedSpace = 3;  // NVPTX's address space of shared memory
  mlir::ImplicitLocOpBuilder& b = code.b();
  const auto space = b.getI64IntegerAttr(kSharedSpace);
  const auto arena = mlir::MemRefType::get({0}, b.getI8Type(), mlir::AffineMap(), space);
  if (!code.module().lookupSymbol(kSharedArena)) {
    constexpr int64_t kAlignment = 1024;
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(code.module().getBody());
    mlir::memref::GlobalOp::create(b, kSharedArena, mlir::StringAttr(), arena, mlir::Attribute(), false,
                                   b.getI64IntegerAttr(kAlignment));
  }
  const auto mine = mlir::MemRefType::get({elements}, element, mlir::AffineMap(), space);
  const mlir::Value begin = mlir::memref::GetGlobalOp::create(b, arena, kSharedArena);
  return mlir::memref::ViewOp::create(b, mine, begin, code.ConstantIndex(offset), mlir::ValueRange());
}

mlir::Value BufferEmitter::Global(Id id) {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  const Buffer& buffer = code_.program().buffers[id];
  KILN_CHECK(code_.program().constants != nullptr, "a constant without bytes");
  const std::string& bytes = (*code_.program().constants)[buffer.data];
  const int64_t count = static_cast<int64_t>(bytes.size()) / SizeOf(buffer.dtype);
  const mlir::MemRefType type = MemoryOf(id, count);
  const std::string name = absl::StrCat("constant.", buffer.data);
  if (!code_.module().lookupSymbol(name)) {
    const auto value =
        mlir::DenseElementsAttr::getFromRawBuffer(mlir::RankedTensorType::get({count}, type.getElementType()),
                                                  llvm::ArrayRef<char>(bytes.data(), bytes.size()));
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(code_.module().getBody());
    mlir::memref::GlobalOp::create(b, name, b.getStringAttr("private"), type, value, true,
                                   b.getI64IntegerAttr(kHeapAlignment));
  }
  return mlir::memref::GetGlobalOp::create(b, type, name);
}

}  // namespace kiln
