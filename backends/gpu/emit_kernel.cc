#include "backends/gpu/emit_kernel.h"

#include "absl/algorithm/container.h"
#include "backends/gpu/emit_copy.h"
#include "backends/gpu/emit_reduce.h"
#include "backends/lower/emit/emit_conditions.h"
#include "backends/lower/emit/emit_expr.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace nvvm = mlir::NVVM;

constexpr int64_t kAlignment = 16;  // of every buffer, and the widest access
constexpr int64_t kWarp = 32, kWarpgroup = 128;
constexpr size_t kThreadAxes = 3;  // the first of AxisNumbers

bool HasAcross(const plan::Nodes& nodes) {
  for (const plan::Node& node : nodes) {
    if (const auto* leaf = node.As<plan::Leaf>(); leaf != nullptr && leaf->across) return true;
    for (const plan::Nodes& arm : node.arms)
      if (HasAcross(arm)) return true;
  }
  return false;
}

}  // namespace

KernelEmitter::KernelEmitter(const Program& program, const IndexPlan& plan, const LowerOptions& options,
                             mlir::ModuleOp module, const Kernel& kernel)
    : Emitter(program, plan, options, module),
      kernel_(kernel),
      numbers_(kernel.sizes.size()),
      bound_(kernel.sizes.size()) {
  memory_.StateAlignments(kAlignment);
  for (const Id buffer : kernel.writes)
    if (plan.buffers[buffer].place != Memory::kAlloca) memory_.ReadLanesAlone(buffer);
  indices_.DivideIn32Bits();
}

void KernelEmitter::EmitKernel() {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  b.setInsertionPointToEnd(code_.module().getBody());
  llvm::SmallVector<mlir::Type> types;
  for (const Id id : kernel_.arguments) types.push_back(buffers_.TypeOfParameter(id));
  auto function = mlir::func::FuncOp::create(b, kernel_.name, b.getFunctionType(types, {}));
  mlir::Block* body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  for (size_t i = 0; i < kernel_.arguments.size(); ++i)
    buffers_.SetParameter(kernel_.arguments[i], body->getArgument(i));
  code_.InLevel(body, nullptr, [&] {
    EmitNumbers();
    buffers_.Declare([&](Id id) { return kernel_.Reads(id) || kernel_.Writes(id); });
    EmitNode(*kernel_.node);
    mlir::func::ReturnOp::create(b);
  });
}

// Emits the numbers of the thread and block on each axis; x varies fastest. Divides in 32 bits, which is faster than in
// 64.
void KernelEmitter::EmitNumbers() {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  const mlir::Type i32 = b.getI32Type();
  const auto constant = [&](int64_t n) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(n)).getResult();
  };
  const auto digits = [&](Value number, size_t from) {
    int64_t left = kernel_.sizes[from] * kernel_.sizes[from + 1] * kernel_.sizes[from + 2];
    for (size_t axis = from; axis < from + kThreadAxes; ++axis) {
      const int64_t size = kernel_.sizes[axis];
      if (size == 1) continue;
      const Value digit =
          size == left ? number : arith::RemUIOp::create(b, number, constant(size)).getResult();
      numbers_[axis] = arith::IndexCastUIOp::create(b, b.getIndexType(), digit);
      left /= size;
      if (left > 1) number = arith::DivUIOp::create(b, number, constant(size));
    }
  };
  if (kernel_.threads() > 1) digits(thread_ = nvvm::ThreadIdXOp::create(b, i32), 0);
  if (kernel_.blocks() > 1) digits(nvvm::BlockIdXOp::create(b, i32), kThreadAxes);
}

