// What the values of a function are in terms of buffers, without a copy where none is needed.
#pragma once

#include <string>
#include <vector>

#include "backends/import/scalar.h"
#include "lang/program/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Value.h"

namespace kiln {

// A tensor is uninitialized, one scalar everywhere, or a view: elements of a buffer, at indices that are
// functions of its own.
struct Tensor {
  enum class Kind { kEmpty, kSplat, kView };
  Kind kind = Kind::kEmpty;
  mlir::TypedAttr constant;  // kSplat: this,
  mlir::Value scalar;        // or the value of this
  Id buffer = kNone;
  IndexMap map;  // kView: from the tensor's indices to the buffer's
};

// The static shape, or false and `why` where the type is not a ranked tensor that Kiln can hold.
bool ShapeOf(mlir::Type type, std::vector<int64_t>* shape, Why* why);
std::vector<int64_t> ShapeOf(mlir::Value tensor);  // of a tensor for which the above is true
DType ElementOf(mlir::Value tensor);
std::vector<Extent> Extents(const std::vector<int64_t>& shape);

// Iters called i, j, k... of a block over `domain`, all spatial; and their values.
std::vector<Builder::IterSpec> ItersOf(const std::vector<int64_t>& domain);
std::vector<IndexSum> IdentityOf(size_t rank);

// The values of one function, and the program that grows from them. What fails has set `refusal`.
class Values {
 public:
  Values(Builder& builder, Refusal& refusal) : b_(builder), refusal_(refusal) {}
  Builder& builder() { return b_; }
  Refusal& refusal() { return refusal_; }
  mlir::LogicalResult Refuse(mlir::Operation* op, std::string reason, std::string hint) {
    return kiln::Refuse(refusal_, op, std::move(reason), std::move(hint));
  }
  mlir::LogicalResult Refuse(mlir::Operation* op, Why why) {
    return Refuse(op, std::move(why.reason), std::move(why.hint));
  }

  bool Has(mlir::Value tensor) const { return tensors_.count(tensor) > 0; }
  const Tensor& at(mlir::Value tensor) const { return tensors_.find(tensor)->second; }
  void SetEmpty(mlir::Value tensor) { tensors_[tensor] = {}; }
  void SetSplat(mlir::Value tensor, mlir::TypedAttr constant, mlir::Value scalar);
  void SetBuffer(mlir::Value tensor, Id buffer);
  void SetScalar(mlir::Value scalar, Id buffer) { scalars_[scalar] = buffer; }
  // `tensor` is `source` read at `index` (over tensor's own indices);
  // where that cannot be said, source is copied first.
  mlir::LogicalResult SetView(mlir::Value tensor, mlir::Value source, const std::vector<IndexSum>& index,
                              mlir::Operation* op);

  // The element at `index`, sums over the iters of `domain`. `guarded`: a kWithin protects it, and the index
  // may be out of range.
  mlir::FailureOr<Id> Read(mlir::Value tensor, const std::vector<IndexSum>& index,
                           const std::vector<int64_t>& domain, Scalars& scalars, mlir::Operation* user,
                           bool guarded = false);
  // A scalar that arith and math did not make: an argument,
  // a boundary's result, a tensor's element at a constant index.
  mlir::FailureOr<Id> Leaf(mlir::Value scalar, mlir::Operation* user);
  // A tensor's element: a load where all indices are sums of loops (whose iters `iter_of` gives) and within
  // the tensor, else a gather.
  using IterOf = llvm::function_ref<IndexSum(mlir::linalg::IndexOp)>;
  mlir::FailureOr<Id> Extract(mlir::tensor::ExtractOp op, const std::vector<int64_t>& domain,
                              Scalars& scalars, IterOf iter_of);
  // Translates scalars outside of a body.
  Scalars Outside(mlir::Operation* user);

  // Makes `tensor` a buffer of its own, with a block that copies it.
  mlir::LogicalResult Materialize(mlir::Value tensor, mlir::Operation* user);
  bool IsWholeBuffer(mlir::Value tensor) const;
  Role RoleOf(mlir::Value tensor) const;  // kInput for what is no view

  // A block that sets all of `tensor`, over its indices.
  void Compute(const std::string& wanted, mlir::Value tensor, Id value);
  // `fails`, an i32 over `domain`, is 0 where all is well.
  void AddAssertion(const std::vector<int64_t>& domain, Id fails);
  // Makes what all assertions found the program's status. Called once, at the end.
  void SetStatus();
  std::string UniqueName(const std::string& wanted);
  Id Temporary(const std::string& block, mlir::Value tensor);

 private:
  mlir::LogicalResult Check(mlir::Value tensor, mlir::Operation* user);

  Builder& b_;
  Refusal& refusal_;
  llvm::DenseMap<mlir::Value, Tensor> tensors_;
  llvm::DenseMap<mlir::Value, Id> scalars_;
  llvm::StringMap<int> counts_;
  std::vector<Id> assertions_;  // i32 of rank 0
};

}  // namespace kiln
