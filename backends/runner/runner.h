// What a runner is asked and what it answers: plain values, shared by the pool (pool.h, in our process) and
// by the kiln-runner process (main.cc). Nothing here knows of programs, MLIR or LLVM.
//
// A kernel is a function `int f(void* p0, void* p1, ...)` in a shared object: one bare pointer for each
// parameter, in order (a scalar too is passed as a pointer to one element); it returns 0 when all went well.
// Times are in seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/runner/data.h"

namespace kiln {

// A kernel takes at most this many parameters.
inline constexpr int kMaxKernelParams = 64;

// Found and wanted agree when |found - wanted| <= absolute + relative * |wanted|. NaN agrees with NaN, an
// infinity with the same infinity. Integers must be equal, whatever stands here.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

struct KernelParam {
  enum Role : int {
    kInput,      // filled before the first run (data.h); writing to it is a guard violation
    kConstant,   // the same; prepare may read it
    kScalar,     // one element, as an input
    kOutput,     // filled with a pattern that no kernel writes, compared with the reference after the runs
    kPrepared,   // written by the prepare function, read by the kernel
    kWorkspace,  // the kernel's own; neither filled nor compared
  };
  std::string dtype = {};  // f64 f32 f16 bf16 i1 i8 u8 i32 i64 index; an i1 is one byte, an index eight
  int64_t elements = 0;
  Role role = kInput;
  // The values of an input, constant or scalar, as they lie in memory;
  // empty: FillInput(data_seed, position, ..., range).
  std::string data = {};
  DataRange range = {};
  Tolerance tolerance = {};  // for an output
};

// C[m, n] = A[m, k] * B[k, n] of f32, row after row, by a library of the machine.
struct LibraryProduct {
  std::vector<std::string> libraries =
      {};                              // paths or names for the loader, of which the first counts that has it
  std::string symbol = "cblas_sgemm";  // or dnnl_sgemm
  int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;  // A lies in memory as [k, m], B as [n, k]
  uint64_t a = 0, b = 1, c = 2;                     // positions of the parameters
};

struct KernelObject {
  std::string shared_object = {};  // the bytes of an ELF shared object that needs libc and libm only
  std::string symbol = {};
  // A function of the same parameters, called once before the kernel:
  // fills the prepared parameters from constants.
  std::optional<std::string> prepare_symbol = {};
  // `void f(int)`, told RunRequest::threads before anything else;
  // it calls kiln_parallel_for, which the runner has.
  std::optional<std::string> threads_symbol = {};
  std::vector<KernelParam> params = {};
  // It asks malloc for so many bytes more than it uses, and uses what begins at the next multiple of them.
  int64_t heap_alignment = 0;
  std::optional<LibraryProduct> product = {};  // instead of a shared object and its symbols
};

// "After so many runs, if the fastest took longer than this, stop: more runs would not make it win."
struct StopRule {
  int after_runs = 1;
  double over_seconds = 0;
};

struct TimingPolicy {
  // Untimed runs; there is always one, and its outputs are those that are compared. What it allocates has
  // guards (heap_guard.h): a kernel that allocates has one more.
  int warmups = 1;
  int runs = 3;  // samples wanted of each kernel, unless a rule stops it. 0: only check the outputs
  std::vector<StopRule> stop_rules = {};
  // Samples that took this long in all are enough, were it fewer than `runs`. 0: never.
  double enough_seconds = 0;
  // With a reference kernel more samples are taken until `runs` of each kernel are quiet: before and after
  // them and their neighbours the reference kernel takes at most 1.1 of its undisturbed time. For who shares
  // a core slows each kernel by a factor of its own, so that dividing by that of the reference kernel does
  // not make up for it. If half of `runs` are quiet in the end, of each, the faster half of the quiet ones is
  // told, for what slows a part of a sample is not seen before and after it; else all are. Without
  // target_error that is all; with it, more are taken until the standard error of the median of what is told
  // is at most that part of it, or max_samples of each are quiet. Either ends after max_seconds.
  double target_error = 0;
  int max_samples = 100;  // no more are told, unless `runs` is more
  double max_seconds = 1;
  // So many samples in all are taken again, during which another process was given the core of one of our
  // threads; of those taken for one, the least disturbed stays. Samples of more than 10 ms are not.
  int retakes = 8;
  // Evicts the parameters from the caches before each run. A sample is then a single run, however short.
  bool cold_cache = false;
};

// A kernel that always does the same (design D12): it runs before and after each sample, and the sample is
// divided by how much longer than `seconds` that took, so that clocks that change, and others who take a part
// of the core, matter less. It finds its own data in the caches; what it computes is not looked at.
struct ReferenceKernel {
  KernelObject kernel = {};
  double seconds = 0;  // of one run when nothing disturbs
};

struct RunLimits {
  double seconds = 10;               // wall-clock time of the whole request, from fork to answer
  int64_t bytes = int64_t{4} << 30;  // memory that parameters and kernel may have
};

// Runs after the timing, unless a stop rule ended that, with floats of inputs that lie far apart (FillStress):
// so often, each time with others. Of the outputs it is compared only whether they are finite where they
// should be, since how far right ones may differ is not known there.
struct StressInputs {
  int sets = 0;
  // Like those of RunRequest, of each set in turn. In what is written, floats are NaN that are not finite
  // with inputs a fifth smaller and a quarter larger too: there rounding might decide.
  std::string reference = {};
  std::string write_reference_to = {};
};

struct RunRequest {
  KernelObject kernel = {};
  // Timed in turns with `kernel` in one process: kernel, peers[0], peers[1], then backwards, and so on.
  // Parameters at the same position that are equal in all fields share their memory. All are checked against
  // the same reference; the first failure is that of the request.
  std::vector<KernelObject> peers = {};
  uint64_t data_seed = 0;
  int threads =
      1;  // of the pool that kernels run on, each kept to a core of the runner's of its own, in turn
  TimingPolicy timing = {};
  RunLimits limits = {};
  std::optional<ReferenceKernel> reference_kernel = {};
  // A file with the bytes of all outputs, one after the other in the order of parameters.
  // Empty: nothing is compared.
  std::string reference = {};
  // Where to write such a file from the outputs of `kernel`. Whole if and only if the result is ok.
  std::string write_reference_to = {};
  StressInputs stress = {};
};

enum class RunStatus {
  kOk,
  kCrashed,      // a signal, or it ended the process itself
  kTimedOut,     // stopped at limits.seconds
  kOutOfMemory,  // failed after an allocation beyond limits.bytes was refused, or its parameters are larger
  kWrongResult,  // outputs differ from the reference
  kLoadFailed,  // no ELF shared object, no such symbol, no thread to be had, or a request that makes no sense
  kGuardViolated,  // touched memory outside its parameters and temporaries, or wrote to an input
  kNonZeroStatus,  // the kernel returned something else than 0
  kInterrupted,  // says nothing about the kernel: the pool was stopped, or the runner was killed from outside
};

// Its spelling in search/outcome.h.
absl::string_view RunStatusName(RunStatus status);

struct RunResult {
  RunStatus status = RunStatus::kInterrupted;
  std::string detail = {};           // one line for a person; empty when ok
  int signal = 0;                    // when crashed by one
  std::vector<double> seconds = {};  // one sample for each timed run, in the order taken
  // The whole timing: of each round the sample as the clock told it (without the time that another process
  // had the core, where one thread ran), and how many times as long as undisturbed the reference kernel took
  // before or after it, the larger one (1 without one); the next round's follow.
  std::vector<double> raw_samples = {};
  bool quiet = false;         // they are the faster quiet ones (TimingPolicy)
  double slowdown = 1;        // of the reference kernel around the samples, their median
  double least_slowdown = 1;  // less than 1: its ReferenceKernel::seconds are too long
  int retaken = 0,
      preempted = 0;  // samples taken again (TimingPolicy::retakes), and disturbed ones that stayed
  std::vector<std::vector<double>> peer_seconds =
      {};  // of each peer; without a reference kernel, sample i is of the same round as seconds[i]
  std::vector<std::vector<double>> peer_raw_samples = {};  // rounds are those of `raw_samples`
  std::vector<int> peer_preempted = {};                    // as `preempted`
  double prepare_seconds = 0;
  bool lower_bound = false;  // a stop rule ended the timing
  // The largest |found - wanted| / (absolute + relative * |wanted|) over all outputs: 1 is the limit.
  double max_error = 0;
};

}  // namespace kiln
