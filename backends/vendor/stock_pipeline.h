// Compiles a file with the stock pipeline: upstream MLIR's passes and LLVM -O3. The acceptance test and `kiln
// bench` compare Kiln with it.
//
//   one-shot-bufferize (function boundaries, identity layouts) -> buffer-results-to-out-params
//   -> convert-linalg-to-loops -> scf, arith, math (libm calls) to LLVM -> LLVM -O3 for the host
//
// The ABI is that of a Kiln kernel, `int32_t NAME(void* in0, ..., void* out0, ...)`. As in those passes,
// neither alignment nor absence of overlap is promised, products and sums stay separate, and temporary
// buffers are allocated at each call. Strided copies become loops, so that only libc and libm are needed.
// Linalg and tensor dialects are loaded on first use. Context() is shared, so use one thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/codegen/codegen.h"

namespace kiln {

struct StockPipelineOptions {
  std::string function = "";      // the function of the file; empty: its only public one
  std::string name = "baseline";  // the exported name
};

// Compiles a function of the text with the stock pipeline, and returns the bytes of a shared object. kInvalidArgument
// if the text does not parse, if there is no such function, if none is named and several are public, if the arguments
// and results are not all tensors of static shape, or if the stock passes reject it (with their diagnostics); also the
// errors of Codegen::Compile and LinkShared. Takes about 100 ms.
absl::StatusOr<std::string> CompileStockPipeline(absl::string_view mlir_text, Codegen& codegen,
                                                 const StockPipelineOptions& options = {});

}  // namespace kiln
