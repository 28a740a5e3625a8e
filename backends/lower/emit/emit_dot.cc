#include "backends/lower/emit/emit_dot.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/calls.h"
#include "lang/analysis/dataflow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

// Computes C[j] += A[0] * B[j, 0] + A[1] * B[j, 1] + ... Operands: the accumulators, the elements of A
// repeated for each j, the elements of B.
struct DotInstruction {
  const char *intrinsic, *feature, *llvm;
  bool moves_a = false;  // adds 128 to the bytes of A to make them unsigned
};

constexpr DotInstruction kDots[] = {
    {"vnni.8x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.256"},
    {"vnni.8x4.compute", "avxvnni", "llvm.x86.avx512.vpdpbusd.256"},
    {"vnni.16x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.512"},
    {"vnni.s8.8x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.256", true},
    {"vnni.s8.8x4.compute", "avxvnni", "llvm.x86.avx512.vpdpbusd.256", true},
    {"vnni.s8.16x4.compute", "avx512vnni", "llvm.x86.avx512.vpdpbusd.512", true},
    {"bf16.16x2.compute", "avx512bf16", "llvm.x86.avx512bf16.dpbf16ps.512"},
    {"f16.16x2.compute", "avx10.2", "llvm.x86.avx10.vdpphps.512"},
    {"sdot.4x4.compute", "dotprod", "llvm.aarch64.neon.sdot"},
    {"usdot.4x4.compute", "i8mm", "llvm.aarch64.neon.usdot"},
};

}  // namespace

bool DotCall::Emit(const std::string& intrinsic) {
  const auto* dot = std::find_if(std::begin(kDots), std::end(kDots), [&](const DotInstruction& d) {
    return d.intrinsic == intrinsic && HasFeature(e_.options_.features, d.feature);
  });
  if (dot == std::end(kDots) || !FindFactors()) return false;
  e_.lanes_ = sums_;
  e_.loops_[inner_] = IndexValue::Lanes(sums_);
  e_.loops_[outer_] = IndexValue::Constant(0);
  const bool guarded = TestGuards(), lie = FindAddresses();
  const bool fits = guarded && lie;
  if (fits) {
    mlir::OpBuilder::InsertionGuard guard(e_.b_);
    std::optional<Emitter::Saved> saved;
    if (runs_) {
      saved = e_.EnterRegion(false);
      e_.b_.setInsertionPointToStart(mlir::scf::IfOp::create(e_.b_, e_.loc_, runs_, false).thenBlock());
    }
    EmitSums(dot->llvm, dot->moves_a);
    if (saved) e_.LeaveRegion(*std::move(saved));
  }
  e_.lanes_ = 0;
  e_.loops_.erase(inner_);
  e_.loops_.erase(outer_);
  return fits;
}

bool DotCall::FindFactors() {
  const Program& p = e_.p_;
  inner_ = OnlyChild(p, outer_);
  block_ = inner_ == kNone ? kNone : OnlyChild(p, inner_);
  if (block_ == kNone || !p.IsLoop(inner_) || !p.IsBlock(block_) || p.nodes[block_].first != kNone)
    return false;
  const Expr& product = p.exprs[p.List(p.block(block_).values)[0]];
  if (product.op != Op::kMul) return false;
  a_ = LoadUnderCast(p, product.operand(0));
  b_ = LoadUnderCast(p, product.operand(1));
  products_ = p.loop(outer_).extent.Known();
  sums_ = p.loop(inner_).extent.Known();
  return a_ != kNone && b_ != kNone;
}

// True if every guard of the block has one answer for the whole call. Sets runs_ to their conjunction.
bool DotCall::TestGuards() {
  bool whole = true;
  for (const int condition : e_.plan_.blocks.at(block_).guards) {
    const Emitter::Test test = e_.TestOf(condition);
    whole = whole && test.known != false && !test.mask &&
            (test.known == true || !absl::c_linear_search(e_.plan_.conditions[condition].loops, outer_));
    runs_ = e_.And(runs_, test.uniform);
  }
  return whole;
}

// True if the operands have the layout that the instruction requires. Sets their addresses.
bool DotCall::FindAddresses() {
  const BlockPlan& plan = e_.plan_.blocks.at(block_);
  if (!At(plan.addresses.at(a_), 0).uniform()) std::swap(a_, b_);
  at_a_ = At(plan.addresses.at(a_), 0);
  at_b_ = At(plan.addresses.at(b_), 0);
  const IndexValue at_c = At(plan.dests[0], 0);
  return at_a_.uniform() && !at_b_.uniform() && at_b_.vectors.empty() && at_c.stride() == 1 &&
         AreNeighbours(a_) && AreNeighbours(b_);
}

