// Represents the values of a function by buffers, without a copy if possible.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/import/scalar.h"
#include "lang/program/builder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Value.h"

namespace kiln {

// A tensor is uninitialized, one scalar for all elements, or a view: elements of a buffer, at indices that
// are functions of the tensor's indices.
struct Tensor {
  enum class Kind { kEmpty, kSplat, kView };
  Kind kind = Kind::kEmpty;
  mlir::TypedAttr constant;  // kSplat: this constant,
  mlir::Value scalar;        // or this value
  Id buffer = kNone;
  IndexMap map;  // kView: from the tensor's indices to the buffer's
};

// Sets the static shape. Returns false and sets `why` if the type is no ranked tensor that Kiln supports.
bool ShapeOf(mlir::Type type, std::vector<int64_t>* shape, Why* why);
std::vector<int64_t> ShapeOf(mlir::Value tensor);  // of a tensor for which the function above returns true
DType ElementOf(mlir::Value tensor);
std::vector<Extent> Extents(const std::vector<int64_t>& shape);

// Return spatial iters, called i, j, k..., of a block over `domain`, and their values.
std::vector<Builder::IterSpec> ItersOf(const std::vector<int64_t>& domain);
std::vector<IndexSum> IdentityOf(size_t rank);

// The values of one function, and the program that is built from them. On failure, `refusal` is set.
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
  // Defines `tensor` as `source` at `index` (over the indices of `tensor`). If that cannot be expressed,
  // copies source first.
  mlir::LogicalResult SetView(mlir::Value tensor, mlir::Value source, const std::vector<IndexSum>& index,
                              mlir::Operation* op);

  // Reads the element at `index`, sums over the iters of `domain`. `guarded`: a kWithin guards the read, so
  // that the index may be out of range.
  mlir::FailureOr<Id> Read(mlir::Value tensor, const std::vector<IndexSum>& index,
                           const std::vector<int64_t>& domain, Scalars& scalars, mlir::Operation* user,
                           bool guarded = false);
  // Translates a scalar that arith and math did not compute: an argument, a result of a boundary, or a
  // tensor's element at a constant index.
  mlir::FailureOr<Id> Leaf(mlir::Value scalar, mlir::Operation* user);
  // Translates a tensor's element: to a load if all indices are sums of loops (`iter_of` returns their iters)
  // within the tensor, otherwise to a gather.
  using IterOf = llvm::function_ref<IndexSum(mlir::linalg::IndexOp)>;
  mlir::FailureOr<Id> Extract(mlir::tensor::ExtractOp op, const std::vector<int64_t>& domain,
                              Scalars& scalars, IterOf iter_of);
  // Returns a translator for scalars that are computed outside of any block's body.
  Scalars Outside(mlir::Operation* user);

  // Gives `tensor` a buffer of its own, with a block that copies or fills it.
  mlir::LogicalResult Materialize(mlir::Value tensor, mlir::Operation* user);
  bool IsWholeBuffer(mlir::Value tensor) const;
  Role RoleOf(mlir::Value tensor) const;  // kInput if it is no view

  // Adds a block that computes all elements of `tensor`, over its indices.
  void Compute(const std::string& wanted, mlir::Value tensor, Id value);
  // Adds an assertion: `fails`, an i32 over `domain`, must be 0 everywhere.
  void AddAssertion(const std::vector<int64_t>& domain, Id fails);
  // Combines all assertions to the program's status. Call it once, at the end.
  void SetStatus();
  std::string UniqueName(const std::string& wanted);
  Id Temporary(const std::string& block, mlir::Value tensor);

  // The bytes from which on constants become parameters (backends/import/constants.h), and the constants that did, with
  // their names, in the order of the file.
  int64_t least_detached = std::numeric_limits<int64_t>::max();
  std::vector<std::pair<std::string, mlir::arith::ConstantOp>> detached;

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
