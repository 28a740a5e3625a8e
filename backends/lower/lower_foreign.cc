#include "backends/lower/lower_foreign.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/stock_passes.h"
#include "backends/lower/carry_in_place.h"
#include "backends/lower/lift_allocations.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace kiln {
namespace {

namespace bufferization = mlir::bufferization;
namespace memref = mlir::memref;

void LoadInterfaces(mlir::MLIRContext& context) {
  static const bool loaded = [&] {
    mlir::DialectRegistry registry;
    mlir::arith::registerValueBoundsOpInterfaceExternalModels(registry);
    mlir::memref::registerValueBoundsOpInterfaceExternalModels(registry);
    mlir::scf::registerValueBoundsOpInterfaceExternalModels(registry);
    mlir::tensor::registerValueBoundsOpInterfaceExternalModels(registry);
    mlir::linalg::registerSubsetOpInterfaceExternalModels(registry);
    mlir::tensor::registerSubsetOpInterfaceExternalModels(registry);
    context.appendDialectRegistry(registry);
    for (const char* dialect : {"affine", "bufferization", "linalg", "tensor"})
      context.getOrLoadDialect(dialect);
    return true;
  }();
  (void)loaded;
}

mlir::func::FuncOp OnlyFunction(mlir::ModuleOp module) {
  mlir::func::FuncOp found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (found || function.isExternal()) return nullptr;
    found = function;
  }
  return found;
}

mlir::MemRefType MemoryOf(mlir::Type type) {
  const auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  return mlir::MemRefType::get(tensor.getShape(), tensor.getElementType());
}

// Replaces the tensor parameters of a function by memrefs. Its results become further memref parameters, which it
// writes; the function returns the i32 0.
void TakePointers(mlir::func::FuncOp function) {
  mlir::Block& body = function.getBody().front();
  mlir::Operation* end = body.getTerminator();
  mlir::OpBuilder b(&body, body.begin());
  const mlir::Location loc = function.getLoc();
  for (mlir::BlockArgument argument : body.getArguments()) {
    const mlir::Type type = argument.getType();
    argument.setType(MemoryOf(type));
    auto tensor = bufferization::ToTensorOp::create(b, loc, type, argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
  b.setInsertionPoint(end);
  for (const mlir::Value value : end->getOperands()) {
    const mlir::Value result = body.addArgument(MemoryOf(value.getType()), loc);
    auto write = bufferization::MaterializeInDestinationOp::create(b, loc, value, result);
    write.setRestrict(true);
    write.setWritable(true);
  }
  end->setOperands(
      mlir::ValueRange(mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0)).getResult()));
  function.setFunctionType(b.getFunctionType(body.getArgumentTypes(), b.getI32Type()));
  function.setAllArgAttrs(
      llvm::SmallVector<mlir::DictionaryAttr>(body.getNumArguments(), b.getDictionaryAttr({})));
  function.setAllResultAttrs(llvm::ArrayRef<mlir::DictionaryAttr>(b.getDictionaryAttr({})));
}

// Replaces math.isnormal of scalars, which MLIR does not lower, by the tests of its definition: the least normal number
// <= abs(x) and abs(x) < infinity.
void ExpandIsNormal(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::math::IsNormalOp> found;
  module.walk([&](mlir::math::IsNormalOp op) { found.push_back(op); });
  for (mlir::math::IsNormalOp op : found) {
    const auto type = mlir::dyn_cast<mlir::FloatType>(op.getOperand().getType());
    if (!type) continue;
    mlir::OpBuilder b(op);
    const mlir::Location loc = op.getLoc();
    const auto number = [&](const llvm::APFloat& value) -> mlir::Value {
      return mlir::arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
    };
    const llvm::fltSemantics& semantics = type.getFloatSemantics();
    const mlir::Value size = mlir::math::AbsFOp::create(b, loc, op.getOperand());
    const mlir::Value large =
        mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OGE, size,
                                    number(llvm::APFloat::getSmallestNormalized(semantics)));
    const mlir::Value finite = mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OLT, size,
                                                           number(llvm::APFloat::getInf(semantics)));
    const mlir::Value normal = mlir::arith::AndIOp::create(b, loc, large, finite);
    op.replaceAllUsesWith(normal);
    op.erase();
  }
}

