// The MLIRContext of a process: dialects that lowering emits, bufferization's interfaces, and translation to
// LLVM IR.
//
// Made on first use (2 ms) and kept; multithreading is off, so it belongs to one thread at a time, as
// everything made in it does. Types and attributes live as long as the process.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace kiln {

mlir::MLIRContext& Context();

}  // namespace kiln
