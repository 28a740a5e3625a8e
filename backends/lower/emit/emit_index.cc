// Emits the values of indices: atoms, sums of them, and lanes.
#include <algorithm>

#include "backends/lower/emit/emit.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

enum Kind : int64_t { kConstantKey, kTermKey, kOffsetKey, kAtomKey, kLanesKey };

int64_t KeyOf(mlir::Value value) { return reinterpret_cast<intptr_t>(value.getAsOpaquePointer()); }

}  // namespace

// Emits a value once, at the beginning of a level's body, after the values that were hoisted there before.
mlir::Value Emitter::Hoist(int level, std::vector<int64_t> key, llvm::function_ref<Value()> make) {
  Level& at = levels_[level];
  const auto known = at.made.find(key);
  if (known != at.made.end()) return known->second;
  mlir::OpBuilder::InsertionGuard guard(b_);
  if (at.last == nullptr) {
    b_.setInsertionPointToStart(at.block);
  } else {
    b_.setInsertionPointAfter(at.last);
  }
  const Value value = make();
  at.last = value.getDefiningOp();
  at.made.emplace(std::move(key), value);
  return value;
}

mlir::Value Emitter::ConstantIndex(int64_t value) {
  return Hoist(0, {kConstantKey, value},
               [&] { return mlir::arith::ConstantIndexOp::create(b_, loc_, value); });
}

mlir::Value Emitter::ConstantLanes(const std::vector<int64_t>& values, mlir::Type element) {
  std::vector<int64_t> key{kLanesKey, reinterpret_cast<intptr_t>(element.getAsOpaquePointer())};
  key.insert(key.end(), values.begin(), values.end());
  return Hoist(0, std::move(key), [&]() -> Value {
    const unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    llvm::SmallVector<llvm::APInt> bits;
    for (const int64_t value : values) bits.push_back(llvm::APInt(width, value, true, true));
    const auto type = mlir::VectorType::get({static_cast<int64_t>(values.size())}, element);
    return mlir::arith::ConstantOp::create(b_, loc_, mlir::DenseIntElementsAttr::get(type, bits));
  });
}

IndexValue Emitter::Eval(const IndexSum& sum) {
  const int before = context_.indices().num_atoms();
  IndexValue value = context_.indices().Eval(sum);
  EmitAtoms(before);
  return value;
}

void Emitter::EmitAtoms(int before) {
  for (int atom = before; atom < context_.indices().num_atoms(); ++atom) ValueOf(atom);
}

void Emitter::SetAtom(int atom, Value value) {
  if (atom >= std::ssize(atoms_)) atoms_.resize(atom + 1);
  atoms_[atom] = value;
}

// Emits an atom from the value `of` that it is computed from: a digit of `of`, or the swizzled address `of`.
mlir::Value Emitter::Apply(const AtomDefinition& definition, Value of,
                           llvm::function_ref<Value(int64_t)> constant) {
  namespace arith = mlir::arith;
  if (definition.kind == AtomDefinition::Kind::kDigit) {
    if (definition.lower != 1) of = arith::DivUIOp::create(b_, loc_, of, constant(definition.lower));
    if (definition.extent != 0) of = arith::RemUIOp::create(b_, loc_, of, constant(definition.extent));
    return of;
  }
  // of ^ ((of >> from) % 2^bits << to)
  const kiln::Swizzle s = definition.swizzle;
  const Value high = arith::ShRUIOp::create(b_, loc_, of, constant(s.from));
  const Value bits = arith::AndIOp::create(b_, loc_, high, constant((int64_t{1} << s.bits) - 1));
  return arith::XOrIOp::create(b_, loc_, of, arith::ShLIOp::create(b_, loc_, bits, constant(s.to)));
}