// Rewrites operations that upstream MLIR does not bufferize: math.isnormal, tensor.concat and Winograd convolutions.
// Then runs the canonicalizer and CSE.
mlir::LogicalResult Decompose(mlir::ModuleOp module) {
  ExpandIsNormal(module);
  mlir::RewritePatternSet patterns(module.getContext());
  mlir::tensor::populateDecomposeTensorConcatPatterns(patterns);
  mlir::linalg::populateDecomposeWinogradOpsPatterns(patterns);
  if (mlir::failed(mlir::applyPatternsGreedily(module, std::move(patterns)))) return mlir::failure();
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(module);
}

// Gives each use of a tensor.empty a tensor.empty of its own. Otherwise bufferization would give two carried tensors
// that begin with the same empty tensor one buffer.
void SeparateEmpties(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::tensor::EmptyOp> found;
  module.walk([&](mlir::tensor::EmptyOp op) { found.push_back(op); });
  for (mlir::tensor::EmptyOp op : found) {
    for (mlir::OpOperand& use : llvm::make_early_inc_range(op->getUses())) {
      if (op->hasOneUse()) break;
      mlir::OpBuilder b(op);
      use.set(b.clone(*op)->getResult(0));
    }
  }
}

// Replaces tensors by memrefs (empty-tensor elimination and one-shot bufferization), then runs the canonicalizer and
// CSE. No pass may change loops between CarryInPlace and this function.
mlir::LogicalResult Bufferize(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  passes.addPass(bufferization::createOneShotBufferizePass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return passes.run(module);
}

mlir::LogicalResult MakeLoops(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addNestedPass<mlir::func::FuncOp>(mlir::createForallToForLoopPass());
  AddLoopPasses(passes);
  if (mlir::failed(passes.run(module))) return mlir::failure();
  CopiesToLoops(module);
  return mlir::success();
}

int64_t BytesOfElement(mlir::Type element) {
  return element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

std::optional<int64_t> UpperBound(mlir::Value size) {
  const auto known = mlir::ValueBoundsConstraintSet::computeConstantBound(mlir::presburger::BoundType::UB,
                                                                          {size}, nullptr, /*closedUB=*/true);
  if (mlir::succeeded(known)) return *known;
  mlir::Operation* op = size.getDefiningOp();
  if (mlir::isa_and_present<mlir::arith::IndexCastOp>(op)) return UpperBound(op->getOperand(0));
  if (!mlir::isa_and_present<mlir::arith::MinSIOp, mlir::arith::MaxSIOp>(op)) return std::nullopt;
  const auto a = UpperBound(op->getOperand(0)), b = UpperBound(op->getOperand(1));
  if (mlir::isa<mlir::arith::MaxSIOp>(op)) return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  return a && b ? std::min(*a, *b) : a ? a : b;
}

// Allocates arrays of dynamic size with as many bytes as they may need, if that has a constant bound: alloc(%n) ->
// view(alloc of bytes)[%n]. Leaves other arrays, and those with a layout other than row-major, as they are.
void BoundSizes(mlir::ModuleOp module) {
  llvm::SmallVector<memref::AllocOp> arrays;
  module.walk([&](memref::AllocOp op) {
    if (!op.getType().hasStaticShape() && op.getType().getLayout().isIdentity()) arrays.push_back(op);
  });
  for (memref::AllocOp op : arrays) {
    int64_t bytes = BytesOfElement(op.getType().getElementType());
    for (const int64_t extent : op.getType().getShape())
      bytes *= mlir::ShapedType::isDynamic(extent) ? 1 : extent;
    bool bounded = true;
    for (const mlir::Value size : op.getDynamicSizes()) {
      const std::optional<int64_t> bound = UpperBound(size);
      bounded =
          bounded && bound && *bound >= 0 && !llvm::MulOverflow(bytes, std::max<int64_t>(*bound, 1), bytes);
    }
    if (!bounded) continue;
    mlir::OpBuilder b(op);
    const auto type = mlir::MemRefType::get({bytes}, b.getI8Type());
    const mlir::Value array = memref::AllocOp::create(b, op.getLoc(), type);
    const mlir::Value zero = mlir::arith::ConstantIndexOp::create(b, op.getLoc(), 0);
    const mlir::Value view =
        memref::ViewOp::create(b, op.getLoc(), op.getType(), array, zero, op.getDynamicSizes());
    op.replaceAllUsesWith(view);
    op.erase();
  }
}

// Inserts a free for each array that the function still allocates, at the end of the basic block that allocates it.
// Fails if the memory may leave this block or is an operand of a select.
mlir::LogicalResult FreeTheRest(mlir::func::FuncOp function) {
  llvm::SmallVector<memref::AllocOp> arrays;
  function.walk([&](memref::AllocOp op) { arrays.push_back(op); });
  for (memref::AllocOp op : arrays) {
    llvm::SmallVector<mlir::Value> names = {op.getResult()};
    for (size_t i = 0; i < names.size(); ++i) {
      for (mlir::Operation* user : names[i].getUsers()) {
        if (user->hasTrait<mlir::OpTrait::IsTerminator>() || mlir::isa<mlir::arith::SelectOp>(user))
          return mlir::failure();
        if (mlir::isa<mlir::ViewLikeOpInterface>(user)) names.push_back(user->getResult(0));
      }
    }
    mlir::Operation* end = op->getBlock()->getTerminator();
    mlir::OpBuilder b(end);
    memref::DeallocOp::create(b, op.getLoc(), op);
  }
  return mlir::success();
}

// Returns the arrays that are allocated when the operation runs, and freed later.
llvm::SmallVector<mlir::Value> HeldAt(mlir::Operation* op, mlir::func::FuncOp function) {
  const mlir::DominanceInfo dominance(function);
  llvm::SmallVector<mlir::Value> held;
  function.walk([&](memref::DeallocOp free) {
    if (dominance.properlyDominates(free.getMemref(), op) && !dominance.properlyDominates(free, op))
      held.push_back(free.getMemref());
  });
  return held;
}

// Lowers loops to branches. Lets a failed cf.assert free the arrays that are allocated at this point and return 1.
// Returns whether there is a cf.assert.
mlir::FailureOr<bool> ReturnFailures(mlir::ModuleOp module, mlir::func::FuncOp function) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createSCFToControlFlowPass());
  if (mlir::failed(passes.run(module))) return mlir::failure();
  llvm::SmallVector<mlir::cf::AssertOp> assertions;
  function.walk([&](mlir::cf::AssertOp op) { assertions.push_back(op); });
  if (assertions.empty()) return false;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> held;
  for (mlir::cf::AssertOp op : assertions) held.push_back(HeldAt(op, function));
  mlir::OpBuilder b(module.getContext());
  for (const auto& [op, arrays] : llvm::zip(assertions, held)) {
    mlir::Block* fails = b.createBlock(&function.getBody(), function.getBody().end());
    for (const mlir::Value array : arrays) memref::DeallocOp::create(b, op.getLoc(), array);
    const mlir::Value one = mlir::arith::ConstantOp::create(b, op.getLoc(), b.getI32IntegerAttr(1));
    mlir::func::ReturnOp::create(b, op.getLoc(), one);
    mlir::Block* block = op->getBlock();
    mlir::Block* rest = block->splitBlock(std::next(op->getIterator()));
    b.setInsertionPointToEnd(block);
    mlir::cf::CondBranchOp::create(b, op.getLoc(), op.getArg(), rest, fails);
    op.erase();
  }
  return true;
}

