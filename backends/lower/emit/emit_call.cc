// Calls of intrinsics as the instructions of the machine: dot products of neighbours (lang/intrinsics/).
#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/calls.h"
#include "lang/analysis/dataflow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

// C[j] += A[0] * B[j, 0] + A[1] * B[j, 1] + ..: sums, the same parts of A for each, the parts of B.
struct DotInstruction {
  const char *intrinsic, *feature, *llvm;
  bool moves_a = false;  // to unsigned bytes, by 128
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

bool Emitter::EmitCall(Id outer) {
  const auto call = calls_.find(outer);
  if (call == calls_.end()) return false;
  EmitWaiting([](const Waiting&) { return true; });
  return EmitDot(outer, call->second) || EmitTile(outer, call->second);
}

// False where it is none that the machine has, or not in the shape that the instruction wants: then its
// description is emitted.
bool Emitter::EmitDot(Id outer, const std::string& name) {
  const auto* dot = std::find_if(std::begin(kDots), std::end(kDots), [&](const DotInstruction& d) {
    return d.intrinsic == name && HasFeature(options_.features, d.feature);
  });
  if (dot == std::end(kDots)) return false;
  const Id inner = OnlyChild(p_, outer), block = inner == kNone ? kNone : OnlyChild(p_, inner);
  if (block == kNone || !p_.IsLoop(inner) || !p_.IsBlock(block) || p_.nodes[block].first != kNone)
    return false;
  const BlockPlan& plan = plan_.blocks.at(block);
  const Expr& product = p_.exprs[p_.List(p_.block(block).values)[0]];
  if (product.op != Op::kMul) return false;
  Id a = LoadUnderCast(p_, product.a), b = LoadUnderCast(p_, product.b);
  if (a == kNone || b == kNone) return false;

  const int64_t products = p_.loop(outer).extent.Known(), sums = p_.loop(inner).extent.Known();
  lanes_ = sums;
  loops_[inner] = IndexValue::Lanes(sums);
  loops_[outer] = IndexValue::Constant(0);
  Value runs;  // where the call as a whole may be beyond an end
  bool fits = true;
  for (const int condition : plan.guards) {
    const Test test = TestOf(condition);
    fits = fits && test.known != false && !test.mask &&
           (test.known == true || !absl::c_linear_search(plan_.conditions[condition].loops, outer));
    runs = And(runs, test.uniform);
  }
  const auto address = [&](const Sum& sum, int64_t k) {
    loops_[outer] = IndexValue::Constant(k);
    return Eval(sum);
  };
  const auto next_to_each_other = [&](Id load) {
    for (int64_t k = 1; k < products; ++k) {
      IndexValue at = address(plan.addresses.at(load), k);
      at.constant -= k;
      std::vector<int64_t> one, other;
      at.AppendKey(one);
      address(plan.addresses.at(load), 0).AppendKey(other);
      if (one != other) return false;
    }
    return true;
  };
  if (!address(plan.addresses.at(a), 0).uniform()) std::swap(a, b);
  const IndexValue at_a = address(plan.addresses.at(a), 0), at_b = address(plan.addresses.at(b), 0),
                   at_c = address(plan.dests[0], 0);
  fits = fits && at_a.uniform() && !at_b.uniform() && at_b.vectors.empty() && at_c.stride() == 1 &&
         next_to_each_other(a) && next_to_each_other(b);
  if (fits) {
    mlir::OpBuilder::InsertionGuard guard(b_);
    std::optional<Saved> saved;
    if (runs) {
      saved = EnterRegion(false);
      b_.setInsertionPointToStart(mlir::scf::IfOp::create(b_, loc_, runs, false).thenBlock());
    }
    const auto buffer = [&](Id load) { return BufferRead(p_.exprs[load]); };
    const mlir::Type part = MemoryType(b_, p_.buffers[buffer(a)].dtype);
    const auto parts = mlir::VectorType::get({products}, part),
               all = mlir::VectorType::get({sums * products}, part);
    const Id result = p_.Accesses(p_.block(block).dests)[0].buffer;
    const auto sum = mlir::VectorType::get({sums}, MemoryType(b_, p_.buffers[result].dtype));
    const auto load = [&](Id from, const IndexValue& at, mlir::VectorType type) -> Value {
      return mlir::vector::LoadOp::create(b_, loc_, type, buffers_[buffer(from)],
                                          mlir::ValueRange{Scalar(at)});
    };
    const Value group = load(a, at_a, parts);
    llvm::SmallVector<int64_t> repeated;
    for (int64_t i = 0; i < sums * products; ++i) repeated.push_back(i % products);
    const Value left = mlir::vector::ShuffleOp::create(b_, loc_, group, group, repeated);
    Value right;
    if (at_b.stride() == products) {
      right = load(b, at_b.Uniform(), all);
    } else {
      right = mlir::ub::PoisonOp::create(b_, loc_, all);
      for (int64_t lane = 0; lane < sums; ++lane) {
        right = mlir::vector::InsertStridedSliceOp::create(
            b_, loc_, load(b, LaneValue(at_b, static_cast<size_t>(lane)), parts), right,
            llvm::ArrayRef<int64_t>{lane * products}, llvm::ArrayRef<int64_t>{1});
      }
    }
    const Value before = Load(result, plan.dests[0], Value(), Value());
    const auto operand = [&](Value value) -> Value {  // bf16 is i16 everywhere but here
      if (!part.isBF16()) return value;
      const auto bits = mlir::VectorType::get({sums * products}, b_.getI16Type());
      return mlir::LLVM::BitcastOp::create(b_, loc_, all,
                                           mlir::arith::BitcastOp::create(b_, loc_, bits, value));
    };
    const auto dots = [&](Value sums_before, Value of_a) -> Value {
      return mlir::LLVM::CallIntrinsicOp::create(b_, loc_, sum, b_.getStringAttr(dot->llvm),
                                                 mlir::ValueRange{sums_before, operand(of_a), operand(right)})
          .getResult(0);
    };
    if (dot->moves_a) {  // (a + 128) b - 128 b; the second is the same for all rows
      const Value moved = Splat(b_.getI8IntegerAttr(-128), all), none = Splat(b_.getI32IntegerAttr(0), sum);
      const Value sums = dots(before, mlir::arith::XOrIOp::create(b_, loc_, left, moved));
      Store(result, plan.dests[0], mlir::arith::SubIOp::create(b_, loc_, sums, dots(none, moved)), Value());
    } else {
      Store(result, plan.dests[0], dots(before, left), Value());
    }
    if (saved) LeaveRegion(*std::move(saved));
  }
  lanes_ = 0;
  loops_.erase(inner);
  loops_.erase(outer);
  return fits;
}

}  // namespace kiln
