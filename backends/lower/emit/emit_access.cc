// Emits loads and stores: scalars, contiguous vectors and scattered lanes, with and without masks.
#include <algorithm>

#include "backends/lower/emit/emit.h"
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

// Emits a load. `otherwise` is the value of lanes outside of the mask. If it is null, these lanes get some value on
// which no operation traps.
mlir::Value Emitter::Load(Id buffer, const IndexSum& address, Value mask, Value otherwise) {
  const IndexValue at = AddressOf(buffer, address);
  const DType type = p_.buffers[buffer].dtype;
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
    const auto vector = mlir::VectorType::get({context_.lanes()}, element);
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
        const Value all =
            mask ? mask : ConstantLanes(std::vector<int64_t>(context_.lanes(), 1), b_.getI1Type());
        result = mlir::vector::GatherOp::create(b_, loc_, vector, memory, mlir::ValueRange{ConstantIndex(0)},
                                                Vector(at), all, rest);
      }
    } else if (stride == 1) {
      result = mlir::vector::LoadOp::create(b_, loc_, vector, memory, mlir::ValueRange{Scalar(at.Uniform())});
    } else if (!(result = LoadStrided(buffer, at))) {
      std::map<int64_t, Value> distinct;
      Values lanes;
      for (int64_t lane = 0; lane < context_.lanes(); ++lane) {
        Value& value = distinct[at.lanes[lane]];
        if (!value)
          value = mlir::memref::LoadOp::create(b_, loc_, memory, mlir::ValueRange{Scalar(at.Lane(lane))});
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
      const int atom = context_.indices().AddLaneAtom({0, most});
      lane_atoms_.resize(atom + 1);
      lane_atoms_[atom] = value;
      computed = IndexValue::OfLaneAtom(atom);
    } else {
      const int atom = context_.indices().AddAtom(static_cast<int>(levels_.size()), {0, most});
      SetAtom(atom, value);
      computed = IndexValue::OfAtom(atom);
    }
    context_.indices().BindMark(marks[d], std::move(computed));
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

void Emitter::Store(Id buffer, const IndexSum& address, Value value, Value mask, const plan::Store& how) {
  const IndexValue at = AddressOf(buffer, address);
  const DType type = p_.buffers[buffer].dtype;
  const Value memory = buffers_[buffer];
  Forget(buffer);
  if (at.uniform() && !mask) {
    if (mlir::isa<mlir::VectorType>(value.getType())) {
      value = mlir::vector::ExtractOp::create(b_, loc_, value, llvm::ArrayRef<int64_t>{context_.lanes() - 1});
    }
    mlir::memref::StoreOp::create(b_, loc_, ToMemory(value, type), memory, mlir::ValueRange{Scalar(at)});
    return;
  }
  const Value vector = AsVector(value);
  const Value stored = ToMemory(vector, type);
  if (how.mode == plan::Store::Mode::kTransposed) {
    delayed_.push_back({how.flush, buffer, at, stored});
  } else if (at.stride() == 1) {
    const Value index = Scalar(at.Uniform());
    if (mask) {
      mlir::vector::MaskedStoreOp::create(b_, loc_, memory, mlir::ValueRange{index}, mask, stored);
    } else {
      if (how.mode == plan::Store::Mode::kStream) {
        StoreStreaming(buffer, at, stored);
      } else {
        mlir::vector::StoreOp::create(b_, loc_, stored, memory, mlir::ValueRange{index});
      }
      LoadKey key{buffer, {}};
      at.AppendKey(key.key);
      loads_.emplace(std::move(key), vector);
    }
  } else if (mask || !at.vectors.empty()) {
    const Value all = mask ? mask : ConstantLanes(std::vector<int64_t>(context_.lanes(), 1), b_.getI1Type());
    mlir::vector::ScatterOp::create(b_, loc_, mlir::Type(), memory, mlir::ValueRange{ConstantIndex(0)},
                                    Vector(at), all, stored);
  } else {
    StoreLanes(buffer, at, stored);
  }
}

// Stores a vector past the caches; the code tests the alignment of pointers for which callers promised none.
void Emitter::StoreStreaming(Id buffer, const IndexValue& at, Value stored) {
  const int64_t whole = options_.vector_bytes;
  const Value memory = buffers_[buffer], index = Scalar(at.Uniform());
  const auto store = [&](bool streams) {
    auto made = mlir::vector::StoreOp::create(b_, loc_, stored, memory, mlir::ValueRange{index});
    made.setNontemporal(streams);
    if (streams) made.setAlignment(whole);
  };
  Value aligned;
  if (options_.alignment % whole != 0) {
    const Value address = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b_, loc_, memory);
    const Value rest = mlir::arith::AndIOp::create(b_, loc_, address, ConstantIndex(whole - 1));
    aligned = mlir::arith::CmpIOp::create(b_, loc_, mlir::arith::CmpIPredicate::eq, rest, ConstantIndex(0));
  }
  EmitIf(aligned, [&] { store(true); }, [&] { store(false); });
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
