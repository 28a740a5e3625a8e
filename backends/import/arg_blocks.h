// Adds the blocks that compute an argmax or argmin to the program.
//
// If the index itself decides ties, or grows with the iterations, the block `argmax` computes the value and the index.
// Otherwise it computes the value and a position: the number of an iteration in the file's order. The blocks (for an
// argmin, `min` stands in place of `max` in their names):
//   reduce_max  the value alone, if a NaN ends the search and the file uses the value
//   nan_at      the first position of a NaN, if a NaN ends the search
//   argmax      the value, and the index or position; the initial value has position -1
//   position    the index at that position, or the initial index; only if argmax computes a position
// The index may thus be any function of the loops, and ties are resolved in the file's order.
#pragma once

#include <vector>

#include "backends/import/arg_reduction.h"
#include "backends/import/values.h"

namespace kiln {

class ArgBlocks {
 public:
  // Stores the operation of one argmax or argmin; Plan and Emit do the work. `dest`: the indices of the written
  // elements, over the loops. `value`, `index`: numbers of the operation's results.
  ArgBlocks(mlir::linalg::GenericOp op, Values& values, Scalars& scalars, std::vector<IndexSum> dest,
            int value, int index);

  // Plan translates all expressions that the blocks of the argmax need, and chooses the blocks. If it fails, it has set
  // the refusal. After its success, Emit adds the blocks to the program.
  mlir::LogicalResult Plan(const ArgReduction& arg);
  void Emit();

 private:
  struct Affine {
    std::vector<int64_t> factors;  // of the loops
    int64_t offset = 0;
  };
  bool IsReduced(size_t loop) const;
  std::optional<Affine> AffineOf(mlir::Value index) const;
  bool Grows(mlir::Value index) const;
  bool DependsOnLoopsOnly(mlir::Value value) const;
  Id PositionOf() const;
  mlir::FailureOr<Id> IndexAt(mlir::Value index, Id position);
  Id Worst(int result) const;
  void EmitValue(const std::string& name);
  void EmitIndex(Id found);
  std::vector<Builder::IterSpec> Iters() const;

  mlir::linalg::GenericOp op_;
  Values& values_;
  Builder& b_;
  Scalars& scalars_;
  std::vector<IndexSum> dest_;
  int value_result_, index_result_;
  DType value_type_, index_type_;
  std::vector<int64_t> extents_;

  ArgReduction arg_;
  bool direct_ = false;  // the monoid's index is the file's index
  Id monoid_ = kNone;
  Id value_ = kNone, index_ = kNone;  // of one instance
  Id first_value_ = kNone, first_index_ = kNone;
};

}  // namespace kiln
