// Represents the values of an imported function by buffers and views of buffers, and adds blocks that copy only where a
// view is not possible.
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

// How a tensor of the imported function is represented: uninitialized, one scalar for all elements, or a view: elements
// of a buffer, at indices that are functions of the tensor's indices.
struct Tensor {
  enum class Kind { kEmpty, kSplat, kView };
  Kind kind = Kind::kEmpty;
  mlir::TypedAttr constant;  // kSplat: this constant,
  mlir::Value scalar;        // or this value
  Id buffer = kNone;
  IndexMap map;  // kView: from the tensor's indices to the buffer's
};

// Sets `shape` to the static shape of a tensor type. Returns false and sets `why` if the type is no ranked tensor that
// Kiln supports: a dynamic shape, an encoding, an unknown element type, no elements, more bytes than an int64 can
// count.
bool ShapeOf(mlir::Type type, std::vector<int64_t>* shape, Why* why);
std::vector<int64_t> ShapeOf(mlir::Value tensor);  // of a tensor for which the function above returns true
DType ElementOf(mlir::Value tensor);
std::vector<Extent> Extents(const std::vector<int64_t>& shape);

// Return the spatial iters i, j, k, ... (d0, d1, ... if there are more than eight) with the extents of `domain`, and
// the indices that are the first `rank` iters.
std::vector<Builder::IterSpec> ItersOf(const std::vector<int64_t>& domain);
std::vector<IndexSum> IdentityOf(size_t rank);

// The values of an imported function, and the program that is built from them. On failure, `refusal` is set to the
// reason.
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
  // Defines `tensor` as a view: its element at i is that of `source` at index(i). Copies `source` to a buffer first if
  // that cannot be expressed as a view of its buffer.
  mlir::LogicalResult SetView(mlir::Value tensor, mlir::Value source, const std::vector<IndexSum>& index,
                              mlir::Operation* op);

  // Returns an expression for the element of `tensor` at `index`, sums over the iters of `domain`. Copies a view to a
  // buffer first if its index cannot be expressed. `guarded`: a kWithin guards the read, so that the index may be out
  // of range; views that divide indices are then copied too. Refuses a tensor that nothing has written.
  mlir::FailureOr<Id> Read(mlir::Value tensor, const std::vector<IndexSum>& index,
                           const std::vector<int64_t>& domain, Scalars& scalars, mlir::Operation* user,
                           bool guarded = false);
  // Returns an expression for a scalar that arith and math did not compute: an argument, a result of a boundary, or an
  // element that tensor.extract reads. Refuses other scalars.
  mlir::FailureOr<Id> Leaf(mlir::Value scalar, mlir::Operation* user);
  // Translates a tensor.extract: to a load if all indices are sums of loops within the tensor, otherwise to a gather.
  // `iter_of` returns the iter of a loop.
  using IterOf = llvm::function_ref<IndexSum(mlir::linalg::IndexOp)>;
  mlir::FailureOr<Id> Extract(mlir::tensor::ExtractOp op, const std::vector<int64_t>& domain,
                              Scalars& scalars, IterOf iter_of);
  // Returns a translator for scalars that are computed outside of the body of any linalg.generic.
  Scalars Outside(mlir::Operation* user);

  // Gives `tensor` a buffer of its own, and adds a block that fills it: with copies of the elements of a view, or with
  // a scalar.
  mlir::LogicalResult Materialize(mlir::Value tensor, mlir::Operation* user);
  bool IsWholeBuffer(mlir::Value tensor) const;
  Role RoleOf(mlir::Value tensor) const;  // kInput if it is no view

  // Adds a block that computes all elements of `tensor` into a new buffer: `value` is an expression over iters that are
  // the tensor's indices. `wanted` is the block's name, made unique.
  void Compute(const std::string& wanted, mlir::Value tensor, Id value);
  // Adds a block that checks an assertion: it fails if `fails`, an i32 expression over iters with the extents `domain`,
  // is not 0 somewhere.
  void AddAssertion(const std::vector<int64_t>& domain, Id fails);
  // Combines all assertions to the program's status, which is 0 if all hold. Without assertions, the program gets no
  // status. Call it once, at the end.
  void SetStatus();
  std::string UniqueName(const std::string& wanted);
  Id Temporary(const std::string& block, mlir::Value tensor);

  // The size in bytes from which on constants become parameters without bytes (backends/import/constants.h), and the
  // constants that did, with their names, in the order of the file.
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
