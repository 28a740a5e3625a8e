// The requests and results of runners as plain values. The pool (pool.h, in our process) and the kiln-runner
// process (main.cc) share them. Nothing here depends on programs, MLIR or LLVM.
//
// A kernel is a function `int f(void* p0, void* p1, ...)` in a shared object, with one bare pointer for each
// parameter, in order (also for a scalar), or `int f(void* const* p)` with a table of these pointers. It
// returns 0 for success. Times are in seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/runner/data.h"
#include "backends/runner/timing_policy.h"

namespace kiln {

// A kernel takes at most this many parameters one by one, and any number in a table.
inline constexpr int kMaxKernelParams = 64;

// Two values agree if |found - wanted| <= absolute + relative * |wanted|. NaN agrees with NaN, and an
// infinity with the same infinity. Integers must be equal, whatever the tolerance.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

struct KernelParam {
  enum Role : int {
    kInput,      // filled before the first run (data.h); writing to it is an error
    kConstant,   // like an input, but prepare may read it
    kScalar,     // an input with one element
    kOutput,     // filled with a pattern that no kernel computes; compared with the reference after the runs
    kPrepared,   // written by the prepare function, read by the kernel
    kWorkspace,  // scratch memory of the kernel; holds a pattern at first, and is not compared
  };
  std::string dtype = {};  // f64 f32 f16 bf16 i1 i8 u8 i16 i32 i64 index; an i1 is one byte, an index eight
  int64_t elements = 0;
  Role role = kInput;
  // The bytes of an input, constant or scalar; empty: FillInput(data_seed, position, ..., range).
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

// What only some machines need, such as the list of a GPU's launches. Runners refuse tags they do not know.
struct KernelField {
  uint32_t tag = 0;
  std::string bytes = {};
};

struct KernelObject {
  std::string shared_object = {};  // the bytes of an ELF shared object that needs libc and libm only
  std::string symbol = {};
  bool takes_table = false;  // `symbol` and `prepare_symbol` take a table
  // A function with the same parameters that is called once before the kernel; it computes the prepared
  // parameters from constants.
  std::optional<std::string> prepare_symbol = {};
  // A function `void f(int)` that is called first with RunRequest::threads. The kernel then calls
  // kiln_parallel_for, which the runner defines.
  std::optional<std::string> threads_symbol = {};
  std::vector<KernelParam> params = {};
  // The kernel asks malloc for this many bytes more than it uses, and uses memory from the next multiple of
  // this number on.
  int64_t heap_alignment = 0;
  std::optional<LibraryProduct> product = {};  // replaces the shared object and its symbols
  std::vector<KernelField> fields = {};
};

// A kernel with constant work (design D12) that runs before and after each sample. The sample is divided by
// the kernel's slowdown relative to `seconds`, which reduces the effect of varying clock rates and of others
// that share the core. Its data are in the caches, and its results are not checked.
struct ReferenceKernel {
  KernelObject kernel = {};
  double seconds = 0;  // of one undisturbed run
};

struct RunLimits {
  double seconds = 10;               // wall-clock limit of the whole request, from fork to answer
  int64_t bytes = int64_t{4} << 30;  // memory limit of parameters and kernel together
};

// Stress runs after the timing, unless a stop rule ended it: in each of `sets` runs the float inputs have
// widely spread magnitudes (FillStress), different in each set. Of the outputs, only finiteness is compared
// with the reference, since the size of legitimate errors is unknown there.
struct StressInputs {
  int sets = 0;
  // Files like those of RunRequest, with the outputs of each set in turn. In a written file, a float is NaN
  // if it is not finite with inputs a fifth smaller or a quarter larger, since rounding might then decide.
  std::string reference = {};
  std::string write_reference_to = {};
};

// After the timing, runs a function of the kernel's shared object that computes the same and tells how long each of its
// calls takes (ProfileDriverOf in backends/model/driver.h). Only kernels that take a table have one.
struct ProfiledRuns {
  std::string symbol = {};
  int calls = 0, runs = 0;
};

struct RunRequest {
  KernelObject kernel = {};
  // Kernels that are timed in turns with `kernel` in one process: kernel, peers[0], peers[1], then backwards,
  // and so on. Parameters at the same position that are equal in all fields share memory. All kernels are
  // checked with the same reference. The first failure is the result of the request.
  std::vector<KernelObject> peers = {};
  uint64_t data_seed = 0;
  int threads = 1;  // threads of the pool that kernels use, each pinned to one of the runner's cores, in turn
  TimingPolicy timing = {};
  RunLimits limits = {};
  std::optional<ReferenceKernel> reference_kernel = {};
  // A file with the bytes of all outputs, one after the other in the order of parameters. Empty: outputs are
  // not compared.
  std::string reference = {};
  // Where to write such a file from the outputs of `kernel`. The file is complete if and only if the result
  // is ok.
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

// Returns the spelling of the status in search/outcome.h.
absl::string_view RunStatusName(RunStatus status);

struct RunResult {
  RunStatus status = RunStatus::kInterrupted;
  std::string detail = {};           // one line for people; empty if ok
  int signal = 0;                    // the signal, if it crashed from one
  std::vector<double> seconds = {};  // one sample for each reported run, in the order taken
  // The raw data: for each round, two numbers. First the sample by the clock (with one thread, without the
  // time that another process had the core). Then the reference kernel's slowdown before or after the sample,
  // the larger of the two (1 without a reference kernel).
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
