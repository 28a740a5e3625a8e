// What a task's candidates have to compute: the outputs of the original, compiled as it is.
//
// The interpreter evaluates chosen elements of the outputs by itself, and if the compiled original gives the
// same there, within the tolerance, its whole outputs become the file that candidates are compared with
// (design D9). Where the original takes too long to run, the chosen elements are all there is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"
#include "lang/hash.h"
#include "lang/program.h"

namespace kiln {

struct ChosenElement {
  size_t output = 0;  // among the outputs, in the order of parameters
  int64_t element = 0;
  std::string wanted;  // as it lies in memory
};

struct Reference {
  std::string failure = {};  // the class of outcome; empty: the original is vouched for
  std::string error = {};
  bool interrupted = false;
  std::string file = {};  // all outputs, one after the other; empty: only `chosen` can be compared
  std::vector<Tolerance> tolerances = {};  // of each output
  std::vector<ChosenElement> chosen = {};
  double seconds = 0;  // that running the original took, everything included

  bool ok() const { return failure.empty() && !interrupted; }
};

struct ReferenceOptions {
  std::string folder;  // for files
  uint64_t data_seed = 0;
  double run_seconds = 60;
  int64_t run_bytes = 0;
  BuildRequest build = {};  // limits
};

class References {
 public:
  // `run` runs a request to its end, again where a runner was lost; its result is interrupted only by
  // Interrupt.
  References(ReferenceOptions options, BuilderPool* builders,
             std::function<RunResult(const RunRequest&)> run);

  // Made on the first call for a program; takes as long as the original runs. What was interrupted is tried
  // again by the next call.
  const Reference& For(const Program& original);

 private:
  Reference Make(const Program& original);
  absl::Status Evaluate(const Program& original, Reference* reference) const;
  void BuildAndRun(const Program& original, Reference* reference);

  const ReferenceOptions options_;
  BuilderPool* const builders_;
  const std::function<RunResult(const RunRequest&)> run_;
  int files_ = 0;
  absl::flat_hash_map<Hash128, std::unique_ptr<Reference>> made_;
};

// What is wrong with the chosen elements of the outputs in `file` (as in RunRequest::write_reference_to);
// empty if nothing is.
std::string CheckChosen(const Program& program, const Reference& reference, const std::string& file);

// The class of outcome (search/measurer.h) of a run.
std::string OutcomeOf(RunStatus status);

}  // namespace kiln