// Emits a loop on an axis of a GPU. Each thread runs the body for the iteration that has its number, inside a test
// whether the loop has this iteration. Around a leaf that combines values of several threads there is no test, so that
// all threads reach this leaf; threads without an iteration skip all other leaves.
void KernelEmitter::EmitAxis(const plan::Loop& loop, const plan::Nodes& body) {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  const size_t axis = AxisOf(loop.axis);
  KILN_CHECK(!bound_[axis], "a loop on an axis inside another");
  const Value zero = code_.ConstantIndex(0), number = numbers_[axis] ? numbers_[axis] : zero;
  Value here;
  const auto compare = [&](arith::CmpIPredicate is, int64_t bound) {
    here = And(code_, here, arith::CmpIOp::create(b, is, number, code_.ConstantIndex(bound)));
  };
  if (loop.first > 0) compare(arith::CmpIPredicate::uge, loop.first);
  if (loop.first + loop.count < kernel_.sizes[axis])
    compare(arith::CmpIPredicate::ult, loop.first + loop.count);
  const auto emit = [&] {
    const Value iteration =
        loop.first == 0 ? number
                        : arith::SubIOp::create(b, number, code_.ConstantIndex(loop.first)).getResult();
    // Emits an unused constant. Values that are hoisted to this loop's level are placed after it, and so after the
    // values that are hoisted to outer levels.
    mlir::Operation* const anchor = arith::ConstantIndexOp::create(b, 0);
    code_.InLevel(b.getInsertionBlock(), anchor, [&] {
      memory_.loads().InRegion([&] {
        code_.context().ForEachCopy(loop, [&](int64_t, int64_t) {
          indices_.SetAtom(code_.indices().num_atoms() - 1, iteration);
          bound_[axis] = true;
          code_.context().With(loop.decided, true, [&] { Emit(body); });
          bound_[axis] = false;
        });
      });
    });
  };
  if (!here || !HasAcross(body)) return If(here, emit);
  active_.push_back(here);
  emit();
  active_.pop_back();
}

void KernelEmitter::EmitSync(const plan::Sync& sync) {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  const auto constant = [&](int64_t n) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(n)).getResult();
  };
  memory_.loads().ForgetWritten();
  if (sync.groups >= 0) nvvm::CpAsyncWaitGroupOp::create(b, sync.groups);
  const int64_t threads = kernel_.threads();
  if (threads == 1 || sync.scope == Owner::kThread) return;
  if (sync.scope == Owner::kWarp || threads <= kWarp) {
    nvvm::SyncWarpOp::create(b, LanesOfWarp(code_, thread_, threads));
  } else if (sync.scope == Owner::kWarpgroup && threads > kWarpgroup && threads % kWarpgroup == 0) {
    const Value group = arith::DivUIOp::create(b, thread_, constant(kWarpgroup));
    nvvm::BarrierOp::create(b, mlir::Type(), arith::AddIOp::create(b, group, constant(1)),
                            constant(kWarpgroup), nvvm::BarrierReductionAttr(), Value());
  } else {
    KILN_CHECK(sync.scope <= Owner::kBlock, "a sync of more than a block");
    nvvm::BarrierOp::create(b);
  }
}

void KernelEmitter::EmitCommit() { nvvm::CpAsyncCommitGroupOp::create(code_.b()); }

KernelEmitter::Value KernelEmitter::AtZero(const std::vector<size_t>& axes) {
  Value all;
  for (const size_t axis : axes) {
    if (!numbers_[axis]) continue;
    all = And(
        code_, all,
        arith::CmpIOp::create(code_.b(), arith::CmpIPredicate::eq, numbers_[axis], code_.ConstantIndex(0)));
  }
  return all;
}

KernelEmitter::Value KernelEmitter::Runs() {
  std::vector<size_t> outside;
  for (size_t axis = 0; axis < bound_.size(); ++axis)
    if (!bound_[axis]) outside.push_back(axis);
  Value runs = AtZero(outside);
  for (const Value condition : active_) runs = And(code_, runs, condition);
  return runs;
}

void KernelEmitter::EmitLeaf(const plan::Leaf& leaf) {
  const Value runs = Runs();
  if (!leaf.across) {
    return If(runs, [&] {
      if (!EmitCopy(memory_, leaf)) Emitter::EmitLeaf(leaf);
    });
  }
  // Copies the leaf with only those conditions that do not depend on the reduction's loops. They hold for all threads
  // whose values are combined, or for none of them, and then there is no result to store.
  plan::Leaf of_result = leaf;
  std::erase_if(of_result.asks, [&](int condition) {
    const std::vector<Id>& reduced = code_.plan().blocks.at(leaf.block).reduction_loops;
    return absl::c_any_of(code_.plan().conditions[condition].loops,
                          [&](Id loop) { return absl::c_linear_search(reduced, loop); });
  });
  const auto test = TestOfLeaf(leaf), has_result = TestOfLeaf(of_result);
  KILN_CHECK(test.has_value(), "a reduction of threads without an instance");
  const std::vector<size_t> axes = AxesAcross(code_.program(), code_.plan(), leaf);
  const Value stores = And(code_, And(code_, Runs(), AtZero(axes)), *has_result);
  ThreadReduction reduction(code_, kernel_, axes, numbers_, thread_, stores);
  InstanceEmitter(memory_, leaf)
      .EmitAcross(reduction, And(code_, runs, *test), MaskOfLeaf(leaf), MaskOfLeaf(of_result));
}

}  // namespace kiln
