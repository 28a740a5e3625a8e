#include "backends/import/import.h"

#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/import/file_kind.h"
#include "backends/import/foreign/dialects.h"
#include "backends/import/import_terminated.h"
#include "backends/import/normalize.h"
#include "backends/import/refusal.h"
#include "backends/import/roles.h"
#include "backends/import/translate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace kiln {
namespace {

void Load(mlir::MLIRContext& context, bool foreign) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::bufferization::BufferizationDialect, mlir::cf::ControlFlowDialect,
                  mlir::complex::ComplexDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::ml_program::MLProgramDialect,
                  mlir::scf::SCFDialect, mlir::sparse_tensor::SparseTensorDialect,
                  mlir::tensor::TensorDialect, mlir::tosa::TosaDialect>();
  mlir::func::registerInlinerExtension(registry);
  if (foreign) AddForeignDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

std::string UnknownDialect(const std::string& where, absl::string_view op) {
  const absl::string_view dialect = op.substr(0, op.find('.'));
  return ToString({where, std::string(op), absl::StrCat("Kiln does not know the dialect ", dialect),
                   absl::StrCat("lower ", dialect, " to linalg on tensors when exporting")});
}

// Returns the text of a parser's error. Errors about unknown dialects, and about tensor.scatter without `unique`,
// become refusals with a hint. If an error does not name the operation, takes its name from the quotes before the
// error's position in the text.
std::string Reworded(const mlir::Diagnostic& diagnostic, absl::string_view text) {
  const std::string message = diagnostic.str(), where = Where(diagnostic.getLocation());
  const auto place = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
  if (absl::StrContains(message, "requires 'unique' attribute")) {
    return ToString(
        {where, "tensor.scatter", "of several writes to one place none is the last",
         "add the attribute unique, if no two indices are the same; otherwise add the rows up first"});
  }
  const size_t custom = message.find("' not found for custom op '");
  if (absl::StartsWith(message, "Dialect `") && custom != std::string::npos) {
    const std::vector<absl::string_view> quoted =
        absl::StrSplit(absl::string_view(message).substr(custom + 1), '\'');
    return UnknownDialect(where, quoted[1]);
  }
  if (place && absl::StrContains(message, "unregistered dialect")) {
    const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
    // Finds the line of the error in the text; uses an empty line if the text has none there, because positions in
    // bytecode refer to another file.
    const absl::string_view line = place.getLine() - 1 < lines.size() ? lines[place.getLine() - 1] : "";
    const absl::string_view before = line.substr(0, place.getColumn() - 1);
    const std::vector<absl::string_view> quoted = absl::StrSplit(before, '"');
    if (quoted.size() >= 3) return UnknownDialect(where, quoted[quoted.size() - 2]);
  }
  return absl::StrCat(where, ": ", message);
}

// Returns the program name for a file: "path/to/conv 2.mlir" -> "conv_2".
std::string Stem(absl::string_view filename) {
  std::string stem(filename.substr(filename.rfind('/') + 1));
  stem = std::string(absl::StripSuffix(stem, ".mlir"));
  for (char& c : stem) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return stem.empty() || std::isdigit(static_cast<unsigned char>(stem[0])) ? absl::StrCat("_", stem) : stem;
}

absl::StatusOr<mlir::func::FuncOp> Entry(mlir::ModuleOp module, absl::string_view filename,
                                         const std::string& wanted) {
  std::vector<mlir::func::FuncOp> found;
  std::string names;
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate()) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", function.getName().str());
    if (function.getName().str() == wanted || (wanted.empty() && function.getName() == "main"))
      return function;
    found.push_back(function);
  }
  if (wanted.empty() && found.size() == 1) return found[0];
  if (names.empty())
    return absl::InvalidArgumentError(absl::StrCat(filename,
                                                   ": no public function with a body\n"
                                                   "  hint: give a module with one func.func"));
  return absl::InvalidArgumentError(absl::StrCat(
      filename, ": ",
      wanted.empty() ? "several public functions" : absl::StrCat("no public function \"", wanted, "\""),
      "\n  hint: choose one with --function NAME, among ", names));
}

