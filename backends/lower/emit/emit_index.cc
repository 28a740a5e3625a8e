// Evaluates indices during emission: sums, their digits (quotients and remainders), and their SSA values.
#include <algorithm>

#include "backends/lower/emit/emit.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

enum Kind : int64_t { kConstantKey, kTermKey, kOffsetKey, kDigitKey, kLanesKey };

int64_t KeyOf(mlir::Value value) { return reinterpret_cast<intptr_t>(value.getAsOpaquePointer()); }

Interval Scaled(Interval range, int64_t scale) {
  return scale >= 0 ? Interval{range.min * scale, range.max * scale}
                    : Interval{range.max * scale, range.min * scale};
}

IndexValue ConstantDigit(const IndexValue& value, int64_t lower, int64_t extent) {
  IndexValue result = IndexValue::Constant(DigitOf(value.constant, lower, extent));
  IndexValue lanes;
  for (const int64_t lane : value.lanes) {
    lanes.lanes.push_back(DigitOf(value.constant + lane, lower, extent) - result.constant);
  }
  result.Add(lanes, 1);
  return result;
}

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

int Emitter::AddAtom(Value value, int level, Interval range) {
  atoms_.push_back({value, level, range});
  return static_cast<int>(atoms_.size()) - 1;
}

Interval Emitter::RangeOf(const IndexValue& value) const {
  Interval range{value.constant, value.constant};
  const auto add = [&](Interval more) { range = {range.min + more.min, range.max + more.max}; };
  for (const auto& [atom, coefficient] : value.terms) add(Scaled(atoms_[atom].range, coefficient));
  if (!value.lanes.empty()) {
    const auto [least, most] = std::minmax_element(value.lanes.begin(), value.lanes.end());
    add({*least, *most});
  }
  for (const IndexValue::PerLane& vector : value.vectors) add(Scaled(vector.range, vector.scale));
  return range;
}

IndexValue Emitter::LaneValue(const IndexValue& value, size_t lane) const {
  IndexValue result = value.Uniform();
  if (!value.lanes.empty()) result.constant += value.lanes[lane];
  return result;
}

IndexValue Emitter::Eval(const IndexSum& sum) {
  IndexValue result = IndexValue::Constant(sum.offset);
  for (const IndexSplit& split : sum.splits) {
    if (split.source.kind == Source::Kind::kLoop) {
      const auto loop = loops_.find(split.source.id);
      KILN_CHECK(loop != loops_.end(), "loop ", split.source.id, " is used outside of its body");
      result.Add(Digit(loop->second, split.lower, split.extent), split.scale);
    } else if (const auto computed = gathered_.find(split.source.id); computed != gathered_.end()) {
      result.Add(Digit(computed->second, split.lower, split.extent), split.scale);
    } else {
      const auto mark = plan_.marks.find(split.source.id);
      KILN_CHECK(split.source.kind == Source::Kind::kMark && mark != plan_.marks.end(),
                 "an unplanned source");
      result.Add(Digit(Eval(mark->second), split.lower, split.extent), split.scale);
    }
  }
  return result;
}

IndexValue Emitter::Digit(const IndexValue& value, int64_t lower, int64_t extent) {
  const Interval range = RangeOf(value);
  if (extent > 0 && range.min >= 0 && range.max < lower * extent) extent = 0;
  if (lower == 1 && extent == 0) return value;
  if (value.terms.empty() && value.vectors.empty()) return ConstantDigit(value, lower, extent);
  if (auto digit = DigitOfLess(value, lower, extent)) return *std::move(digit);
  const Interval digits{extent == 0 ? FloorDiv(range.min, lower) : 0,
                        extent == 0 ? FloorDiv(range.max, lower) : extent - 1};
  if (value.uniform()) return HoistedDigit(value, lower, extent, digits);
  Value vector = Vector(value);
  const auto splat = [&](int64_t n) {
    return ConstantLanes(std::vector<int64_t>(lanes_, n), b_.getIndexType());
  };
  if (lower != 1) vector = mlir::arith::DivUIOp::create(b_, loc_, vector, splat(lower));
  if (extent != 0) vector = mlir::arith::RemUIOp::create(b_, loc_, vector, splat(extent));
  IndexValue result;
  result.vectors.push_back({vector, 1, digits});
  return result;
}

