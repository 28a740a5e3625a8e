#include "backends/lower/emit/emit_dot.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/calls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {

void DotCall::Emit() {
  IndexEvaluator& indices = e_.context_.indices();
  mlir::Value runs;
  e_.context_.ForEachCopy(
      {.loop = dot_.inner, .run = plan::Run::kLanes, .count = dot_.sums, .lanes = dot_.sums},
      [&](int64_t, int64_t) {
        indices.Bind(call_.outer, IndexValue::Constant(0));
        for (const int condition : call_.asks) runs = e_.And(runs, e_.TestOf(condition).uniform);
        e_.EmitIf(runs, [&] { EmitSums(); });
        indices.Unbind(call_.outer);
      });
}

void DotCall::EmitSums() {
  mlir::OpBuilder& b = e_.b_;
  const Id result = e_.p_.Accesses(e_.p_.block(dot_.block).dests)[0].buffer;
  const IndexSum& dest = e_.plan_.blocks.at(dot_.block).dests[0];
  const auto sum = mlir::VectorType::get({dot_.sums}, MemoryType(b, e_.p_.buffers[result].dtype));
  const Value left = RepeatedA(), right = PackedB();
  const Value before = e_.Load(result, dest, Value(), Value());
  const auto dots = [&](Value sums_before, Value of_a) -> Value {
    return mlir::LLVM::CallIntrinsicOp::create(
               b, e_.loc_, sum, b.getStringAttr(dot_.row->llvm),
               mlir::ValueRange{sums_before, AsOperand(of_a), AsOperand(right)})
        .getResult(0);
  };
  if (!dot_.row->moves_a) return e_.Store(result, dest, dots(before, left), Value());
  // Computes (a + 128) b - 128 b, whose second product is the same for all rows.
  const Value moved = e_.Splat(b.getI8IntegerAttr(-128), Parts(dot_.sums * dot_.products));
  const Value none = e_.Splat(b.getI32IntegerAttr(0), sum);
  const Value sums = dots(before, mlir::arith::XOrIOp::create(b, e_.loc_, left, moved));
  e_.Store(result, dest, mlir::arith::SubIOp::create(b, e_.loc_, sums, dots(none, moved)), Value());
}

mlir::VectorType DotCall::Parts(int64_t count) {
  const Id buffer = BufferRead(e_.p_.exprs[dot_.a]);
  return mlir::VectorType::get({count}, MemoryType(e_.b_, e_.p_.buffers[buffer].dtype));
}

mlir::Value DotCall::LoadParts(Id load, const IndexValue& at, int64_t count) {
  return mlir::vector::LoadOp::create(e_.b_, e_.loc_, Parts(count),
                                      e_.buffers_[BufferRead(e_.p_.exprs[load])],
                                      mlir::ValueRange{e_.Scalar(at)});
}

mlir::Value DotCall::RepeatedA() {
  const Value group = LoadParts(dot_.a, dot_.at_a, dot_.products);
  llvm::SmallVector<int64_t> repeated;
  for (int64_t i = 0; i < dot_.sums * dot_.products; ++i) repeated.push_back(i % dot_.products);
  return mlir::vector::ShuffleOp::create(e_.b_, e_.loc_, group, group, repeated);
}

mlir::Value DotCall::PackedB() {
  if (dot_.at_b.stride() == dot_.products)
    return LoadParts(dot_.b, dot_.at_b.Uniform(), dot_.sums * dot_.products);
  Value packed = mlir::ub::PoisonOp::create(e_.b_, e_.loc_, Parts(dot_.sums * dot_.products));
  for (int64_t lane = 0; lane < dot_.sums; ++lane) {
    packed = mlir::vector::InsertStridedSliceOp::create(
        e_.b_, e_.loc_, LoadParts(dot_.b, dot_.at_b.Lane(static_cast<size_t>(lane)), dot_.products), packed,
        llvm::ArrayRef<int64_t>{lane * dot_.products}, llvm::ArrayRef<int64_t>{1});
  }
  return packed;
}

// The vector as the instruction's operand: bf16 elements, which are i16 elsewhere, become bf16.
mlir::Value DotCall::AsOperand(Value value) {
  const mlir::VectorType all = Parts(dot_.sums * dot_.products);
  if (!all.getElementType().isBF16()) return value;
  const auto bits = mlir::VectorType::get({dot_.sums * dot_.products}, e_.b_.getI16Type());
  return mlir::LLVM::BitcastOp::create(e_.b_, e_.loc_, all,
                                       mlir::arith::BitcastOp::create(e_.b_, e_.loc_, bits, value));
}

}  // namespace kiln