// Returns the name of "%NAME" in the text at the location, or the name that the location itself has; "" if there is
// none.
std::string NameAt(mlir::Location location, llvm::SourceMgr& sources) {
  if (const auto named = llvm::dyn_cast<mlir::NameLoc>(location)) return named.getName().str();
  const auto place = llvm::dyn_cast<mlir::FileLineColLoc>(location);
  const unsigned file = sources.getMainFileID();
  if (!place || place.getFilename() != sources.getMemoryBuffer(file)->getBufferIdentifier()) return "";
  const llvm::SMLoc at = sources.FindLocForLineAndColumn(file, place.getLine(), place.getColumn());
  if (!at.isValid()) return "";
  llvm::StringRef text(at.getPointer(),
                       static_cast<size_t>(sources.getMemoryBuffer(file)->getBufferEnd() - at.getPointer()));
  if (!text.consume_front("%")) return "";
  return text.take_while([](char c) { return llvm::isAlnum(c) || llvm::StringRef("_$.-").contains(c); })
      .str();
}

// Returns the names of the arguments of each function in the file, before normalization loses them. Text has names as
// %NAME; bytecode has them only in named locations. An argument without a name gets "".
llvm::StringMap<std::vector<std::string>> ArgumentNames(mlir::ModuleOp module, llvm::SourceMgr& sources) {
  llvm::StringMap<std::vector<std::string>> names;
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal()) continue;
    for (const mlir::BlockArgument argument : function.getArguments())
      names[function.getName()].push_back(NameAt(argument.getLoc(), sources));
  }
  return names;
}

}  // namespace

absl::StatusOr<Imported> ImportLinalg(absl::string_view text, absl::string_view filename,
                                      const ImportOptions& options) {
  return ImportTerminated(std::string(text), filename, options);
}

absl::StatusOr<Imported> ImportTerminated(absl::string_view text, absl::string_view filename,
                                          const ImportOptions& options) {
  if (const auto kind = KindOf(text)) {
    return absl::InvalidArgumentError(absl::StrCat(
        filename, ": ", kind->is, "; Kiln reads linalg on tensors, as MLIR writes it\n  hint: ", kind->hint));
  }
  text = absl::StripPrefix(text, "\xEF\xBB\xBF");  // byte-order mark
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Load(context, options.allow_boundaries);
  context.allowUnregisteredDialects(options.allow_boundaries);
  std::string error;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    if (error.empty() && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      error = Reworded(diagnostic, text);
    }
    return mlir::success();
  });
  llvm::SourceMgr sources;
  const llvm::StringRef buffer(text.data(), text.size()), name(filename.data(), filename.size());
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer, name), {});
  const auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return absl::InvalidArgumentError(error.empty() ? absl::StrCat(filename, ": no module in the file")
                                                    : error);
  llvm::StringMap<std::vector<std::string>> names = ArgumentNames(*module, sources);
  if (mlir::failed(Normalize(*module, options.allow_boundaries))) {
    return absl::InvalidArgumentError(
        error.empty() ? absl::StrCat(filename, ": the module cannot be normalized") : error);
  }
  const auto entry = Entry(*module, filename, options.entry);
  if (!entry.ok()) return entry.status();
  mlir::func::FuncOp function = *entry;
  ImportOptions roles = options;
  if (!options.inputs.empty()) {
    auto constants = ConstantArguments(options.inputs, names[function.getName()], [&](int position) {
      return function.getArgAttr(static_cast<unsigned>(position), "kiln.constant") != nullptr;
    });
    if (!constants.ok())
      return absl::InvalidArgumentError(absl::StrCat(filename, ": ", constants.status().message()));
    roles.constant_arguments = *std::move(constants);
  }
  absl::StatusOr<Imported> imported =
      Translate(function, function.getName() == "main" ? Stem(filename) : function.getName().str(), roles);
  if (imported.ok()) imported->arguments = std::move(names[function.getName()]);
  return imported;
}

}  // namespace kiln
