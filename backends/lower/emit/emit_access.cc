#include "backends/lower/emit/emit_access.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "backends/lower/emit/emit_conditions.h"
#include "backends/lower/emit/emit_types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

mlir::Value FromMemory(CodeBuilder& code, mlir::Value value, DType type) {
  if (type != DType::kI1) return value;
  return mlir::arith::TruncIOp::create(code.b(), WithElement(value, code.b().getI1Type()), value);
}

mlir::Value ToMemory(CodeBuilder& code, mlir::Value value, DType type) {
  if (type != DType::kI1) return value;
  return mlir::arith::ExtUIOp::create(code.b(), WithElement(value, code.b().getI8Type()), value);
}

}  // namespace

MemoryEmitter::MemoryEmitter(IndexEmitter& indices, BufferEmitter& buffers)
    : code_(indices.code()),
      b_(code_.b()),
      indices_(indices),
      buffers_(buffers),
      loads_(code_.program(), code_.plan()),
      delayed_(indices, buffers, loads_) {}

mlir::Type MemoryEmitter::ElementOf(Id buffer) {
  return MemoryType(b_, code_.program().buffers[buffer].dtype);
}

mlir::Value MemoryEmitter::Load(Id buffer, const IndexSum& address, Value mask, Value otherwise) {
  const IndexValue at = indices_.AddressOf(buffer, address);
  SharedLoads::Key key = SharedLoads::KeyOf(buffer, at);
  if (!at.uniform() && mask) {
    key.key.push_back(reinterpret_cast<intptr_t>(mask.getAsOpaquePointer()));
    if (otherwise) key.key.push_back(reinterpret_cast<intptr_t>(otherwise.getAsOpaquePointer()));
  }
  if (const Value known = loads_.Find(key)) return known;

  Value result;
  if (at.uniform()) {
    result = mlir::memref::LoadOp::create(b_, buffers_[buffer], mlir::ValueRange{indices_.Scalar(at)});
  } else if (mask || !at.vectors.empty()) {
    result = LoadMasked(buffer, at, mask, otherwise);
  } else if (at.stride() == 1) {
    const auto vector = mlir::VectorType::get({code_.lanes()}, ElementOf(buffer));
    auto load = mlir::vector::LoadOp::create(b_, vector, buffers_[buffer],
                                             mlir::ValueRange{indices_.Scalar(at.Uniform())});
    if (const llvm::MaybeAlign align = AlignmentOf(buffer, at)) load.setAlignment(align->value());
    result = load;
  } else if (!(result = LoadStrided(buffer, at))) {
    result = LoadLanes(buffer, at);
  }
  result = FromMemory(code_, result, code_.program().buffers[buffer].dtype);
  loads_.Keep(std::move(key), result);
  return result;
}

mlir::Value MemoryEmitter::LoadMasked(Id buffer, const IndexValue& at, Value mask, Value otherwise) {
  const DType type = code_.program().buffers[buffer].dtype;
  const mlir::Type element = ElementOf(buffer);
  const auto vector = mlir::VectorType::get({code_.lanes()}, element);
  Value rest = otherwise ? ToMemory(code_, code_.AsVector(otherwise), type) : Value();
  if (!rest)
    rest = code_.Splat(
        IsFloat(type) ? mlir::Attribute(b_.getFloatAttr(element, 0)) : b_.getIntegerAttr(element, 1), vector);
  if (mask && at.stride() == 1) {
    return mlir::vector::MaskedLoadOp::create(b_, vector, buffers_[buffer],
                                              mlir::ValueRange{indices_.Scalar(at.Uniform())}, mask, rest);
  }
  const Value all = mask ? mask : code_.SameInLanes(1, b_.getI1Type());
  return mlir::vector::GatherOp::create(
      b_, vector, buffers_[buffer], mlir::ValueRange{code_.ConstantIndex(0)}, indices_.Vector(at), all, rest);
}

// Emits the load of a vector lane by lane: a scalar load for each distinct element, and a vector of the results.
mlir::Value MemoryEmitter::LoadLanes(Id buffer, const IndexValue& at) {
  std::map<int64_t, Value> distinct;
  llvm::SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < code_.lanes(); ++lane) {
    Value& value = distinct[at.lanes[lane]];
    if (!value)
      value = mlir::memref::LoadOp::create(b_, buffers_[buffer],
                                           mlir::ValueRange{indices_.Scalar(at.Lane(lane))});
    lanes.push_back(value);
  }
  return mlir::vector::FromElementsOp::create(b_, mlir::VectorType::get({code_.lanes()}, ElementOf(buffer)),
                                              lanes);
}