// Computes a digit from a part of the terms if the other terms do not change it; otherwise nullopt.
std::optional<IndexValue> Emitter::DigitOfLess(const IndexValue& value, int64_t lower, int64_t extent) {
  // Terms that are multiples of `lower` can be divided separately if the others stay in 0 .. lower - 1.
  IndexValue multiple, rest;
  multiple.constant = FloorDiv(value.constant, lower);
  rest.constant = value.constant - multiple.constant * lower;
  for (const auto& [atom, coefficient] : value.terms) {
    if (coefficient % lower == 0) {
      multiple.terms.push_back({atom, coefficient / lower});
    } else {
      rest.terms.push_back({atom, coefficient});
    }
  }
  rest.lanes = value.lanes;
  rest.vectors = value.vectors;
  const Interval rest_range = RangeOf(rest);
  const bool apart = rest_range.min >= 0 && rest_range.max < lower;
  if (apart && extent == 0) return multiple;
  if (apart && lower > 1) return Digit(multiple, 1, extent);
  // Terms that are multiples of lower * extent do not change the remainder.
  if (extent == 0) return std::nullopt;
  IndexValue less = value;
  less.constant = DigitOf(value.constant, 1, lower * extent);
  llvm::erase_if(less.terms, [&](const auto& term) { return term.second % (lower * extent) == 0; });
  if (less.terms.size() == value.terms.size() || RangeOf(less).min < 0) return std::nullopt;
  return Digit(less, lower, extent);
}

// The digit of a value that is equal in all lanes. The division is hoisted to the body of the innermost loop
// that the value depends on.
IndexValue Emitter::HoistedDigit(const IndexValue& value, int64_t lower, int64_t extent, Interval range) {
  int level = 0;
  for (const auto& [atom, coefficient] : value.terms) level = std::max(level, atoms_[atom].level);
  std::vector<int64_t> key{kDigitKey, lower, extent};
  value.AppendKey(key);
  const Value base = Scalar(value);
  const Value lower_value = ConstantIndex(lower), extent_value = ConstantIndex(extent);
  const Value digit = Hoist(level, std::move(key), [&] {
    Value v = base;
    if (lower != 1) v = mlir::arith::DivUIOp::create(b_, loc_, v, lower_value);
    if (extent != 0) v = mlir::arith::RemUIOp::create(b_, loc_, v, extent_value);
    return v;
  });
  for (size_t i = 0; i < atoms_.size(); ++i) {
    if (atoms_[i].value == digit) return IndexValue::OfAtom(static_cast<int>(i));
  }
  return IndexValue::OfAtom(AddAtom(digit, level, range));
}

// Emits a sum with outer terms first, each partial sum in the body of the innermost loop it depends on. The
// constant comes last, so that an addressing mode can absorb it.
mlir::Value Emitter::Scalar(const IndexValue& value) {
  KILN_CHECK(value.uniform(), "an index that differs between lanes");
  auto terms = value.terms;
  std::sort(terms.begin(), terms.end(), [&](const auto& x, const auto& y) {
    return std::pair(atoms_[x.first].level, x.first) < std::pair(atoms_[y.first].level, y.first);
  });
  Value sum;
  int level = 0;
  for (const auto& [atom, coefficient] : terms) {
    level = std::max(level, atoms_[atom].level);
    const Value x = atoms_[atom].value;
    const Value factor = coefficient == 1 ? Value() : ConstantIndex(coefficient);
    Value product = x;
    if (factor) {
      product = Hoist(atoms_[atom].level, {kTermKey, 0, KeyOf(x), coefficient},
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
  const auto type = mlir::VectorType::get({lanes_}, b_.getIndexType());
  Value sum;
  const auto add = [&](Value more) {
    sum = sum ? mlir::arith::AddIOp::create(b_, loc_, sum, more).getResult() : more;
  };
  if (!value.terms.empty() || value.constant != 0) {
    add(mlir::vector::BroadcastOp::create(b_, loc_, type, Scalar(value.Uniform())));
  }
  if (!value.lanes.empty()) add(ConstantLanes(value.lanes, b_.getIndexType()));
  for (const IndexValue::PerLane& vector : value.vectors) {
    const Value factor = ConstantLanes(std::vector<int64_t>(lanes_, vector.scale), b_.getIndexType());
    add(vector.scale == 1 ? vector.vector
                          : mlir::arith::MulIOp::create(b_, loc_, vector.vector, factor).getResult());
  }
  return sum ? sum : ConstantLanes(std::vector<int64_t>(lanes_, 0), b_.getIndexType());
}

}  // namespace kiln
