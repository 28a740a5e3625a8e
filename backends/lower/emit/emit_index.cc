#include "backends/lower/emit/emit_index.h"

#include <algorithm>
#include <cstdint>

#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

int64_t KeyOf(mlir::Value value) { return reinterpret_cast<intptr_t>(value.getAsOpaquePointer()); }

}  // namespace

IndexValue IndexEmitter::Eval(const IndexSum& sum) {
  const int before = code_.indices().num_atoms();
  IndexValue value = code_.indices().Eval(sum);
  EmitAtoms(before);
  return value;
}

void IndexEmitter::EmitAtoms(int before) {
  for (int atom = before; atom < code_.indices().num_atoms(); ++atom) ValueOf(atom);
}

void IndexEmitter::SetAtom(int atom, Value value) {
  if (atom >= std::ssize(atoms_)) atoms_.resize(atom + 1);
  atoms_[atom] = value;
}

void IndexEmitter::SetLaneAtom(int lane_atom, Value value) {
  lane_atoms_.resize(lane_atom + 1);
  lane_atoms_[lane_atom] = value;
}

// Emits the definition of an atom, a run-time part of indices: a quotient and remainder of `of`, or the address to
// which a swizzle moves the address `of`. `constant` emits a constant of the type of `of`.
mlir::Value IndexEmitter::Apply(const AtomDefinition& definition, Value of,
                                llvm::function_ref<Value(int64_t)> constant) {
  namespace arith = mlir::arith;
  if (definition.kind == AtomDefinition::Kind::kDigit) {
    if (definition.lower != 1) of = arith::DivUIOp::create(b_, of, constant(definition.lower));
    if (definition.extent != 0) of = arith::RemUIOp::create(b_, of, constant(definition.extent));
    return of;
  }
  // Emits the swizzled address: of ^ ((of >> from) % 2^bits << to).
  const kiln::Swizzle s = definition.swizzle;
  const Value high = arith::ShRUIOp::create(b_, of, constant(s.from));
  const Value bits = arith::AndIOp::create(b_, high, constant((int64_t{1} << s.bits) - 1));
  return arith::XOrIOp::create(b_, of, arith::ShLIOp::create(b_, bits, constant(s.to)));
}

mlir::Value IndexEmitter::DigitIn32Bits(const AtomDefinition& definition, Value of) {
  const mlir::Type i32 = b_.getI32Type();
  const Value digit =
      Apply(definition, mlir::arith::IndexCastUIOp::create(b_, i32, of), [&](int64_t n) -> Value {
        return mlir::arith::ConstantOp::create(b_, b_.getI32IntegerAttr(static_cast<int32_t>(n)));
      });
  return mlir::arith::IndexCastUIOp::create(b_, b_.getIndexType(), digit);
}

// Returns the value of an atom, a run-time part of indices. If it has none yet, emits its definition in the body of the
// innermost loop that it depends on.
mlir::Value IndexEmitter::ValueOf(int atom) {
  if (atom < std::ssize(atoms_) && atoms_[atom]) return atoms_[atom];
  const Atom of = code_.indices().atom(atom);
  KILN_CHECK(of.definition.kind != AtomDefinition::Kind::kGiven, "an index without a value");
  const Value base = Scalar(of.definition.of);
  const Interval range = code_.indices().RangeOf(of.definition.of);
  const bool narrow = in_32_bits_ && of.definition.kind == AtomDefinition::Kind::kDigit && range.min >= 0 &&
                      range.max <= INT32_MAX;
  const Value value = code_.Hoist(of.level, {kAtomKey, atom}, [&] {
    if (narrow) return DigitIn32Bits(of.definition, base);
    return Apply(of.definition, base, [&](int64_t n) { return code_.ConstantIndex(n); });
  });
  SetAtom(atom, value);
  return value;
}

mlir::Value IndexEmitter::ValueOfLanes(int lane_atom) {
  const AtomDefinition definition = code_.indices().lane_atom(lane_atom).definition;
  if (definition.kind == AtomDefinition::Kind::kGiven) return lane_atoms_[lane_atom];
  return Apply(definition, Vector(definition.of),
               [&](int64_t n) { return code_.SameInLanes(n, b_.getIndexType()); });
}

IndexValue IndexEmitter::AddressOf(Id buffer, const IndexSum& address) {
  return code_.indices().Swizzled(code_.program().buffers[buffer].layout.swizzle,
                                  code_.plan().buffers[buffer].elements, Eval(address));
}

// Emits an index that is equal in all vector lanes, as a sum. Terms of outer loops come first, and each partial sum is
// in the body of the innermost loop it depends on. The constant comes last, so that an addressing mode can absorb it.
mlir::Value IndexEmitter::Scalar(const IndexValue& value) {
  KILN_CHECK(value.uniform(), "an index that differs between lanes");
  auto terms = value.terms;
  std::sort(terms.begin(), terms.end(), [&](const auto& x, const auto& y) {
    return std::pair(code_.indices().atom(x.first).level, x.first) <
           std::pair(code_.indices().atom(y.first).level, y.first);
  });
  Value sum;
  int level = 0;
  for (const auto& [atom, coefficient] : terms) {
    level = std::max(level, code_.indices().atom(atom).level);
    const Value x = ValueOf(atom);
    const Value factor = coefficient == 1 ? Value() : code_.ConstantIndex(coefficient);
    Value product = x;
    if (factor) {
      product = code_.Hoist(code_.indices().atom(atom).level, {kTermKey, 0, KeyOf(x), coefficient},
                            [&] { return mlir::arith::MulIOp::create(b_, x, factor); });
    }
    if (!sum) {
      sum = product;
    } else {
      const Value before = sum;
      sum = code_.Hoist(level, {kTermKey, KeyOf(before), KeyOf(product)},
                        [&] { return mlir::arith::AddIOp::create(b_, before, product); });
    }
  }
  if (!sum) return code_.ConstantIndex(value.constant);
  if (value.constant == 0) return sum;
  const Value offset = code_.ConstantIndex(value.constant), before = sum;
  return code_.Hoist(level, {kOffsetKey, KeyOf(before), value.constant},
                     [&] { return mlir::arith::AddIOp::create(b_, before, offset); });
}

mlir::Value IndexEmitter::Vector(const IndexValue& value) {
  const auto type = mlir::VectorType::get({code_.lanes()}, b_.getIndexType());
  Value sum;
  const auto add = [&](Value more) {
    sum = sum ? mlir::arith::AddIOp::create(b_, sum, more).getResult() : more;
  };
  if (!value.terms.empty() || value.constant != 0) {
    add(mlir::vector::BroadcastOp::create(b_, type, Scalar(value.Uniform())));
  }
  if (!value.lanes.empty()) add(code_.ConstantLanes(value.lanes, b_.getIndexType()));
  for (const IndexValue::PerLane& vector : value.vectors) {
    const Value factor = code_.SameInLanes(vector.scale, b_.getIndexType());
    const Value lanes = ValueOfLanes(vector.atom);
    add(vector.scale == 1 ? lanes : mlir::arith::MulIOp::create(b_, lanes, factor).getResult());
  }
  return sum ? sum : code_.SameInLanes(0, b_.getIndexType());
}

}  // namespace kiln
