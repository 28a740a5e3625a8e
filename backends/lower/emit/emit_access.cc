// Emits loads and stores: scalars, contiguous vectors and scattered lanes, with and without masks.
#include <algorithm>

#include "backends/lower/emit/emit.h"
#include "backends/lower/emit/emit_prefetch.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

mlir::Type Like(mlir::Type shape, mlir::Type element) {
  const auto vector = mlir::dyn_cast<mlir::VectorType>(shape);
  return vector ? mlir::VectorType::get(vector.getShape(), element) : element;
}

}  // namespace

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

mlir::Value Emitter::FromMemory(Value value, DType type) {
  if (type != DType::kI1) return value;
  return mlir::arith::TruncIOp::create(b_, loc_, Like(value.getType(), b_.getI1Type()), value);
}

mlir::Value Emitter::ToMemory(Value value, DType type) {
  if (type != DType::kI1) return value;
  return mlir::arith::ExtUIOp::create(b_, loc_, Like(value.getType(), b_.getI8Type()), value);
}

// `otherwise` is the value of lanes outside of the mask. If it is null, these lanes get some value on which
// no operation traps.
mlir::Value Emitter::Load(Id buffer, const IndexSum& address, Value mask, Value otherwise) {
  const IndexValue at = Swizzle(buffer, Eval(address));
  const DType type = p_.buffers[buffer].dtype;
  EmitPendingBefore(buffer, at);
  const Value memory = buffers_[buffer];
  KILN_CHECK(memory, "buffer ", p_.Text(p_.buffers[buffer].name), " is not there");
  LoadKey key{buffer, {}};
  at.AppendKey(key.key);
  if (!at.uniform() && mask) {
    key.key.push_back(reinterpret_cast<intptr_t>(mask.getAsOpaquePointer()));
    if (otherwise) key.key.push_back(reinterpret_cast<intptr_t>(otherwise.getAsOpaquePointer()));
  }
  const auto known = loads_.find(key);
  if (known != loads_.end()) return known->second;

  const mlir::Type element = MemoryType(b_, type);
  Value result;
  if (at.uniform()) {
    result = mlir::memref::LoadOp::create(b_, loc_, memory, mlir::ValueRange{Scalar(at)});
  } else {
    const auto vector = mlir::VectorType::get({lanes_}, element);
    const std::optional<int64_t> stride = at.stride();
    if (mask || !at.vectors.empty()) {
      Value rest = otherwise ? ToMemory(AsVector(otherwise), type) : Value();
      if (!rest)
        rest = Splat(
            IsFloat(type) ? mlir::Attribute(b_.getFloatAttr(element, 0)) : b_.getIntegerAttr(element, 1),
            vector);
      if (mask && stride == 1) {
        result = mlir::vector::MaskedLoadOp::create(b_, loc_, vector, memory,
                                                    mlir::ValueRange{Scalar(at.Uniform())}, mask, rest);
      } else {
        const Value all = mask ? mask : ConstantLanes(std::vector<int64_t>(lanes_, 1), b_.getI1Type());
        result = mlir::vector::GatherOp::create(b_, loc_, vector, memory, mlir::ValueRange{ConstantIndex(0)},
                                                Vector(at), all, rest);
      }
    } else if (stride == 1) {
      Prefetcher(*this).Stream(buffer, at);
      result = mlir::vector::LoadOp::create(b_, loc_, vector, memory, mlir::ValueRange{Scalar(at.Uniform())});
    } else if (!(result = LoadStrided(buffer, at))) {
      std::map<int64_t, Value> distinct;
      Values lanes;
      for (int64_t lane = 0; lane < lanes_; ++lane) {
        Value& value = distinct[at.lanes[lane]];
        if (!value)
          value =
              mlir::memref::LoadOp::create(b_, loc_, memory, mlir::ValueRange{Scalar(LaneValue(at, lane))});
        lanes.push_back(value);
      }
      result = mlir::vector::FromElementsOp::create(b_, loc_, vector, lanes);
    }
  }
  result = FromMemory(result, type);
  loads_.emplace(std::move(key), result);
  return result;
}

// Clamps computed indices to their dimensions. A new level after them holds the parts of the address that
// depend on them.
mlir::Value Emitter::Gather(Id id, Value mask) {
  const Expr& e = p_.exprs[id];
  const std::vector<Id> index = p_.GatherIndex(e);
  const std::vector<Id>& marks = block_->gathers.at(id);
  Level level{b_.getInsertionBlock(), nullptr, {}};
  for (size_t d = 0; d < index.size(); ++d) {
    if (marks[d] == kNone) continue;
    const int64_t most = p_.marks[marks[d]].extent.Known() - 1;
    Value value = EmitExpr(index[d], mask);
    const auto constant = [&](int64_t number) {
      const Value scalar = Constant(DType::kIndex, number);
      return mlir::isa<mlir::VectorType>(value.getType()) ? AsVector(scalar) : scalar;
    };
    value = mlir::arith::MaxSIOp::create(b_, loc_, value, constant(0));
    value = mlir::arith::MinSIOp::create(b_, loc_, value, constant(most));
    value = mlir::arith::IndexCastOp::create(b_, loc_, Like(value.getType(), b_.getIndexType()), value);
    level.last = value.getDefiningOp();
    IndexValue computed;
    if (mlir::isa<mlir::VectorType>(value.getType())) {
      computed.vectors.assign({{value, 1, {0, most}}});
    } else {
      computed = IndexValue::OfAtom(AddAtom(value, static_cast<int>(levels_.size()), {0, most}));
    }
    gathered_[marks[d]] = std::move(computed);
  }
  const bool any = level.last != nullptr;
  if (any) levels_.push_back(std::move(level));
  const Value result = Load(e.AsGather().buffer, block_->addresses.at(id), mask, Value());
  if (any) levels_.pop_back();
  return result;
}