IndexValue DotCall::At(const IndexSum& address, int64_t product) {
  e_.loops_[outer_] = IndexValue::Constant(product);
  return e_.Eval(address);
}

// True if the elements that a load reads for the products of one sum are neighbors in memory.
bool DotCall::AreNeighbours(Id load) {
  const IndexSum& address = e_.plan_.blocks.at(block_).addresses.at(load);
  for (int64_t k = 1; k < products_; ++k) {
    IndexValue at = At(address, k);
    at.constant -= k;
    std::vector<int64_t> one, other;
    at.AppendKey(one);
    At(address, 0).AppendKey(other);
    if (one != other) return false;
  }
  return true;
}

void DotCall::EmitSums(const char* instruction, bool moves_a) {
  mlir::OpBuilder& b = e_.b_;
  const Id result = e_.p_.Accesses(e_.p_.block(block_).dests)[0].buffer;
  const IndexSum& dest = e_.plan_.blocks.at(block_).dests[0];
  const auto sum = mlir::VectorType::get({sums_}, MemoryType(b, e_.p_.buffers[result].dtype));
  const Value left = RepeatedA(), right = PackedB();
  const Value before = e_.Load(result, dest, Value(), Value());
  const auto dots = [&](Value sums_before, Value of_a) -> Value {
    return mlir::LLVM::CallIntrinsicOp::create(
               b, e_.loc_, sum, b.getStringAttr(instruction),
               mlir::ValueRange{sums_before, AsOperand(of_a), AsOperand(right)})
        .getResult(0);
  };
  if (!moves_a) return e_.Store(result, dest, dots(before, left), Value());
  // Computes (a + 128) b - 128 b, whose second product is the same for all rows.
  const Value moved = e_.Splat(b.getI8IntegerAttr(-128), Parts(sums_ * products_));
  const Value none = e_.Splat(b.getI32IntegerAttr(0), sum);
  const Value sums = dots(before, mlir::arith::XOrIOp::create(b, e_.loc_, left, moved));
  e_.Store(result, dest, mlir::arith::SubIOp::create(b, e_.loc_, sums, dots(none, moved)), Value());
}

mlir::VectorType DotCall::Parts(int64_t count) {
  const Id buffer = BufferRead(e_.p_.exprs[a_]);
  return mlir::VectorType::get({count}, MemoryType(e_.b_, e_.p_.buffers[buffer].dtype));
}

mlir::Value DotCall::LoadParts(Id load, const IndexValue& at, int64_t count) {
  return mlir::vector::LoadOp::create(e_.b_, e_.loc_, Parts(count),
                                      e_.buffers_[BufferRead(e_.p_.exprs[load])],
                                      mlir::ValueRange{e_.Scalar(at)});
}

mlir::Value DotCall::RepeatedA() {
  const Value group = LoadParts(a_, at_a_, products_);
  llvm::SmallVector<int64_t> repeated;
  for (int64_t i = 0; i < sums_ * products_; ++i) repeated.push_back(i % products_);
  return mlir::vector::ShuffleOp::create(e_.b_, e_.loc_, group, group, repeated);
}

mlir::Value DotCall::PackedB() {
  if (at_b_.stride() == products_) return LoadParts(b_, at_b_.Uniform(), sums_ * products_);
  Value packed = mlir::ub::PoisonOp::create(e_.b_, e_.loc_, Parts(sums_ * products_));
  for (int64_t lane = 0; lane < sums_; ++lane) {
    packed = mlir::vector::InsertStridedSliceOp::create(
        e_.b_, e_.loc_, LoadParts(b_, e_.LaneValue(at_b_, static_cast<size_t>(lane)), products_), packed,
        llvm::ArrayRef<int64_t>{lane * products_}, llvm::ArrayRef<int64_t>{1});
  }
  return packed;
}

// The vector as the instruction's operand: bf16 elements, which are i16 elsewhere, become bf16.
mlir::Value DotCall::AsOperand(Value value) {
  const mlir::VectorType all = Parts(sums_ * products_);
  if (!all.getElementType().isBF16()) return value;
  const auto bits = mlir::VectorType::get({sums_ * products_}, e_.b_.getI16Type());
  return mlir::LLVM::BitcastOp::create(e_.b_, e_.loc_, all,
                                       mlir::arith::BitcastOp::create(e_.b_, e_.loc_, bits, value));
}

}  // namespace kiln
