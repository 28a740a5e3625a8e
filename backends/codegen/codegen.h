// Compiles a lowered MLIR module to object code.
//
// The module may contain func, scf, cf, arith, math, ub, vector (1-D vectors) and memref (static shapes,
// identity layout) operations, and LLVM dialect operations. The stages of compilation:
//   kMlir         the module as given, verified
//   kMath         f16 and bf16 arithmetic done in f32, math expanded (narrow_floats.h, expand_math.h)
//   kLlvmDialect  parallel loops are functions (outline_parallel.h), scf -> cf, then one conversion of all;
//                 memrefs are bare pointers
//   kLlvm         LLVM IR with the attributes of the machine and of the entry points
//   kOptimized    after the pipeline: kMinimal only promotes register tiles, splits addresses and hoists,
//                 and lets innermost addresses step (step_pointers.h); kO3 is LLVM's; then maxima and minima
//                 (extrema.h), and masks for which there is no instruction (masked_memory.h)
//   kAssembly     the object's code as text
//
// An entry point becomes `int32_t NAME(void* ...)` with one pointer for each memref; a func without results
// returns 0. All other functions become private to the object, except NAME_by_table (EntryPoint::table) and
// `void NAME_set_threads(int32_t)`, which exists if loops run on threads; NAME is the first entry point. A
// memref<Nxi1> has a byte for each element in scalar code but bits in vector code: use i8 in memory.
//
// a * b + c becomes one instruction if the module contains an fma, or fastmath<contract> on both operations.
// The code of vector_math.h is marked so.
//
// The object calls only libc (such as memcpy and malloc) and libm, which link.h checks, and the weak symbol
// kiln_parallel_for.
//
// outline_parallel.h creates functions that are called through pointers. For them, codegen keeps
// `{llvm.noalias, llvm.align = 64}` on memref arguments, and folds func.constant and
// unrealized_conversion_cast between LLVM dialect operations.
//
// Time for a candidate (CPU ms on Zen 3, warm; a matmul with a register tile of 4 rows x 2 vectors,
// kMinimal): verify 0.2, math 0.0, convert 1.3, translate 0.6, optimize 0.7, emit 4.5; together 7.6, and 1.7
// for link.h. The first compilation in a process takes 4 ms longer.
//
// Replace it if objects should come from something else than LLVM's CPU targets. Not thread-safe: one per
// builder process.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/machine.h"
#include "lang/target/policies.h"

namespace mlir {
class ModuleOp;
}

namespace kiln {

enum class Stage { kMlir, kMath, kLlvmDialect, kLlvm, kOptimized, kAssembly };

// Returns the name of a stage: mlir, math, llvm-dialect, llvm, optimized or asm.
const char* StageName(Stage stage);

struct EntryPoint {
  std::string name = "";
  bool noalias = false;  // the caller promises that no two of its buffers overlap
  int alignment = 64;    // of every pointer argument, in bytes; 1 promises nothing
  bool table = false;    // also defines NAME_by_table (table_entry.h)
};

struct CodegenOptions {
  std::vector<EntryPoint> entries = {};
  enum class Pipeline { kMinimal, kO3 } pipeline = Pipeline::kMinimal;
  bool polynomials = true;  // false: exp, tanh and so on call libm
  Policies policies = {};
  std::ostream* print_after_all = nullptr;  // prints the module after every pass and stage: pass_printer.h
};

// The CPU milliseconds that each stage of a compilation took.
struct StageTimes {
  double verify = 0, math = 0, convert = 0, translate = 0, optimize = 0, emit = 0;
  double total() const { return verify + math + convert + translate + optimize + emit; }
};

struct ObjectCode {
  std::string bytes;           // a relocatable, position independent object
  bool takes_threads = false;  // whether it defines NAME_set_threads
  StageTimes times;            // without the time of printing for print_after_all
};

class Codegen {
 public:
  // Creates a code generator. kInvalidArgument if LLVM has no backend for the machine.
  static absl::StatusOr<std::unique_ptr<Codegen>> Create(const MachineTarget& machine);
  ~Codegen();

  // Compiles the module, which is lowered in place and must not be used afterwards. kInvalidArgument if the module does
  // not verify, lacks an entry point, has an entry point that returns something else than nothing or an i32, or
  // contains an operation without a lowering (which is named). kInternal if LLVM rejects Kiln's code. Messages contain
  // the diagnostics of MLIR and LLVM.
  absl::StatusOr<ObjectCode> Compile(mlir::ModuleOp module, const CodegenOptions& options);

  // Compiles the module up to a stage and returns its text after this stage, for `kiln show --stage`. Ignores
  // print_after_all. The module must not be used afterwards. Errors: those of Compile.
  absl::StatusOr<std::string> Text(mlir::ModuleOp module, const CodegenOptions& options, Stage stage);

  const MachineTarget& machine() const;

 private:
  struct Impl;
  explicit Codegen(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