// Computes an atom with a definition in the body of the innermost loop that it depends on.
mlir::Value Emitter::ValueOf(int atom) {
  if (atom < std::ssize(atoms_) && atoms_[atom]) return atoms_[atom];
  const Atom of = context_.indices().atom(atom);
  KILN_CHECK(of.definition.kind != AtomDefinition::Kind::kGiven, "an index without a value");
  const Value base = Scalar(of.definition.of);
  const Value value = Hoist(of.level, {kAtomKey, atom}, [&] {
    return Apply(of.definition, base, [&](int64_t n) { return ConstantIndex(n); });
  });
  SetAtom(atom, value);
  return value;
}

mlir::Value Emitter::ValueOfLanes(int lane_atom) {
  const AtomDefinition definition = context_.indices().lane_atom(lane_atom).definition;
  if (definition.kind == AtomDefinition::Kind::kGiven) return lane_atoms_[lane_atom];
  return Apply(definition, Vector(definition.of), [&](int64_t n) {
    return ConstantLanes(std::vector<int64_t>(context_.lanes(), n), b_.getIndexType());
  });
}

IndexValue Emitter::AddressOf(Id buffer, const IndexSum& address) {
  return context_.indices().Swizzled(p_.buffers[buffer].layout.swizzle, plan_.buffers[buffer].elements,
                                     Eval(address));
}

// Emits a sum with outer terms first, each partial sum in the body of the innermost loop it depends on. The
// constant comes last, so that an addressing mode can absorb it.
mlir::Value Emitter::Scalar(const IndexValue& value) {
  KILN_CHECK(value.uniform(), "an index that differs between lanes");
  auto terms = value.terms;
  std::sort(terms.begin(), terms.end(), [&](const auto& x, const auto& y) {
    return std::pair(context_.indices().atom(x.first).level, x.first) <
           std::pair(context_.indices().atom(y.first).level, y.first);
  });
  Value sum;
  int level = 0;
  for (const auto& [atom, coefficient] : terms) {
    level = std::max(level, context_.indices().atom(atom).level);
    const Value x = ValueOf(atom);
    const Value factor = coefficient == 1 ? Value() : ConstantIndex(coefficient);
    Value product = x;
    if (factor) {
      product = Hoist(context_.indices().atom(atom).level, {kTermKey, 0, KeyOf(x), coefficient},
                      [&] { return mlir::arith::MulIOp::create(b_, loc_, x, factor); });
    }
    if (!sum) {
      sum = product;
    } else {
      const Value before = sum;
      sum = Hoist(level, {kTermKey, KeyOf(before), KeyOf(product)},
                  [&] { return mlir::arith::AddIOp::create(b_, loc_, before, product); });
    }
  }
  if (!sum) return ConstantIndex(value.constant);
  if (value.constant == 0) return sum;
  const Value offset = ConstantIndex(value.constant), before = sum;
  return Hoist(level, {kOffsetKey, KeyOf(before), value.constant},
               [&] { return mlir::arith::AddIOp::create(b_, loc_, before, offset); });
}

mlir::Value Emitter::Vector(const IndexValue& value) {
  const auto type = mlir::VectorType::get({context_.lanes()}, b_.getIndexType());
  Value sum;
  const auto add = [&](Value more) {
    sum = sum ? mlir::arith::AddIOp::create(b_, loc_, sum, more).getResult() : more;
  };
  if (!value.terms.empty() || value.constant != 0) {
    add(mlir::vector::BroadcastOp::create(b_, loc_, type, Scalar(value.Uniform())));
  }
  if (!value.lanes.empty()) add(ConstantLanes(value.lanes, b_.getIndexType()));
  for (const IndexValue::PerLane& vector : value.vectors) {
    const Value factor =
        ConstantLanes(std::vector<int64_t>(context_.lanes(), vector.scale), b_.getIndexType());
    const Value lanes = ValueOfLanes(vector.atom);
    add(vector.scale == 1 ? lanes : mlir::arith::MulIOp::create(b_, loc_, lanes, factor).getResult());
  }
  return sum ? sum : ConstantLanes(std::vector<int64_t>(context_.lanes(), 0), b_.getIndexType());
}

}  // namespace kiln
