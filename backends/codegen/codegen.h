// From a lowered MLIR module to object code.
//
// The module holds func, scf, cf, arith, math, ub, vector (1-D vectors) and memref (static shapes, identity
// layout) operations; LLVM dialect operations may be mixed in. What happens to it, one line a Stage:
//   kMlir         the module as given, verified
//   kMath         f16 and bf16 arithmetic done in f32, math expanded (narrow_floats.h, expand_math.h)
//   kLlvmDialect  parallel loops are functions (outline_parallel.h), scf -> cf, then one conversion of all;
//                 memrefs are bare pointers
//   kLlvm         LLVM IR with the attributes of the machine and of the entry points
//   kOptimized    after the pipeline: kMinimal promotes register tiles, splits addresses and hoists, no more,
//                 and lets innermost addresses step (step_pointers.h); kO3 is LLVM's; then masks for which
//                 there is no instruction (masked_memory.h)
//   kAssembly     what the object holds
//
// An entry point becomes `int32_t NAME(void* ...)`, one pointer for each memref: a func without results
// returns 0. All other functions become private to the object, but `void NAME_set_threads(int32_t)`, NAME
// being that of the first entry point, where loops run on threads. A memref<Nxi1> holds a byte for each
// element in scalar code, and bits in vector code: use i8 in memory.
//
// a * b + c becomes one instruction where the module says fma, or fastmath<contract> on both operations;
// vector_math.h says so of what it makes.
//
// Results call nothing but libc (memcpy, malloc) and libm, which link.h checks, and the weak
// kiln_parallel_for.
//
// A body that is called through a pointer: func.constant, and LLVM dialect operations joined to the rest by
// unrealized_conversion_cast, fold away here; `{llvm.noalias, llvm.align = 64}` on a memref argument of any
// function is kept. outline_parallel.h makes such bodies.
//
// Measured for a candidate (CPU ms on Zen 3, warm; matmul with a register tile of 4 rows x 2 vectors,
// kMinimal): verify 0.2, math 0.0, convert 1.3, translate 0.6, optimize 0.7, emit 4.5; 7.6 together, and 1.7
// more for link.h. The first in a process takes 4 more.
//
// Replace it when objects should come from elsewhere than LLVM's CPU targets. Not thread-safe: one per
// builder process.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/machine.h"

namespace mlir {
class ModuleOp;
}

namespace kiln {

enum class Stage { kMlir, kMath, kLlvmDialect, kLlvm, kOptimized, kAssembly };

// mlir, math, llvm-dialect, llvm, optimized, asm
const char* StageName(Stage stage);

struct EntryPoint {
  std::string name = "";
  bool noalias = false;  // the caller promises that no two of its buffers overlap
  int alignment = 64;    // of every pointer argument, in bytes; 1 promises nothing
};

struct CodegenOptions {
  std::vector<EntryPoint> entries = {};
  enum class Pipeline { kMinimal, kO3 } pipeline = Pipeline::kMinimal;
  bool polynomials = true;                  // false: exp, tanh, ... call libm
  std::ostream* print_after_all = nullptr;  // every pass, then every stage: pass_printer.h
};

// Milliseconds of CPU time of the calling thread.
struct StageTimes {
  double verify = 0, math = 0, convert = 0, translate = 0, optimize = 0, emit = 0;
  double total() const { return verify + math + convert + translate + optimize + emit; }
};

struct ObjectCode {
  std::string bytes;           // a relocatable object, position independent
  bool takes_threads = false;  // it defines NAME_set_threads
  StageTimes times;            // with print_after_all, printing is not counted
};

class Codegen {
 public:
  // kInvalidArgument when LLVM has no backend for the machine.
  static absl::StatusOr<std::unique_ptr<Codegen>> Create(const MachineTarget& machine);
  ~Codegen();

  // Consumes the module's content: it is lowered in place, and is worth nothing afterwards whatever the
  // outcome. kInvalidArgument: the module does not verify, lacks an entry point, or holds an operation
  // without a lowering, which is named. kInternal: LLVM refused what Kiln made. Messages hold MLIR's and
  // LLVM's diagnostics.
  absl::StatusOr<ObjectCode> Compile(mlir::ModuleOp module, const CodegenOptions& options);

  // The text of one stage, for `kiln show --stage`; compiles no further than that. Consumes the module too.
  absl::StatusOr<std::string> Text(mlir::ModuleOp module, const CodegenOptions& options, Stage stage);

  const MachineTarget& machine() const;

 private:
  struct Impl;
  explicit Codegen(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
