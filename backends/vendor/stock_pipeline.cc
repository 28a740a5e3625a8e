#include "backends/vendor/stock_pipeline.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/context.h"
#include "backends/codegen/link.h"
#include "backends/codegen/stock_passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace kiln {
namespace {

namespace memref = mlir::memref;

mlir::func::FuncOp Find(mlir::ModuleOp module, const std::string& name) {
  mlir::func::FuncOp found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || (name.empty() ? function.isPrivate() : function.getName() != name)) continue;
    if (found) return nullptr;
    found = function;
  }
  return found;
}

absl::Status CheckSignature(mlir::func::FuncOp function) {
  const auto is_static = [](mlir::Type type) {
    const auto shaped = mlir::dyn_cast<mlir::RankedTensorType>(type);
    return shaped && shaped.hasStaticShape();
  };
  if (llvm::all_of(function.getArgumentTypes(), is_static) &&
      llvm::all_of(function.getResultTypes(), is_static))
    return absl::OkStatus();
  return absl::InvalidArgumentError("the baseline takes and returns tensors of static shape only");
}

void Bufferize(mlir::PassManager& passes) {
  mlir::bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = mlir::bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(mlir::bufferization::createOneShotBufferizePass(bufferize));
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  mlir::bufferization::BufferResultsToOutParamsPassOptions out_params;
  out_params.modifyPublicFunctions = true;
  out_params.hoistStaticAllocs = true;
  passes.addPass(mlir::bufferization::createBufferResultsToOutParamsPass(out_params));
  passes.addNestedPass<mlir::func::FuncOp>(mlir::bufferization::createBufferHoistingPass());
  AddLoopPasses(passes);
}

void FreeAtReturn(mlir::func::FuncOp function) {
  mlir::Operation* const ret = function.getBody().back().getTerminator();
  mlir::OpBuilder b(ret);
  for (auto alloc : function.getBody().front().getOps<memref::AllocOp>())
    memref::DeallocOp::create(b, ret->getLoc(), alloc);
}

}  // namespace

absl::StatusOr<std::string> CompileStockPipeline(absl::string_view mlir_text, Codegen& codegen,
                                                 const StockPipelineOptions& options) {
  mlir::MLIRContext& context = Context();
  std::string errors;
  const mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      absl::StrAppend(&errors, errors.empty() ? "" : "; ", diagnostic.str());
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(mlir_text.data(), mlir_text.size()), &context);
  if (!module) return absl::InvalidArgumentError(absl::StrCat("does not parse: ", errors));
  mlir::func::FuncOp function = Find(*module, options.function);
  if (!function)
    return absl::InvalidArgumentError(
        absl::StrCat("no such function, or several public ones: \"", options.function, "\""));
  if (absl::Status status = CheckSignature(function); !status.ok()) return status;
  function.setSymName(options.name);

  mlir::PassManager passes(&context);
  Bufferize(passes);
  if (mlir::failed(passes.run(*module)))
    return absl::InvalidArgumentError(absl::StrCat("stock passes refuse it: ", errors));
  CopiesToLoops(*module);
  FreeAtReturn(module->lookupSymbol<mlir::func::FuncOp>(options.name));

  CodegenOptions codegen_options;
  codegen_options.entries = {{.name = options.name, .noalias = false, .alignment = 1}};
  codegen_options.pipeline = CodegenOptions::Pipeline::kO3;
  codegen_options.polynomials = false;
  absl::StatusOr<ObjectCode> object = codegen.Compile(*module, codegen_options);
  if (!object.ok()) return object.status();
  LinkOptions link;
  link.exports = {options.name};
  return LinkShared({object->bytes}, link);
}

}  // namespace kiln
