// The stock pipeline: the same file through upstream MLIR's passes and LLVM -O3. The acceptance test and
// `bench` compare with it.
//
//   one-shot-bufferize (function boundaries, identity layouts) -> buffer-results-to-out-params
//   -> convert-linalg-to-loops -> scf, arith, math (libm calls) to LLVM -> LLVM -O3 for the host
//
// The ABI is that of a Kiln kernel, `int32_t NAME(void* in0, ..., void* out0, ...)`. As in those passes,
// neither alignment nor absence of overlap is promised, products and sums stay separate, and temporary
// buffers are allocated on each call. Strided copies are loops, so nothing but libc and libm is needed.
// Linalg and tensor dialects are loaded on first use. Context() is shared, hence one thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/codegen/codegen.h"

namespace kiln {

struct StockPipelineOptions {
  std::string function = "";      // which function of the file; empty: its only public one
  std::string name = "baseline";  // what the shared object exports
};

// Shared object bytes. kInvalidArgument: the text does not parse, the function is missing or has dynamic
// shapes, or the stock passes refuse it (their diagnostics are in the message). Takes about 100 ms.
absl::StatusOr<std::string> CompileStockPipeline(absl::string_view mlir_text, Codegen& codegen,
                                                 const StockPipelineOptions& options = {});

}  // namespace kiln
