#include "backends/codegen/convert_to_llvm.h"

#include "absl/strings/str_cat.h"
#include "backends/codegen/convert_access.h"
#include "backends/codegen/diagnostics.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

namespace kiln {
namespace {

mlir::ConversionConfig Config() {
  mlir::ConversionConfig config;
  config.allowPatternRollback = false;
  config.foldingMode = mlir::DialectConversionFoldingMode::Never;
  return config;
}

// Turns llvm.expect on branch conditions into branch weights, so that LLVM gives registers to the code that
// runs often.
void WeighBranches(mlir::ModuleOp module) {
  module.walk([](mlir::cf::CondBranchOp branch) {
    auto expect = branch.getCondition().getDefiningOp<mlir::LLVM::ExpectOp>();
    if (!expect) return;
    const int32_t yes = mlir::matchPattern(expect.getExpected(), mlir::m_One()) ? 1000 : 1;
    const int32_t weights[] = {yes, 1001 - yes};
    branch.setBranchWeights(llvm::ArrayRef(weights));
    branch.getConditionMutable().assign(expect.getVal());
    expect.erase();
  });
}

}  // namespace

LlvmConverter::LlvmConverter(mlir::MLIRContext& context) {
  mlir::RewritePatternSet control_flow(&context);
  mlir::populateSCFToControlFlowConversionPatterns(control_flow);
  control_flow_ = std::move(control_flow);

  mlir::LowerToLLVMOptions options(&context);
  options.useBarePtrCallConv = true;
  types_ = std::make_unique<mlir::LLVMTypeConverter>(&context, options);
  types_->addConversion(
      [](mlir::BFloat16Type type) { return mlir::IntegerType::get(type.getContext(), 16); });
  types_->addConversion([](mlir::VectorType type) -> std::optional<mlir::Type> {
    if (type.getRank() != 1 || !type.getElementType().isBF16()) return std::nullopt;
    return type.clone(mlir::IntegerType::get(type.getContext(), 16));
  });
  mlir::RewritePatternSet all(&context);
  AddAccessPatterns(*types_, all);
  mlir::vector::populateVectorBroadcastLoweringPatterns(all);
  mlir::vector::populateVectorMaskOpLoweringPatterns(all);
  mlir::vector::populateVectorMaskMaterializationPatterns(all, /*force32BitVectorIndices=*/false);
  mlir::vector::populateVectorInsertExtractStridedSliceTransforms(all);
  mlir::vector::populateVectorStepLoweringPatterns(all);
  mlir::vector::populateVectorTransferLoweringPatterns(all, /*maxTransferRank=*/1);
  mlir::populateVectorToLLVMConversionPatterns(*types_, all);
  mlir::populateFinalizeMemRefToLLVMConversionPatterns(*types_, all);
  mlir::populateFuncToLLVMConversionPatterns(*types_, all);
  mlir::arith::populateArithToLLVMConversionPatterns(*types_, all);
  mlir::cf::populateControlFlowToLLVMConversionPatterns(*types_, all);
  mlir::cf::populateAssertToLLVMConversionPattern(*types_, all);
  mlir::populateMathToLLVMConversionPatterns(*types_, all);
  mlir::ub::populateUBToLLVMConversionPatterns(*types_, all);
  all_ = std::move(all);
}

absl::Status OnlyLlvm(mlir::ModuleOp module, llvm::StringRef also) {
  mlir::Operation* leftover = nullptr;
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (mlir::isa<mlir::ModuleOp>(op) || mlir::isa<mlir::LLVM::LLVMDialect>(op->getDialect()) ||
        op->getName().getDialectNamespace() == also)
      return mlir::WalkResult::advance();
    leftover = op;
    return mlir::isa<mlir::UnrealizedConversionCastOp>(op) ? mlir::WalkResult::advance()
                                                           : mlir::WalkResult::interrupt();
  });
  if (leftover == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no lowering for ", Printed([&](auto& os) { leftover->print(os); })));
}

LlvmConverter::~LlvmConverter() = default;

mlir::LogicalResult LlvmConverter::Run(mlir::ModuleOp module,
                                       const std::function<void(const char* pass)>& after) const {
  mlir::MLIRContext& context = *module.getContext();
  mlir::ConversionTarget structured(context);
  structured.addIllegalOp<mlir::scf::ForOp, mlir::scf::IfOp, mlir::scf::WhileOp, mlir::scf::IndexSwitchOp,
                          mlir::scf::ParallelOp, mlir::scf::ForallOp, mlir::scf::ExecuteRegionOp>();
  structured.markUnknownOpDynamicallyLegal([](mlir::Operation*) { return true; });
  if (mlir::failed(mlir::applyPartialConversion(module, structured, control_flow_, Config())))
    return mlir::failure();
  WeighBranches(module);
  after("scf-to-cf");

  mlir::LLVMConversionTarget target(context);
  target.addLegalOp<mlir::ModuleOp>();
  if (mlir::failed(mlir::applyPartialConversion(module, target, all_, Config()))) return mlir::failure();
  after("convert-to-llvm");

  mlir::PassManager passes(&context);
  passes.enableVerifier(false);
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  return passes.run(module);
}

}  // namespace kiln
