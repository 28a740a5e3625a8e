#include "backends/lower/emit/emit.h"

#include "backends/cpu/passes/outline_parallel.h"
#include "backends/lower/emit/emit_conditions.h"
#include "backends/lower/emit/emit_dot.h"
#include "backends/lower/emit/emit_expr.h"
#include "backends/lower/emit/emit_tile.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

Emitter::Emitter(const Program& program, const IndexPlan& plan, const LowerOptions& options,
                 mlir::ModuleOp module)
    : code_(program, plan, options, module), indices_(code_), buffers_(code_), memory_(indices_, buffers_) {}

void Emitter::EmitFunction(const plan::Entry& entry, const std::vector<Id>& parameters) {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  b.setInsertionPointToEnd(code_.module().getBody());
  llvm::SmallVector<mlir::Type> types;
  for (const Id id : parameters) types.push_back(buffers_.TypeOfParameter(id));
  auto function = mlir::func::FuncOp::create(b, entry.name, b.getFunctionType(types, {b.getI32Type()}));
  mlir::Block* body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  for (size_t i = 0; i < parameters.size(); ++i) buffers_.SetParameter(parameters[i], body->getArgument(i));
  code_.InLevel(body, nullptr, [&] {
    buffers_.Declare([&](Id id) {
      const BufferPlan& buffer = code_.plan().buffers[id];
      return entry.prepare ? buffer.in_prepare : buffer.in_main;
    });
    Emit(entry.nodes);
    buffers_.Free();
    mlir::func::ReturnOp::create(b, buffers_.Status());
  });
}

void Emitter::Emit(const plan::Nodes& nodes) {
  for (const plan::Node& node : nodes) EmitNode(node);
}

void Emitter::EmitNode(const plan::Node& node) {
  if (const auto* loop = node.As<plan::Loop>()) {
    EmitLoop(*loop, node.arms[0]);
  } else if (const auto* branch = node.As<plan::Branch>()) {
    EmitBranch(*branch, node);
  } else if (const auto* by = node.As<plan::Switch>()) {
    EmitSwitch(*by, node);
  } else if (const auto* first = node.As<plan::First>()) {
    EmitFirst(*first, node);
  } else if (const auto* leaf = node.As<plan::Leaf>()) {
    EmitLeaf(*leaf);
  } else if (const auto* call = node.As<plan::Call>()) {
    EmitCall(*call);
  } else if (const auto* prefetch = node.As<plan::Prefetch>()) {
    EmitPrefetch(*prefetch, prefetch->over);
  } else if (const auto* flush = node.As<plan::Flush>()) {
    memory_.Flush(flush->number);
  } else if (node.As<plan::Fence>() != nullptr) {
    mlir::LLVM::FenceOp::create(code_.b(), mlir::LLVM::AtomicOrdering::seq_cst);
  } else if (const auto* sync = node.As<plan::Sync>()) {
    EmitSync(*sync);
  } else {
    EmitCommit();
  }
}

void Emitter::EmitSync(const plan::Sync&) { KILN_CHECK(false, "a sync on a CPU"); }
void Emitter::EmitCommit() { KILN_CHECK(false, "asynchronous stores on a CPU"); }
void Emitter::EmitAxis(const plan::Loop&, const plan::Nodes&) { KILN_CHECK(false, "an axis on a CPU"); }

void Emitter::If(mlir::Value condition, llvm::function_ref<void()> holds,
                 llvm::function_ref<void()> otherwise) {
  EmitIf(code_, memory_.loads(), condition, holds, otherwise);
}

void Emitter::EmitLoop(const plan::Loop& loop, const plan::Nodes& body) {
  const auto emit = [&] {
    code_.context().ForEachCopy(loop, [&](int64_t, int64_t) {
      if (!loop.ahead) return Emit(body);
      const int64_t extent = code_.program().loop(loop.loop).extent.Known();
      If(InRange(indices_, code_.indices().Of(loop.loop), extent, 0, 0), [&] { Emit(body); });
    });
  };
  switch (loop.run) {
    case plan::Run::kOne:
      return memory_.loads().InRegion(emit);
    case plan::Run::kUnrolled:
    case plan::Run::kLanes:
      return emit();
    case plan::Run::kAxis:
      return EmitAxis(loop, body);
    default:
      return EmitFor(loop, body);
  }
}

void Emitter::EmitFor(const plan::Loop& loop, const plan::Nodes& body) {
  mlir::ImplicitLocOpBuilder& b = code_.b();
  const mlir::Value upper = UpperBound(indices_, loop);
  auto run = mlir::scf::ForOp::create(
      b, code_.ConstantIndex(0), upper ? upper : code_.ConstantIndex(loop.count), code_.ConstantIndex(1));
  if (loop.run == plan::Run::kThreads) run->setAttr(kParallelAttribute, b.getUnitAttr());
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(run.getBody());
  const auto emit = [&](int64_t, int64_t) {
    indices_.SetAtom(code_.indices().num_atoms() - 1, run.getInductionVar());
    code_.context().With(loop.decided, true, [&] { Emit(body); });
  };
  code_.InLevel(run.getBody(), nullptr,
                [&] { memory_.loads().InLoop([&] { code_.context().ForEachCopy(loop, emit); }); });
}

