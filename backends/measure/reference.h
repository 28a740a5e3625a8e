// Computes the outputs that a task's candidates must compute: those of the original program, compiled without a
// schedule (design D9).
//
// The interpreter evaluates chosen elements of the outputs. If the compiled original agrees there within the tolerance,
// or if the interpreter evaluates no element in time, all of the original's outputs go to the file that candidates are
// compared with. If the original takes too long to run, each candidate is compared with the interpreter at elements
// chosen for it, including the edges of its own tiles.
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
  std::string failure = {};  // class of failure (search/outcome.h); empty: the original did not fail
  std::string error = {};
  bool interrupted = false;
  bool interpreted = true;  // false: no element was interpreted, since it takes too long
  std::string file = {};    // all outputs, one after the other; empty: only chosen elements can be compared
  std::vector<Tolerance> tolerances = {};  // of each output
  std::vector<DataRange> ranges = {};      // of each parameter
  StressInputs stress = {};  // which outputs must be finite for stress inputs; no sets: not tested
  double seconds = 0;        // of running the original, everything included; 0 if that took too long

  bool ok() const { return failure.empty() && !interrupted; }
};

struct ReferenceOptions {
  std::string folder;  // for the files with outputs
  uint64_t data_seed = 0;
  double run_seconds = 60;
  int64_t run_bytes = 0;
  bool wide = true;         // also runs originals with inputs that lie far apart: Reference::stress
  BuildRequest build = {};  // how originals are built; without a program
  std::function<bool()> interrupted = [] { return false; };
};

// The result of comparing a program's outputs with elements that the interpreter evaluates.
struct Checked {
  std::string error = {};  // empty: no difference
  bool any = false;  // an element was compared before time ran out or an interrupt came, or there is none
};

class References {
 public:
  // Creates an empty set of references. `run` must run a request to its end, and again if a runner died. It may return
  // an interrupted result only after an interrupt of the measurer.
  References(ReferenceOptions options, BuilderPool* builders,
             std::function<RunResult(const RunRequest&)> run);

  // Returns the reference outputs of an original program. The first call for a program builds it, runs it and checks
  // chosen elements with the interpreter. If that was interrupted, the next call does so again. The returned object
  // keeps its address.
  const Reference& For(const Program& original);

  // Compares a candidate's outputs with elements that the interpreter evaluates. `file` has the outputs of `scheduled`
  // (as in RunRequest::write_reference_to), and `reference` is that of the original. Compares elements that are chosen
  // for `scheduled`, as many as can be evaluated within `seconds` and before an interrupt. The result is an error, too,
  // if the file cannot be read or the interpreter refuses the program. Takes milliseconds for a matmul. `partial`:
  // elements of the file with the pattern of FillPoison are missing, so only others are chosen; if there are none,
  // Checked::any is false.
  Checked Check(const Program& original, const Program& scheduled, const Reference& reference,
                const std::string& file, double seconds, bool partial = false) const;

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
