// What a builder is asked and what it answers: plain values, shared by the pool (pool.h, in our process) and
// by the kiln-builder process (main.cc). Nothing here knows of MLIR or LLVM.
//
// A build is Lower -> Codegen -> LinkShared. The entry points of what comes out are SYMBOL and, where the
// program has a prepare phase, SYMBOL_prepare; both take the program's parameters in order and then what
// prepare writes (BuildResult::prepared), each as a bare pointer, and return 0. Where loops run on threads,
// they do on as many as SYMBOL_set_threads(int) was told, one at first (backends/cpu/passes/outline_parallel.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

enum class BuildOutput {
  kSharedObject,  // bytes of an ELF shared object that needs libc and libm only
  kObject,        // bytes of a relocatable object
  kProgram,       // text: the program as it was sent
  kMlir,          // text: scf, arith, math, vector and memref operations, before anything is converted
  kLlvm,          // text: LLVM IR after its passes
  kAssembly,      // text
};

struct BuildLimits {
  double seconds = 30;               // wall-clock time
  int64_t bytes = int64_t{2} << 30;  // memory beyond what the idle process has
};

struct BuildRequest {
  std::string program = {};  // Serialize (lang/text/serialize.h)
  std::string symbol = "kernel";
  std::vector<BuildOutput> outputs = {BuildOutput::kSharedObject};
  bool contract = true;  // a * b + c as one fused operation (backends/lower/lower.h)
  int alignment = 64;    // that callers promise for every pointer, in bytes; 1 promises nothing
  // A shared object brings the threads of parallel loops along and names its libraries; else it has those of
  // whoever loads it.
  bool stands_alone = false;
  // The machine that code is made for (backends/cpu/machine.h). An empty triple: this one.
  std::string triple = {}, cpu = {}, features = {};
  bool print_after_all = false;
  BuildLimits limits = {};
  // Not empty: objects are looked up there before they are built, and kept there (object_cache.h), under the
  // structural hash of the program, the options above, the machine, and the builder's own identity.
  std::string object_folder = {};
  // Not empty: the pool keeps the result under it and answers further requests with the same key from there,
  // whatever else they say. HashOf (lang/text/hash.h) and the options that vary make a good one.
  std::string cache_key = {};
};

enum class BuildStatus {
  kOk,
  kBuildFailed,  // no lowering, a crash of the compiler, or a limit was reached: `error` says which
  kInterrupted,  // says nothing about the program: the pool was stopped
};

struct PreparedParam {
  std::string dtype;  // i8 for u8
  int64_t elements = 0;
};

struct BuildResult {
  BuildStatus status = BuildStatus::kInterrupted;
  std::string error = {};                 // one line for a person; empty when ok
  std::vector<std::string> outputs = {};  // one for each of BuildRequest::outputs
  bool has_prepare = false;
  std::vector<PreparedParam> prepared = {};
  bool takes_threads = false;  // there is SYMBOL_set_threads; told where object code was made
  std::string passes = {};     // with print_after_all: the result of each pass
  double seconds = 0;          // of the build, without waiting
  bool from_folder = false;    // all is from object_folder
  std::string remark = {};     // why it could not be kept there, if so

  bool ok() const { return status == BuildStatus::kOk; }
};

std::string Encode(const BuildRequest& request);
std::string Encode(const BuildResult& result);

// False, and an unspecified value, for bytes that are not what Encode made.
bool Decode(const std::string& bytes, BuildRequest* request);
bool Decode(const std::string& bytes, BuildResult* result);

}  // namespace kiln
