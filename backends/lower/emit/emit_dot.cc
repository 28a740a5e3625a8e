#include "backends/lower/emit/emit_dot.h"

#include "backends/lower/emit/emit_conditions.h"
#include "backends/lower/emit/emit_types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

class DotCall {
 public:
  DotCall(MemoryEmitter& memory, const plan::DotOperands& operands)
      : memory_(memory), code_(memory.code()), b_(code_.b()), p_(code_.program()), dot_(operands) {}

  void Emit();

 private:
  using Value = mlir::Value;

  mlir::VectorType Parts(int64_t count);
  Value LoadParts(Id load, const IndexValue& at, int64_t count);
  Value RepeatedA();
  Value PackedB();
  Value AsOperand(Value value);

  MemoryEmitter& memory_;
  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  const Program& p_;
  const plan::DotOperands& dot_;
};

void DotCall::Emit() {
  const Id result = p_.Accesses(p_.block(dot_.block).dests)[0].buffer;
  const IndexSum& dest = code_.plan().blocks.at(dot_.block).dests[0];
  const auto sum = mlir::VectorType::get({dot_.sums}, MemoryType(b_, p_.buffers[result].dtype));
  const Value left = RepeatedA(), right = PackedB();
  const Value before = memory_.Load(result, dest, Value(), Value());
  const auto dots = [&](Value sums_before, Value of_a) -> Value {
    return mlir::LLVM::CallIntrinsicOp::create(
               b_, sum, b_.getStringAttr(dot_.row->llvm),
               mlir::ValueRange{sums_before, AsOperand(of_a), AsOperand(right)})
        .getResult(0);
  };
  if (!dot_.row->moves_a) return memory_.Store(result, dest, dots(before, left), Value());
  // Emits a * b as (a + 128) * b - 128 * b, for instructions that take unsigned values of A. The second product is the
  // same for all rows of A.
  const Value moved = code_.Splat(b_.getI8IntegerAttr(-128), Parts(dot_.sums * dot_.products));
  const Value none = code_.Splat(b_.getI32IntegerAttr(0), sum);
  const Value sums = dots(before, mlir::arith::XOrIOp::create(b_, left, moved));
  memory_.Store(result, dest, mlir::arith::SubIOp::create(b_, sums, dots(none, moved)), Value());
}

mlir::VectorType DotCall::Parts(int64_t count) {
  const Id buffer = BufferRead(p_.exprs[dot_.a]);
  return mlir::VectorType::get({count}, MemoryType(b_, p_.buffers[buffer].dtype));
}

mlir::Value DotCall::LoadParts(Id load, const IndexValue& at, int64_t count) {
  return mlir::vector::LoadOp::create(b_, Parts(count), memory_.buffers()[BufferRead(p_.exprs[load])],
                                      mlir::ValueRange{memory_.indices().Scalar(at)});
}

mlir::Value DotCall::RepeatedA() {
  const Value group = LoadParts(dot_.a, dot_.at_a, dot_.products);
  llvm::SmallVector<int64_t> repeated;
  for (int64_t i = 0; i < dot_.sums * dot_.products; ++i) repeated.push_back(i % dot_.products);
  return mlir::vector::ShuffleOp::create(b_, group, group, repeated);
}

mlir::Value DotCall::PackedB() {
  if (dot_.at_b.stride() == dot_.products)
    return LoadParts(dot_.b, dot_.at_b.Uniform(), dot_.sums * dot_.products);
  Value packed = mlir::ub::PoisonOp::create(b_, Parts(dot_.sums * dot_.products));
  for (int64_t lane = 0; lane < dot_.sums; ++lane) {
    packed = mlir::vector::InsertStridedSliceOp::create(
        b_, LoadParts(dot_.b, dot_.at_b.Lane(static_cast<size_t>(lane)), dot_.products), packed,
        llvm::ArrayRef<int64_t>{lane * dot_.products}, llvm::ArrayRef<int64_t>{1});
  }
  return packed;
}

// Returns the vector as an operand of the instruction: casts bf16 elements, which are i16 in all other code
// (backends/codegen/convert_to_llvm.h), to bf16.
mlir::Value DotCall::AsOperand(Value value) {
  const mlir::VectorType all = Parts(dot_.sums * dot_.products);
  if (!all.getElementType().isBF16()) return value;
  const auto bits = mlir::VectorType::get({dot_.sums * dot_.products}, b_.getI16Type());
  return mlir::LLVM::BitcastOp::create(b_, all, mlir::arith::BitcastOp::create(b_, bits, value));
}

}  // namespace

void EmitDot(MemoryEmitter& memory, const plan::Call& call, const plan::DotOperands& operands) {
  CodeBuilder& code = memory.code();
  const plan::Loop sums{
      .loop = operands.inner, .run = plan::Run::kLanes, .count = operands.sums, .lanes = operands.sums};
  code.context().ForEachCopy(sums, [&](int64_t, int64_t) {
    code.indices().Bind(call.outer, IndexValue::Constant(0));
    mlir::Value runs;
    for (const int condition : call.asks) runs = And(code, runs, TestOf(memory.indices(), condition).uniform);
    EmitIf(code, memory.loads(), runs, [&] { DotCall(memory, operands).Emit(); });
    code.indices().Unbind(call.outer);
  });
}

}  // namespace kiln
