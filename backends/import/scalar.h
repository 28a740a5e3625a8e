// Translates scalar operations of arith and math to expressions of a Program.
#pragma once

#include <functional>
#include <optional>

#include "backends/import/refusal.h"
#include "lang/program/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace kiln {

std::optional<DType> ToDType(mlir::Type type);
std::string Print(mlir::Type type);

// Translates scalar MLIR values to expressions on demand, each once. `leaf` translates values that arith and math did
// not compute (block arguments, indices, extracted elements). On failure, `refusal` is set.
class Scalars {
 public:
  using Leaf = std::function<mlir::FailureOr<Id>(mlir::Value)>;
  Scalars(Builder& builder, Refusal& refusal, Leaf leaf)
      : b_(builder), refusal_(refusal), leaf_(std::move(leaf)) {}

  mlir::FailureOr<Id> Translate(mlir::Value value);
  mlir::FailureOr<Id> Constant(mlir::TypedAttr attribute, mlir::Operation* user);
  Id Number(DType dtype, double value);
  // Forgets all translations. Call it when `leaf` gives other results than before.
  void Forget() { known_.clear(); }

 private:
  mlir::FailureOr<Id> Make(mlir::Operation* op);
  mlir::FailureOr<Id> Compare(mlir::Operation* op, Id a, Id b);
  mlir::FailureOr<Id> ConvertNumber(mlir::Operation* op, DType from, DType to, Id a);
  mlir::FailureOr<Id> Power(mlir::Operation* op, DType dtype, Id base, Id exponent);
  Id IntegerPower(DType dtype, Id base, Id exponent);

  Builder& b_;
  Refusal& refusal_;
  Leaf leaf_;
  llvm::DenseMap<mlir::Value, Id> known_;
};

}  // namespace kiln
