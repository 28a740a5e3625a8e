// The outputs that a task's candidates have to compute: those of the original, compiled as it is (design D9).
//
// The interpreter evaluates chosen elements of the outputs. If the compiled original gives the same there,
// within the tolerance, its whole outputs become the file that candidates are compared with. If the original
// takes too long to run, each candidate is compared at elements that are chosen for it, the edges of its own
// tiles among them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"
#include "lang/text/hash.h"

namespace kiln {

struct Reference {
  std::string failure = {};  // the class of outcome; empty: the original is vouched for
  std::string error = {};
  bool interrupted = false;
  bool interpreted = true;  // false: none of its elements, which would have taken too long
  std::string file = {};    // all outputs, one after the other; empty: only chosen elements can be compared
  std::vector<Tolerance> tolerances = {};  // of each output
  std::vector<DataRange> ranges = {};      // of each parameter
  StressInputs stress = {};  // which outputs have to be finite; no sets: any may be what they are
  double seconds = 0;        // that running the original took, everything included

  bool ok() const { return failure.empty() && !interrupted; }
};

struct ReferenceOptions {
  std::string folder;  // for files
  uint64_t data_seed = 0;
  double run_seconds = 60;
  int64_t run_bytes = 0;
  BuildRequest build = {};  // limits
  std::function<bool()> interrupted = [] { return false; };
};

// What the interpreter says of outputs.
struct Checked {
  std::string error = {};  // empty: nothing is wrong
  bool any = false;        // whether elements were compared: none, where time was up or after an interrupt
};

class References {
 public:
  // `run` runs a request to its end, again where a runner was lost;
  // its result is interrupted only by Interrupt.
  References(ReferenceOptions options, BuilderPool* builders,
             std::function<RunResult(const RunRequest&)> run);

  // Made on the first call for a program; takes as long as the original runs. What was interrupted is tried
  // again by the next call, in its place.
  const Reference& For(const Program& original);

  // `reference`: the original's. What is wrong with the outputs that `scheduled` wrote to `file` (as in
  // RunRequest::write_reference_to), at elements chosen for it, as many as the interpreter evaluates within
  // `seconds`. Milliseconds for a matmul.
  Checked Check(const Program& original, const Program& scheduled, const Reference& reference,
                const std::string& file, double seconds) const;

 private:
  Reference Make(const Program& original);
  void BuildAndRun(const Program& original, Reference* reference);
  void RunWide(const Program& original, RunRequest run, Reference* reference);

  const ReferenceOptions options_;
  BuilderPool* const builders_;
  const std::function<RunResult(const RunRequest&)> run_;
  int files_ = 0;
  absl::flat_hash_map<Hash128, std::unique_ptr<Reference>> made_;
};

}  // namespace kiln