// Replaces all float types of the module by f64, also in constants. A cast between float types becomes its operand.
// Fails if there is a bitcast.
mlir::LogicalResult MakeDoubles(mlir::ModuleOp module) {
  const mlir::WalkResult bits = module.walk([](mlir::Operation* op) {
    return mlir::isa<mlir::arith::BitcastOp, mlir::tensor::BitcastOp>(op) ? mlir::WalkResult::interrupt()
                                                                          : mlir::WalkResult::advance();
  });
  if (bits.wasInterrupted()) return mlir::failure();
  const auto f64 = mlir::Float64Type::get(module.getContext());
  const auto as_double = [](llvm::APFloat value) {
    bool loses = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return value;
  };
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([&](mlir::FloatType) -> std::optional<mlir::Type> { return f64; });
  replacer.addReplacement([&](mlir::FloatAttr attribute) -> std::optional<mlir::Attribute> {
    return mlir::FloatAttr::get(f64, as_double(attribute.getValue()));
  });
  replacer.addReplacement([&](mlir::DenseElementsAttr attribute) -> std::optional<mlir::Attribute> {
    if (!mlir::isa<mlir::FloatType>(attribute.getElementType())) return std::nullopt;
    return attribute.mapValues(f64,
                               [&](const llvm::APFloat& value) { return as_double(value).bitcastToAPInt(); });
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  module.walk([](mlir::Operation* op) {
    if (!mlir::isa<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(op)) return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
  return mlir::success();
}

class Lowering {
 public:
  Lowering(const std::string& symbol, mlir::MLIRContext& context)
      : symbol_(symbol), context_(context), handler_(&context, [this](mlir::Diagnostic& diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            absl::StrAppend(&errors_, errors_.empty() ? "" : "; ", diagnostic.str());
          return mlir::success();
        }) {}

  absl::StatusOr<ForeignCode> Run(absl::string_view text, bool copies, bool doubles) {
    ForeignCode code;
    code.module =
        mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()), &context_);
    if (!code.module) return Refused("it does not parse");
    mlir::func::FuncOp function = OnlyFunction(*code.module);
    if (!function) return Refused("it is not one function");
    if (doubles && mlir::failed(MakeDoubles(*code.module)))
      return Refused("it reads the bits of a float as those of another type");
    function.setSymName(symbol_);
    function.setPublic();
    if (mlir::failed(Decompose(*code.module))) return Refused("it cannot be decomposed");
    if (const absl::Status status = CarryInPlace(function, copies); !status.ok()) return status;
    SeparateEmpties(*code.module);
    TakePointers(function);
    if (mlir::failed(Bufferize(*code.module))) return Refused("it cannot be bufferized");
    BoundSizes(*code.module);
    if (mlir::failed(MakeLoops(*code.module))) return Refused("it cannot be lowered to loops");
    code.workspaces = LiftAllocations(*code.module, symbol_, /*pieces=*/2);
    if (mlir::failed(FreeTheRest(function))) return Refused("a temporary array has no bound for its size");
    const auto fails = ReturnFailures(*code.module, function);
    if (mlir::failed(fails)) return Refused("it cannot be lowered to branches");
    code.has_status = *fails;
    return code;
  }

 private:
  absl::Status Refused(absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat(why, errors_.empty() ? "" : ": ", errors_));
  }

  const std::string& symbol_;
  mlir::MLIRContext& context_;
  std::string errors_;
  mlir::ScopedDiagnosticHandler handler_;
};

}  // namespace

absl::StatusOr<ForeignCode> LowerForeign(absl::string_view text, const std::string& symbol,
                                         mlir::MLIRContext& context, bool doubles) {
  LoadInterfaces(context);
  // Lowers the function with as few copies as possible of the tensors that loops carry (CarryInPlace without `copies`).
  // If this fails, because bufferization needs a copy or for another reason, lowers it again with `copies`.
  auto code = Lowering(symbol, context).Run(text, /*copies=*/false, doubles);
  return code.ok() ? std::move(code) : Lowering(symbol, context).Run(text, /*copies=*/true, doubles);
}

}  // namespace kiln
