#include "backends/cpu/passes/expand_math.h"

#include "backends/cpu/passes/vector_math.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace kiln {
namespace {

const llvm::StringSet<>& PolynomialOps() {
  static const auto* const names = new llvm::StringSet<>(
      {"math.exp", "math.expm1", "math.log", "math.log1p", "math.log2", "math.tanh", "math.erf"});
  return *names;
}

// A listener that lets additions, subtractions and multiplications that a rewrite inserts be fused: it sets
// fastmath<contract>.
struct Contract : mlir::RewriterBase::Listener {
  void notifyOperationInserted(mlir::Operation* op, mlir::OpBuilder::InsertPoint) override {
    if (mlir::isa<mlir::arith::AddFOp, mlir::arith::SubFOp, mlir::arith::MulFOp>(op)) {
      op->setAttr("fastmath", mlir::arith::FastMathFlagsAttr::get(op->getContext(),
                                                                  mlir::arith::FastMathFlags::contract));
    }
  }
};

template <typename Wanted>
mlir::LogicalResult Rewrite(mlir::ModuleOp module, const mlir::FrozenRewritePatternSet& patterns,
                            Wanted wanted) {
  llvm::SmallVector<mlir::Operation*> ops;
  module.walk([&](mlir::Operation* op) {
    if (wanted(op)) ops.push_back(op);
  });
  if (ops.empty()) return mlir::success();
  mlir::GreedyRewriteConfig config;
  config.setStrictness(mlir::GreedyRewriteStrictness::ExistingAndNewOps);
  Contract contract;
  config.setListener(&contract);
  return mlir::applyOpPatternsGreedily(ops, patterns, config);
}

bool NeedsLibm(mlir::Operation* op) {
  return mlir::isa<mlir::math::ErfOp, mlir::math::ErfcOp, mlir::math::CbrtOp, mlir::math::AcoshOp,
                   mlir::math::AsinhOp, mlir::math::AtanhOp, mlir::math::ExpM1Op, mlir::math::Log1pOp>(op);
}

}  // namespace

MathExpander::MathExpander(mlir::MLIRContext& context) {
  mlir::RewritePatternSet polynomials(&context);
  mlir::populateMathPolynomialApproximationPatterns(
      polynomials, [](llvm::StringRef name) { return PolynomialOps().contains(name); });
  mlir::math::populateExpansionPatterns(polynomials, {"fpowi"});
  polynomials_ = std::move(polynomials);
  mlir::RewritePatternSet libm(&context);
  mlir::populateMathToLibmConversionPatterns(libm);
  libm_ = std::move(libm);
}

mlir::LogicalResult MathExpander::Run(mlir::ModuleOp module, bool polynomials, bool fma, bool tables) const {
  if (polynomials && fma) {
    llvm::SmallVector<mlir::Operation*> ops;
    module.walk([&](mlir::Operation* op) {
      if (mlir::isa<mlir::math::MathDialect>(op->getDialect()) || mlir::isa<mlir::arith::DivFOp>(op))
        ops.push_back(op);
    });
    for (mlir::Operation* op : ops) ExpandVectorMath(op, tables);
  }
  const auto first = [&](mlir::Operation* op) {
    return mlir::isa<mlir::math::FPowIOp>(op) ||
           (polynomials && PolynomialOps().contains(op->getName().getStringRef()) &&
            mlir::getElementTypeOrSelf(op->getResult(0).getType()).isF32());
  };
  if (mlir::failed(Rewrite(module, polynomials_, first))) return mlir::failure();
  if (mlir::failed(Rewrite(module, libm_, NeedsLibm))) return mlir::failure();
  const auto has_ipowi = module.walk([](mlir::math::IPowIOp) { return mlir::WalkResult::interrupt(); });
  if (!has_ipowi.wasInterrupted()) return mlir::success();
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(mlir::createConvertMathToFuncs());
  return passes.run(module);
}

}  // namespace kiln
