// Collects the errors of MLIR and LLVM in a string (Diagnostics), and returns as a string what a function prints to an
// LLVM stream (Printed).
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace kiln {

// While a Diagnostics lives, it collects the error messages of an MLIRContext and an LLVMContext, drops their other
// messages, and prints nothing. After(what) returns "WHAT: ERROR; ERROR", or just `what` without errors.
class Diagnostics {
 public:
  Diagnostics(mlir::MLIRContext& context, llvm::LLVMContext& llvm_context)
      : handler_(&context, [this](mlir::Diagnostic& diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) Add(diagnostic.str());
          return mlir::success();
        }) {
    llvm_context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo* info, void* self) {
          if (info->getSeverity() != llvm::DS_Error) return;
          std::string text;
          llvm::raw_string_ostream stream(text);
          llvm::DiagnosticPrinterRawOStream printer(stream);
          info->print(printer);
          static_cast<Diagnostics*>(self)->Add(text);
        },
        this);
  }
  bool empty() const { return text_.empty(); }
  std::string After(absl::string_view what) const {
    return text_.empty() ? std::string(what) : absl::StrCat(what, ": ", text_);
  }

 private:
  void Add(const std::string& text) { absl::StrAppend(&text_, text_.empty() ? "" : "; ", text); }

  std::string text_;
  mlir::ScopedDiagnosticHandler handler_;
};

template <typename Print>
std::string Printed(Print print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

}  // namespace kiln
