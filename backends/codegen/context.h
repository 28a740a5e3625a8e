// The MLIRContext of the process, with the dialects that lowering emits, the interfaces of bufferization, and
// the translation to LLVM IR.
//
// Created on first use (2 ms) and kept. Multithreading is off, so only one thread at a time may use the
// context and everything in it. Types and attributes live as long as the process.
#pragma once

namespace mlir {
class MLIRContext;
}

namespace kiln {

mlir::MLIRContext& Context();

}  // namespace kiln
