// Expressions: the bodies of blocks and the combinations of monoids. They are nodes of one pool
// (Program::exprs), addressed by id. Equal nodes are shared.
#pragma once

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "lang/base/check.h"
#include "lang/program/dtype.h"
#include "lang/program/ids.h"
#include "lang/program/op.h"

namespace kiln {

// An expression node. Factory functions such as Load create nodes. Views such as AsLoad read the parts of one operation
// (lang/program/op.h) by name, and abort for any other operation. Code for any operation uses Operands(). Only this
// class knows how a node is stored.
class Expr {
 public:
  Op op = Op::kConstant;
  DType dtype = DType::kF32;

  Expr() = default;  // the f32 constant 0
  // Creates an operation whose operands are all expressions: kTuple, or one from kSelect on in the enum; aborts for
  // others. Code that only applies the operation to given values may leave the operands out.
  Expr(Op op, DType dtype, Id a = kNone, Id b = kNone, Id c = kNone) : Expr(op, dtype, {a, b, c}, 0) {
    Require(op == Op::kTuple || op >= Op::kSelect);
  }
  static Expr Constant(DType dtype, int64_t bits) { return {Op::kConstant, dtype, kNoIds, bits}; }
  static Expr Arg(DType dtype, int64_t number) { return {Op::kArg, dtype, kNoIds, number}; }
  static Expr Index(Id mark) { return {Op::kIndex, DType::kIndex, {mark, kNone, kNone}, 0}; }
  static Expr Load(DType dtype, Id buffer, Range index) {
    // Stores 0 as the beginning of an empty index range, so that equal loads of rank 0 are equal nodes.
    return {Op::kLoad, dtype, {buffer, index.count == 0 ? 0 : index.begin, index.count}, 0};
  }
  static Expr Gather(DType dtype, Id buffer, Id index) {
    return {Op::kGather, dtype, {index, kNone, kNone}, buffer};
  }
  static Expr Within(DType dtype, Range marks, Id value, Id otherwise) {
    return {Op::kWithin, dtype, {value, otherwise, kNone}, int64_t{marks.begin} << 32 | marks.count};
  }

  // Returns the operand expressions. For a kWithin, the guarded value comes first.
  absl::Span<const Id> Operands() const { return {ids_.data(), static_cast<size_t>(Arity(op))}; }
  absl::Span<Id> Operands() { return {ids_.data(), static_cast<size_t>(Arity(op))}; }
  Id operand(int i) const { return Operands()[i]; }

  // Returns the bits of a constant (of a double for floats, else of an int64), or the number of a monoid's argument
  // (kArg). Aborts for other operations.
  int64_t Number() const {
    Require(op == Op::kConstant || op == Op::kArg);
    return bits_;
  }
  bool IsConstant(int64_t bits) const { return op == Op::kConstant && bits_ == bits; }
  Id AsIndex() const {  // returns a mark
    Require(op == Op::kIndex);
    return ids_[0];
  }
  struct LoadView {
    Id buffer;
    Range index;  // marks
  };
  LoadView AsLoad() const {
    Require(op == Op::kLoad);
    return {ids_[0], {ids_[1], ids_[2]}};
  }
  struct GatherView {
    Id buffer;
    Id index;  // an expression; for rank 2 and above a kTuple (Program::GatherIndex)
  };
  GatherView AsGather() const {
    Require(op == Op::kGather);
    return {static_cast<Id>(bits_), ids_[0]};
  }
  struct WithinView {
    Range marks;
    Id value, otherwise;
  };
  WithinView AsWithin() const {
    Require(op == Op::kWithin);
    return {{static_cast<int32_t>(bits_ >> 32), static_cast<int32_t>(bits_)}, ids_[0], ids_[1]};
  }

  // Compares two nodes of one program. Operands are compared by their ids.
  friend bool operator==(const Expr&, const Expr&) = default;
  size_t Hash() const;  // equal in every run

 private:
  using Ids = std::array<Id, 3>;
  static constexpr Ids kNoIds = {kNone, kNone, kNone};
  Expr(Op op, DType dtype, Ids ids, int64_t bits) : op(op), dtype(dtype), ids_(ids), bits_(bits) {}
  void Require(bool holds) const { KILN_CHECK(holds, ToString(op), " has another view or maker"); }

  Ids ids_ = kNoIds;
  int64_t bits_ = 0;
};

// True if the operation is an integer division or remainder, which is undefined for divisor 0.
bool DividesIntegers(const Expr& e);

// Returns the buffer that the expression itself, not its operands, reads by a load or a gather; kNone if it reads none.
Id BufferRead(const Expr& e);

}  // namespace kiln