void Emitter::Forget(Id buffer) {
  const Id memory = plan_.MemoryOf(buffer);
  for (auto load = loads_.begin(); load != loads_.end();)
    load = plan_.MemoryOf(load->first.buffer) == memory ? loads_.erase(load) : std::next(load);
}

void Emitter::Store(Id buffer, const IndexSum& address, Value value, Value mask) {
  const IndexValue at = Swizzle(buffer, Eval(address));
  const DType type = p_.buffers[buffer].dtype;
  const Value memory = buffers_[buffer];
  EmitPendingBefore(buffer, at);
  Forget(buffer);
  if (at.uniform() && !mask) {
    if (mlir::isa<mlir::VectorType>(value.getType())) {
      value = mlir::vector::ExtractOp::create(b_, loc_, value, llvm::ArrayRef<int64_t>{lanes_ - 1});
    }
    mlir::memref::StoreOp::create(b_, loc_, ToMemory(value, type), memory, mlir::ValueRange{Scalar(at)});
    return;
  }
  const Value vector = AsVector(value);
  const Value stored = ToMemory(vector, type);
  if (at.stride() == 1) {
    const Value index = Scalar(at.Uniform());
    if (mask) {
      mlir::vector::MaskedStoreOp::create(b_, loc_, memory, mlir::ValueRange{index}, mask, stored);
    } else {
      StoreVector(buffer, at, stored);
      LoadKey key{buffer, {}};
      at.AppendKey(key.key);
      loads_.emplace(std::move(key), vector);
    }
  } else if (mask || !at.vectors.empty()) {
    const Value all = mask ? mask : ConstantLanes(std::vector<int64_t>(lanes_, 1), b_.getI1Type());
    mlir::vector::ScatterOp::create(b_, loc_, mlir::Type(), memory, mlir::ValueRange{ConstantIndex(0)},
                                    Vector(at), all, stored);
  } else {
    StoreApart(buffer, at, stored);
  }
}

// Stores a vector. If the block has the annotation stream, whole aligned vectors of a result bypass the
// caches; the code tests the alignment of pointers for which callers promised none.
void Emitter::StoreVector(Id buffer, const IndexValue& at, Value stored) {
  const int64_t whole = options_.vector_bytes, size = SizeOf(p_.buffers[buffer].dtype);
  const Value memory = buffers_[buffer], index = Scalar(at.Uniform());
  const auto store = [&](bool streams) {
    auto made = mlir::vector::StoreOp::create(b_, loc_, stored, memory, mlir::ValueRange{index});
    made.setNontemporal(streams);
    if (streams) made.setAlignment(whole);
  };
  if (!streams_ || plan_.buffers[buffer].place != Memory::kParameter || lanes_ * size % whole != 0 ||
      !IsAligned(at, whole / size))
    return store(false);
  has_streamed_ = true;
  if (options_.alignment % whole == 0) return store(true);
  const Value address = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b_, loc_, memory);
  const Value rest = mlir::arith::AndIOp::create(b_, loc_, address, ConstantIndex(whole - 1));
  const Value aligned =
      mlir::arith::CmpIOp::create(b_, loc_, mlir::arith::CmpIPredicate::eq, rest, ConstantIndex(0));
  auto either = mlir::scf::IfOp::create(b_, loc_, aligned, /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(either.thenBlock());
  store(true);
  b_.setInsertionPointToStart(either.elseBlock());
  store(false);
}

// True if the index is a multiple of `elements`; buffers are aligned to cache lines.
bool Emitter::IsAligned(const IndexValue& at, int64_t elements) const {
  const auto divides = [&](const auto& term) { return term.second % elements == 0; };
  return at.constant % elements == 0 && std::all_of(at.terms.begin(), at.terms.end(), divides);
}

void Emitter::Fence() {
  if (has_streamed_) mlir::LLVM::FenceOp::create(b_, loc_, mlir::LLVM::AtomicOrdering::seq_cst);
  has_streamed_ = false;
}

// Saves what is known before a region. Inside a loop, only loads from inputs and constants remain known,
// because another iteration may store to other buffers.
Emitter::Saved Emitter::EnterRegion(bool loop) {
  Saved saved{loads_, exprs_};
  if (!loop) return saved;
  for (auto load = loads_.begin(); load != loads_.end();) {
    const Role role = p_.buffers[load->first.buffer].role;
    const bool kept = role == Role::kInput || role == Role::kConstant || role == Role::kScalar;
    load = kept ? std::next(load) : loads_.erase(load);
  }
  return saved;
}

void Emitter::LeaveRegion(Saved saved) {
  // Forgets values that stores inside the region may have changed.
  for (auto load = saved.loads.begin(); load != saved.loads.end();) {
    const auto inside = loads_.find(load->first);
    const bool kept = inside != loads_.end() && inside->second == load->second;
    load = kept ? std::next(load) : saved.loads.erase(load);
  }
  loads_ = std::move(saved.loads);
  exprs_ = std::move(saved.exprs);
}

}  // namespace kiln
