// Emits functions: parameters, temporaries, constants.
#include "absl/strings/str_cat.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/share_storage.h"
#include "lang/base/check.h"
#include "lang/program/layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {
Emitter::Emitter(const Program& program, const IndexPlan& plan, const LowerOptions& options,
                 mlir::ModuleOp module)
    : p_(program),
      plan_(plan),
      options_(options),
      module_(module),
      b_(module.getContext()),
      loc_(b_.getUnknownLoc()),
      context_(program, plan),
      buffers_(program.buffers.size()) {}

void Emitter::EmitFunction(const plan::Entry& entry, const std::vector<Id>& parameters) {
  b_.setInsertionPointToEnd(module_.getBody());
  llvm::SmallVector<mlir::Type> types;
  for (const Id id : parameters) {
    // A parameter that no block uses still needs a shape.
    const int64_t elements = plan_.buffers[id].used() ? plan_.buffers[id].elements : ElementsOf(p_, id);
    types.push_back(mlir::MemRefType::get({elements}, MemoryType(b_, p_.buffers[id].dtype)));
  }
  auto function =
      mlir::func::FuncOp::create(b_, loc_, entry.name, b_.getFunctionType(types, {b_.getI32Type()}));
  mlir::Block* body = function.addEntryBlock();
  b_.setInsertionPointToStart(body);
  levels_.push_back({body, nullptr, {}});
  for (size_t i = 0; i < parameters.size(); ++i) buffers_[parameters[i]] = body->getArgument(i);
  DeclareBuffers(entry.prepare);
  Emit(entry.nodes);
  for (const Id id : allocated_) mlir::memref::DeallocOp::create(b_, loc_, buffers_[id]);
  mlir::func::ReturnOp::create(b_, loc_, Status());
  levels_.pop_back();
}

mlir::Value Emitter::Status() {
  for (size_t id = 0; id < buffers_.size(); ++id) {
    if (p_.buffers[id].role == Role::kStatus && buffers_[id])
      return mlir::memref::LoadOp::create(b_, loc_, buffers_[id], mlir::ValueRange{ConstantIndex(0)});
  }
  return mlir::arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(0));
}

// Declares the temporaries and constants that a phase uses.
void Emitter::DeclareBuffers(bool prepare) {
  const auto is_used = [&](size_t id) {
    return prepare ? plan_.buffers[id].in_prepare : plan_.buffers[id].in_main;
  };
  for (size_t id = 0; id < p_.buffers.size(); ++id) {
    const BufferPlan& plan = plan_.buffers[id];
    if (!is_used(id) || plan.place == Memory::kParameter || plan.shares != kNone) continue;
    const int64_t elements = ElementsHeld(plan_, static_cast<Id>(id));
    const auto type = mlir::MemRefType::get({elements}, MemoryType(b_, p_.buffers[id].dtype));
    const mlir::IntegerAttr alignment = b_.getI64IntegerAttr(kHeapAlignment);
    if (plan.place == Memory::kGlobal) {
      buffers_[id] = Global(static_cast<Id>(id));
    } else if (plan.place == Memory::kAlloca) {
      buffers_[id] = mlir::memref::AllocaOp::create(b_, loc_, type, alignment);
    } else {
      buffers_[id] = mlir::memref::AllocOp::create(b_, loc_, type, alignment);
      allocated_.push_back(static_cast<Id>(id));
    }
    if (plan.per_iteration) buffers_[id].getDefiningOp()->setAttr(kPerIterationAttribute, b_.getUnitAttr());
  }
  for (size_t id = 0; id < p_.buffers.size(); ++id) {
    if (is_used(id)) buffers_[id] = buffers_[plan_.MemoryOf(static_cast<Id>(id))];
  }
}

mlir::Value Emitter::Global(Id id) {
  const Buffer& buffer = p_.buffers[id];
  KILN_CHECK(p_.constants != nullptr, "a constant without bytes");
  const std::string& bytes = (*p_.constants)[buffer.data];
  const mlir::Type element = MemoryType(b_, buffer.dtype);
  const int64_t count = static_cast<int64_t>(bytes.size()) / SizeOf(buffer.dtype);
  const auto type = mlir::MemRefType::get({count}, element);
  const std::string name = absl::StrCat("constant.", buffer.data);
  if (!module_.lookupSymbol(name)) {
    const auto value = mlir::DenseElementsAttr::getFromRawBuffer(
        mlir::RankedTensorType::get({count}, element), llvm::ArrayRef<char>(bytes.data(), bytes.size()));
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(module_.getBody());
    mlir::memref::GlobalOp::create(b_, loc_, name, b_.getStringAttr("private"), type, value, true,
                                   b_.getI64IntegerAttr(kHeapAlignment));
  }
  return mlir::memref::GetGlobalOp::create(b_, loc_, type, name);
}

}  // namespace kiln