void MemoryEmitter::Store(Id buffer, const IndexSum& address, Value value, Value mask,
                          const plan::Store& how) {
  const IndexValue at = indices_.AddressOf(buffer, address);
  const DType type = code_.program().buffers[buffer].dtype;
  loads_.Forget(buffer);
  if (at.uniform() && !mask) {
    if (IsVector(value))
      value = mlir::vector::ExtractOp::create(b_, value, llvm::ArrayRef<int64_t>{code_.lanes() - 1});
    mlir::memref::StoreOp::create(b_, ToMemory(code_, value, type), buffers_[buffer],
                                  mlir::ValueRange{indices_.Scalar(at)});
    return;
  }
  const Value vector = code_.AsVector(value);
  const Value stored = ToMemory(code_, vector, type);
  if (how.mode == plan::Store::Mode::kTransposed) {
    delayed_.Add({how.flush, buffer, at, stored});
  } else if (at.stride() == 1) {
    StoreVector(buffer, at, stored, mask, how.mode == plan::Store::Mode::kStream);
    if (!mask) loads_.Keep(SharedLoads::KeyOf(buffer, at), vector);
  } else if (mask || !at.vectors.empty()) {
    const Value all = mask ? mask : code_.SameInLanes(1, b_.getI1Type());
    mlir::vector::ScatterOp::create(b_, mlir::Type(), buffers_[buffer],
                                    mlir::ValueRange{code_.ConstantIndex(0)}, indices_.Vector(at), all,
                                    stored);
  } else {
    StoreLanes(indices_, buffers_[buffer], at, stored);
  }
}

void MemoryEmitter::StoreVector(Id buffer, const IndexValue& at, Value stored, Value mask, bool streams) {
  const Value memory = buffers_[buffer], index = indices_.Scalar(at.Uniform());
  if (mask) {
    mlir::vector::MaskedStoreOp::create(b_, memory, mlir::ValueRange{index}, mask, stored);
  } else if (streams) {
    StoreStreaming(buffer, at, stored);
  } else {
    auto store = mlir::vector::StoreOp::create(b_, stored, memory, mlir::ValueRange{index});
    if (const llvm::MaybeAlign align = AlignmentOf(buffer, at)) store.setAlignment(align->value());
  }
}

// Returns a power of two, at most most_alignment_, that is proven to divide the value of an index. A swizzled address
// keeps its bits below those that the swizzle changes.
int64_t MemoryEmitter::DivisorOf(const IndexValue& value) const {
  int64_t divisor = std::gcd(most_alignment_, value.constant);
  for (const auto& [atom, coefficient] : value.terms) {
    const AtomDefinition& definition = code_.indices().atom(atom).definition;
    const bool swizzled = definition.kind == AtomDefinition::Kind::kSwizzle;
    const int64_t of_atom =
        swizzled ? std::gcd(DivisorOf(definition.of), int64_t{1} << definition.swizzle.to) : 1;
    divisor = std::gcd(divisor, coefficient * of_atom);
  }
  return divisor;
}

llvm::MaybeAlign MemoryEmitter::AlignmentOf(Id buffer, const IndexValue& at) {
  if (most_alignment_ == 0) return std::nullopt;
  const int64_t bytes = DivisorOf(at.Uniform()) * SizeOf(code_.program().buffers[buffer].dtype);
  return llvm::Align(std::min<int64_t>(most_alignment_, bytes & -bytes));
}

// Emits the store of a vector past the caches. If LowerOptions::alignment is not a multiple of a vector's bytes, emits
// a test whether the buffer's pointer is aligned to a vector, and a usual store for pointers that are not.
void MemoryEmitter::StoreStreaming(Id buffer, const IndexValue& at, Value stored) {
  const int64_t whole = code_.options().vector_bytes;
  const Value memory = buffers_[buffer], index = indices_.Scalar(at.Uniform());
  const auto store = [&](bool streams) {
    auto made = mlir::vector::StoreOp::create(b_, stored, memory, mlir::ValueRange{index});
    made.setNontemporal(streams);
    if (streams) made.setAlignment(whole);
  };
  Value aligned;
  if (code_.options().alignment % whole != 0) {
    const Value address = mlir::memref::ExtractAlignedPointerAsIndexOp::create(b_, memory);
    const Value rest = mlir::arith::AndIOp::create(b_, address, code_.ConstantIndex(whole - 1));
    aligned = mlir::arith::CmpIOp::create(b_, mlir::arith::CmpIPredicate::eq, rest, code_.ConstantIndex(0));
  }
  EmitIf(code_, loads_, aligned, [&] { store(true); }, [&] { store(false); });
}

}  // namespace kiln
