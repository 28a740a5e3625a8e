// Builds Programs by hand. The importer, tests and examples use it.
//
//   Builder b("matmul");
//   Id A = b.Input("A", DType::kF32, {64, 32}), B = b.Input("B", DType::kF32, {32, 16});
//   Id C = b.Output("C", DType::kF32, {64, 16});
//   IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
//   b.Reduce("matmul", {{"i", 64}, {"j", 16}, {"k", 32, IterKind::kReduction}}, Monoid::Kind::kSum,
//            {C, {i, j}}, b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));
//   Program p = b.Finish();
//
// Each block gets its own loop nest, appended to the root: one loop per iter, in the given order, bound one to one.
// Misuse is a defect of the caller and aborts (KILN_CHECK), at the latest in Finish, which runs Verify.
#pragma once

#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

class Builder {
 public:
  struct IterSpec {
    std::string name;
    Extent extent;
    IterKind kind = IterKind::kSpatial;
  };
  struct Place {
    Id buffer;
    std::vector<IndexSum> index;  // over Source::Iter
  };
  struct Bound {
    IndexSum value;
    int64_t extent;
  };

  explicit Builder(absl::string_view name);

  Id Input(absl::string_view name, DType dtype, const std::vector<Extent>& shape);
  Id Output(absl::string_view name, DType dtype, const std::vector<Extent>& shape);
  Id Temporary(absl::string_view name, DType dtype, const std::vector<Extent>& shape);
  // Adds a constant buffer with these bytes (row-major). If `bytes` is empty, the caller of the program passes the
  // constant as an argument.
  Id Constant(absl::string_view name, DType dtype, const std::vector<Extent>& shape, std::string bytes = "");
  // MakeOutput turns a temporary into an output, which becomes the last parameter so far. MakeStatus turns one into the
  // status that the function returns. Both abort if the buffer is not a temporary.
  void MakeOutput(Id buffer);
  void MakeStatus(Id buffer);
  Id Scalar(absl::string_view name, DType dtype);  // an input of rank 0

  static IndexSum Iter(int position) { return IndexSum::Of(Source::Iter(position)); }

  Id Float(DType dtype, double value);
  Id Integer(DType dtype, int64_t value);
  Id Index(const IndexSum& value);  // dtype index
  Id Load(Id buffer, const std::vector<IndexSum>& index);
  Id Gather(Id buffer, const std::vector<Id>& index);  // expressions of dtype index
  Id Make(Op op, DType dtype, Id a, Id b = kNone, Id c = kNone);
  Id Within(const std::vector<Bound>& bounds, Id inside, Id outside);
  Id Add(Id a, Id b) { return Make(Op::kAdd, program_.exprs[a].dtype, a, b); }
  Id Mul(Id a, Id b) { return Make(Op::kMul, program_.exprs[a].dtype, a, b); }
  Id Cast(DType dtype, Id a) { return Make(Op::kCast, dtype, a); }

  Id ArgMonoid(Monoid::Kind kind, DType value, DType index, bool last = false, bool is_unsigned = false) {
    return program_.AddArgMonoid(kind, value, index, last, is_unsigned);
  }
  Id CustomMonoid(Op combine, DType dtype, int64_t identity, bool idempotent) {
    return program_.AddCustomMonoid(combine, dtype, identity, idempotent);
  }
  // Compute and Reduce add a block with a loop for each iter, and return the block's node. Compute stores `value` at
  // each point of the iters; Reduce combines the values `lift` with a monoid, starting from `initial` or the monoid's
  // identity.
  Id Compute(absl::string_view name, const std::vector<IterSpec>& iters, const Place& dest, Id value);
  Id Reduce(absl::string_view name, const std::vector<IterSpec>& iters, Monoid::Kind monoid,
            const Place& dest, Id lift, Id initial = kNone);
  // Adds a block that reduces with a monoid of several results, such as argmax. Either each result has an initial
  // value, or none has.
  Id Reduce(absl::string_view name, const std::vector<IterSpec>& iters, Id monoid,
            const std::vector<Place>& dests, const std::vector<Id>& lifts,
            const std::vector<Id>& initial = {});

  const Program& program() const { return program_; }
  // Returns the program with the bytes of its constants; the builder must not be used afterwards. Aborts unless the
  // program passes Verify.
  Program Finish();

 private:
  Id AddBlock(absl::string_view name, const std::vector<IterSpec>& iters, Id monoid,
              const std::vector<Place>& dests, const std::vector<Id>& values, const std::vector<Id>& initial);

  Program program_;
  std::vector<std::string> constants_;
};

}  // namespace kiln
