// Requests to compile programs in a kiln-builder process, and their results, as plain structs. The pool (pool.h), in
// the process that tunes, and kiln-builder (main.cc) share them. Nothing here depends on MLIR or LLVM.
//
// A build for CPUs runs Lower -> Codegen -> LinkShared. The result has the entry point SYMBOL and, if the program has a
// prepare phase, SYMBOL_prepare. Both take the program's parameters in order and then the arrays that prepare writes
// (BuildResult::prepared), each as a bare pointer, and return 0, or the program's status. If loops run on threads,
// SYMBOL_set_threads(int) sets their number, which is one at first (backends/cpu/passes/outline_parallel.h). With many
// parameters (BuildRequest::table_above), SYMBOL_by_table and SYMBOL_prepare_by_table do the same and take one table of
// pointers (backends/codegen/table_entry.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/ptxas.h"
#include "backends/runner/launch.h"
#include "lang/program/program.h"
#include "lang/target/policies.h"

namespace kiln {

enum class BuildOutput {
  kSharedObject,  // bytes of an ELF shared object that needs libc and libm only
  kObject,        // bytes of a relocatable object
  kProgram,       // text: the program of the request
  kMlir,          // text: scf, arith, math, vector and memref operations, before any conversion
  kLlvm,          // text: LLVM IR after its passes
  kAssembly,      // text
  kPlan,          // text: the decomposed program and its loop plan, of which kMlir is made

  // Outputs for GPUs only. Of the outputs above, GPUs have kProgram, kPlan, kMlir and kLlvm.
  kNvvm,      // text: the LLVM dialect with nvvm operations
  kPtx,       // text
  kCubin,     // bytes that the driver loads; refused if a kernel spills or has a stack (backends/gpu/ptxas.h)
  kSass,      // text: the machine instructions of the cubin, refused or not
  kEmulated,  // bytes of a shared object that the emulator runs (backends/gpu/emulate.h)
};

struct BuildLimits {
  double seconds = 30;               // wall-clock time
  int64_t bytes = int64_t{2} << 30;  // memory in addition to that of the idle process
};

// If a program's parameters and prepared arrays together are more than this, its entry points also get a version that
// takes a table of pointers. A request may set another number (BuildRequest::table_above).
inline constexpr int64_t kManyParameters = 64;

struct BuildRequest {
  std::string program = {};  // Serialize (lang/text/serialize.h)
  // If not empty, the text of an MLIR module, which is compiled in place of a program (backends/model/driver.h). The
  // module defines the functions `entries`. The only output is kObject.
  std::string module = {};
  std::vector<std::string> entries = {};
  // True: `module` is one function on tensors, which is lowered to the entry point SYMBOL
  // (backends/lower/lower_foreign.h). Then `entries` is empty and `lifts_allocations` is true.
  bool foreign = false;
  bool doubles = false;  // of a foreign function: f64 in place of all other floats
  std::string symbol = "kernel";
  std::vector<BuildOutput> outputs = {BuildOutput::kSharedObject};
  bool contract = true;  // a * b + c as one fused operation (backends/lower/lower.h)
  Policies policies = {};
  // True: the caller passes the memory of temporaries, one more parameter for each of BuildResult::workspaces, after
  // the prepared ones. SYMBOL_prepare does not take them.
  bool lifts_allocations = false;
  // With lifts_allocations: the limit of threads, 2 to 64, for loops whose iterations have temporaries of their own.
  // Each thread gets a piece of the caller's memory.
  int pieces = 8;
  int alignment = 64;  // in bytes, promised by callers for every pointer; 1: no promise
  // True: a shared object contains the thread pool for parallel loops, and names the libraries that it needs. False: it
  // uses those of the process that loads it.
  bool stands_alone = false;
  // SYMBOL_by_table, which takes a table of pointers, exists if the program's parameters and prepared arrays together
  // are more than this; workspaces do not count. With 0, any parameter is enough. Modules and GPUs have no tables.
  int64_t table_above = kManyParameters;
  // The machine that code is compiled for (backends/cpu/machine.h). For a GPU, `triple` is nvptx64-nvidia-cuda, and
  // `cpu` is ptxas's name for the GPU, such as sm_90a. An empty triple means this machine.
  std::string triple = {}, cpu = {}, features = {};
  bool print_after_all = false;
  BuildLimits limits = {};
  // If not empty, the folder of an object cache (object_cache.h): results are looked up in the cache before they are
  // built, and stored there. The key is a hash of the program's structure, the options that change the code, the
  // machine, and the builder's identity. Builds of modules and foreign functions are not cached, nor are requests for
  // text outputs or with print_after_all.
  std::string object_folder = {};
  // If not empty, the pool caches the result under this key, also that of a failed build, but not that of an
  // interrupted one. It answers further requests with the same key from the cache, without looking at their programs
  // and options. HashOf (lang/text/hash.h) and the options that vary make a good key.
  std::string cache_key = {};
};

enum class BuildStatus {
  kOk,
  kBuildFailed,  // lowering failed, the compiler crashed, or a limit was reached; `error` says which
  kInterrupted,  // no result: the pool was stopped
};

struct PreparedParam {
  std::string dtype;  // on CPUs, i8 for u8 and i1
  int64_t elements = 0;
};

struct BuildResult {
  BuildStatus status = BuildStatus::kInterrupted;
  std::string error = {};                 // a message for people; empty if ok
  std::vector<std::string> outputs = {};  // one for each of BuildRequest::outputs
  bool has_prepare = false;
  std::vector<PreparedParam> prepared = {};
  std::vector<int64_t> workspaces = {};  // bytes of each, with lifts_allocations
  bool has_status = false;               // of a foreign function: whether it may return something else than 0
  bool takes_threads = false;  // whether SYMBOL_set_threads exists; known if object code was generated
  bool has_table = false;      // whether SYMBOL_by_table exists; known if object code was generated
  LaunchList launches = {};    // of a GPU
  // With the output kCubin or kSass: what ptxas reports of each kernel (registers, spills, ...), and its warnings.
  std::vector<KernelFacts> kernels = {};
  std::vector<std::string> warnings = {};
  std::string passes = {};   // with print_after_all: the text after each pass
  double seconds = 0;        // time of the build, without waiting
  bool from_folder = false;  // everything came from object_folder
  std::string remark = {};   // why the object could not be stored there, if so

  bool ok() const { return status == BuildStatus::kOk; }
};

std::string Encode(const BuildRequest& request);
std::string Encode(const BuildResult& result);

// Convert bytes of Encode back to a request or a result. Return false, and an unspecified value, if the bytes are too
// short or too long, or contain an unknown output or status.
bool Decode(const std::string& bytes, BuildRequest* request);
bool Decode(const std::string& bytes, BuildResult* result);

}  // namespace kiln
