// Requests to run, check and time kernels in a kiln-runner process, and their results, as plain structs. The pool
// (pool.h), in the process that tunes, and kiln-runner (main.cc) share them. Nothing here depends on programs, MLIR or
// LLVM.
//
// A kernel is a function `int f(void* p0, void* p1, ...)` in a shared object, with one bare pointer for each parameter,
// in order (also for a scalar), or `int f(void* const* p)` with a table of these pointers. It returns 0 for success.
// Times are in seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/runner/data.h"
#include "backends/runner/timing_policy.h"

namespace kiln {

// The limit of parameters of a kernel that takes each as an argument of its own. A kernel that takes a table of
// pointers may have any number.
inline constexpr int kMaxKernelParams = 64;

// The tolerance of a comparison: two floats agree if |found - wanted| <= absolute + relative * |wanted|. NaN agrees
// with NaN, and an infinity with the same infinity. Integers must be equal, whatever the tolerance.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

struct KernelParam {
  enum Role : int {
    kInput,      // filled before the first run (data.h); writing to it is an error
    kConstant,   // like an input, but prepare may read it
    kScalar,     // an input with one element
    kOutput,     // filled with a pattern; compared with the reference after the first run and the timing
    kPrepared,   // written by the prepare function, read by the kernel
    kWorkspace,  // scratch memory of the kernel; holds a pattern at first, and is not compared
  };
  std::string dtype = {};  // f64 f32 f16 bf16 i1 i8 u8 i16 i32 i64 index; an i1 is one byte, an index eight
  int64_t elements = 0;
  Role role = kInput;
  // The bytes of an input, constant or scalar. If empty, the runner generates values from the request's data_seed, the
  // parameter's position and `range` (FillInput in data.h).
  std::string data = {};
  DataRange range = {};
  Tolerance tolerance = {};  // of an output
};

// The matrix product C[m, n] = A[m, k] * B[k, n] of row-major f32, computed by a library of the machine.
struct LibraryProduct {
  std::vector<std::string> libraries =
      {};  // paths or names for the loader; the first library that has the function is used
  std::string symbol = "cblas_sgemm";  // or dnnl_sgemm
  int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;  // A is stored as [k, m], B as [n, k]
  uint64_t a = 0, b = 1, c = 2;                     // positions of the parameters
};

// Data of a kernel that only some machines need, such as the list of a GPU's launches. The tag says what the bytes are.
// Runners refuse a kernel with a tag that they do not know.
struct KernelField {
  uint32_t tag = 0;
  std::string bytes = {};
};

struct KernelObject {
  std::string shared_object = {};  // the bytes of an ELF shared object that needs libc and libm only
  std::string symbol = {};
  bool takes_table = false;  // `symbol` and `prepare_symbol` take a table
  // The name of a function with the kernel's parameters, which the runner calls once before the kernel. The function
  // computes the prepared parameters from constants.
  std::optional<std::string> prepare_symbol = {};
  // The name of a function `void f(int)`, which the runner calls first, with RunRequest::threads. The kernel then calls
  // kiln_parallel_for, which the runner defines, to run on several threads.
  std::optional<std::string> threads_symbol = {};
  std::vector<KernelParam> params = {};
  // The alignment of the kernel's temporaries. The kernel asks malloc for this many bytes more than it needs, and uses
  // memory from the next multiple of this number on.
  int64_t heap_alignment = 0;
  std::optional<LibraryProduct> product = {};  // replaces the shared object and its symbols
  std::vector<KernelField> fields = {};
};

// A kernel with constant work (design D12), which the runner times before and after each sample. Its slowdown is its
// time divided by `seconds`. The sample is divided by the mean of both slowdowns, or by the smaller one if the other is
// more than twice as large. This reduces the effect of varying clock rates and of other programs on the core. An
// untimed run brings the reference kernel's data into the caches. Its results are not checked. On a GPU it runs before
// the first and after the last sample only, and samples are not divided by its slowdown.
struct ReferenceKernel {
  KernelObject kernel = {};
  double seconds = 0;  // of one undisturbed run
};

struct RunLimits {
  double seconds = 10;               // wall-clock limit of the whole request, from fork to answer
  int64_t bytes = int64_t{4} << 30;  // memory limit of parameters and kernel together
};

// Stress runs of a kernel, which follow the timing unless a stop rule ended it. In each of `sets` runs the float inputs
// have widely spread magnitudes (FillStress in data.h), different in each set. An output counts as wrong only if it is
// not finite where the reference is finite, since the size of legitimate errors is unknown there.
struct StressInputs {
  int sets = 0;
  // Paths of a file to compare with and of a file to write, as in RunRequest, with the outputs of each set in turn.
  // Empty: none. In a written file, a float is NaN if it is not finite with inputs a fifth smaller or a quarter larger,
  // since rounding might then decide.
  std::string reference = {};
  std::string write_reference_to = {};
};

// Calls of a second function in the kernel's shared object after the timing. The function computes the same, and stores
// the time before its first call and after each call (ProfileDriverOf in backends/model/driver.h). Only kernels that
// take a table have such a function.
struct ProfiledRuns {
  std::string symbol = {};
  int calls = 0, runs = 0;
};

struct RunRequest {
  KernelObject kernel = {};
  // More kernels, which one process times in turns with `kernel`: kernel, peers[0], peers[1], then backwards, and so
  // on. Parameters at the same position with the same dtype, size, role, data and range share memory, except prepared
  // ones. All kernels are checked with the same reference. The first failure is the result of the request.
  std::vector<KernelObject> peers = {};
  uint64_t data_seed = 0;
  int threads = 1;  // threads of the pool that kernels use, each pinned to one of the runner's cores, in turn
  TimingPolicy timing = {};
  RunLimits limits = {};
  std::optional<ReferenceKernel> reference_kernel = {};
  // The path of a file with the wanted bytes of all outputs, one after the other in the order of parameters. Empty:
  // outputs are not compared.
  std::string reference = {};
  // The path to which the runner writes the bytes of all outputs of `kernel`, in the format of `reference`; empty:
  // nowhere. If the result is not ok, the file may be incomplete or wrong.
  std::string write_reference_to = {};
  StressInputs stress = {};
  std::optional<ProfiledRuns> profile = {};  // of `kernel`
};

enum class RunStatus {
  kOk,
  kCrashed,        // died from a signal, or ended the process itself
  kTimedOut,       // was stopped at limits.seconds
  kOutOfMemory,    // failed after an allocation beyond limits.bytes was refused, or its parameters are larger
  kWrongResult,    // outputs differ from the reference
  kLoadFailed,     // no ELF shared object, no such symbol, no threads, or an invalid request
  kGuardViolated,  // accessed memory outside its parameters and temporaries, or wrote to an input
  kNonZeroStatus,  // the kernel returned a nonzero value
  kInterrupted,    // no result: the pool was stopped, or the runner was killed from outside
};

// Returns the name of the status, spelled as in search/outcome.h.
absl::string_view RunStatusName(RunStatus status);

struct RunResult {
  RunStatus status = RunStatus::kInterrupted;
  std::string detail = {};           // one line for people; empty if ok
  int signal = 0;                    // the signal, if it crashed from one
  std::vector<double> seconds = {};  // one sample for each reported run, in the order taken
  // The raw data of the timing, two numbers for each round. First the seconds of the sample by the clock; with one
  // thread, without the time in which another process had the core. Then the slowdown of the reference kernel before or
  // after the sample, the larger of the two; on a GPU, RunResult::slowdown of the whole run. The slowdown is 1 without
  // a reference kernel.
  std::vector<double> raw_samples = {};
  bool quiet = false;         // true if `seconds` are the faster half of the quiet samples (TimingPolicy)
  double slowdown = 1;        // median slowdown of the reference kernel around the samples
  double least_slowdown = 1;  // below 1, ReferenceKernel::seconds was too long
  int retaken = 0,
      preempted = 0;  // repeated samples (TimingPolicy::retakes), and disturbed samples that were kept
  std::vector<std::vector<double>> peer_seconds =
      {};  // of each peer; without a reference kernel, sample i has the round of seconds[i]
  std::vector<std::vector<double>> peer_raw_samples = {};  // with the same rounds as `raw_samples`
  std::vector<int> peer_preempted = {};                    // of each peer
  double prepare_seconds = 0;
  std::vector<std::vector<double>> call_seconds = {};  // of each profiled run, by call
  bool lower_bound = false;                            // a stop rule ended the timing
  // The largest |found - wanted| / (absolute + relative * |wanted|) over all outputs; above 1 the result is
  // wrong.
  double max_error = 0;
};

}  // namespace kiln