void Emitter::EmitBranch(const plan::Branch& branch, const plan::Node& node) {
  const mlir::Value holds = HoldsForAll(indices_, branch.tests);
  const auto then = [&] { code_.context().With(branch.tests, true, [&] { Emit(node.arms[0]); }); };
  const auto otherwise = [&] {
    const auto emit = [&] { Emit(node.arms[1]); };
    branch.decided ? code_.context().With(branch.tests, false, emit) : emit();
  };
  node.arms.size() > 1 ? If(holds, then, otherwise) : If(holds, then);
}

// Emits a Switch node as nested ifs: the first arm if the condition holds for all values of the loops that are not
// bound yet, or else the arm of the value that the condition's terms over bound loops equal. The last arm is not
// tested.
void Emitter::EmitSwitch(const plan::Switch& by, const plan::Node& node) {
  PlanContext& context = code_.context();
  const mlir::Value bound =
      by.values.size() > 1 ? indices_.Scalar(context.BoundValue(by.condition)) : mlir::Value();
  const auto value_from = [&](auto& self, size_t i) -> void {
    const auto here = [&] {
      context.WithBoundary(by.condition, by.values[i], [&] { Emit(node.arms[i + 1]); });
    };
    if (i + 1 == by.values.size()) return here();
    const mlir::Value equals = mlir::arith::CmpIOp::create(code_.b(), mlir::arith::CmpIPredicate::eq, bound,
                                                           code_.ConstantIndex(by.values[i]));
    If(equals, here, [&] { self(self, i + 1); });
  };
  If(
      HoldsForAll(indices_, {by.condition}),
      [&] { context.With({by.condition}, true, [&] { Emit(node.arms[0]); }); },
      [&] { value_from(value_from, 0); });
}

void Emitter::EmitFirst(const plan::First& first, const plan::Node& node) {
  mlir::Value at_first;
  for (const Id loop : first.loops)
    at_first = And(code_, at_first, InRange(indices_, code_.indices().Of(loop), 1, 0, 0));
  If(at_first, [&] { Emit(node.arms[0]); }, [&] { Emit(node.arms[1]); });
}

std::optional<mlir::Value> Emitter::TestOfLeaf(const plan::Leaf& leaf) {
  mlir::Value uniform;
  for (const int condition : leaf.asks) {
    const ConditionTest test = TestOf(indices_, condition);
    if (test.known == false) return std::nullopt;
    uniform = And(code_, And(code_, uniform, test.uniform), test.any);
  }
  return uniform;
}

mlir::Value Emitter::MaskOfLeaf(const plan::Leaf& leaf) {
  mlir::Value mask;
  for (const int condition : leaf.asks) mask = And(code_, mask, TestOf(indices_, condition).mask);
  return mask;
}

void Emitter::EmitLeaf(const plan::Leaf& leaf) {
  if (const auto uniform = TestOfLeaf(leaf))
    If(*uniform, [&] { InstanceEmitter(memory_, leaf).Emit(MaskOfLeaf(leaf)); });
}

void Emitter::EmitPrefetch(const plan::Prefetch& prefetch, absl::Span<const plan::Loop> over) {
  if (!over.empty()) {
    code_.context().ForEachCopy(over[0], [&](int64_t, int64_t) { EmitPrefetch(prefetch, over.subspan(1)); });
    return;
  }
  const int64_t line =
      code_.options().costs.line_bytes / SizeOf(code_.program().buffers[prefetch.buffer].dtype);
  IndexValue at = indices_.Eval(prefetch.address).Uniform();
  for (int64_t l = 0; l < prefetch.lines; ++l, at.constant += line) {
    mlir::memref::PrefetchOp::create(code_.b(), buffers_[prefetch.buffer],
                                     mlir::ValueRange{indices_.Scalar(at)}, prefetch.write, prefetch.locality,
                                     /*isDataCache=*/true);
  }
}

// Emits a call of an intrinsic as a dot-product instruction or, if none fits, as an instruction of a matrix unit. Ends
// the process if neither fits.
void Emitter::EmitCall(const plan::Call& call) {
  const std::string& features = code_.options().features;
  if (auto dot = plan::FindDot(code_.context(), features, call)) return EmitDot(memory_, call, *dot);
  const auto tile = plan::FindTile(code_.context(), features, call);
  KILN_CHECK(tile.has_value(), "a call without an instruction");
  EmitTile(memory_, *tile);
}

}  // namespace kiln
