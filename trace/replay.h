// Replay: a trace and a program give a transformed program (design D7). This is the search's inner loop:
// nothing is recorded and no step is copied; each step runs straight on a State.
//
// Decisions come from a Chooser: RecordedChooser takes those of the trace, RandomChooser draws new ones,
// mutation has its own. On the way the result keeps, for each sampling step, the distribution as it then
// stood, the decision and its log probability, and a snapshot from which ReplayFrom continues there.
// Snapshots are shared between results, never written.
//
// A Replayed refers to its trace and its target: keep both while it lives. A trace may be applied to a
// program of another shape; recorded decisions may then be out of support, which is an error, or drawn anew.
//
// Failures (kFailedPrecondition: a step does not apply) name the step, the steps that made its handles, and
// `check: support` if what failed is a recorded decision. Any number of threads may replay one trace at once.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/trace.h"

namespace kiln {

// A state before a step of a trace.
struct Snapshot {
  State state;
  int next_step = 0;
};

struct ReplayedSite {
  int step = 0;  // index into trace->steps
  Distribution distribution;
  Decision decision;
  double log_prob = 0;  // of the decision
  // Of this step or a few steps earlier; null if the site has one value only, or without snapshots.
  std::shared_ptr<const Snapshot> before;
};

struct Replayed {
  const Trace* trace = nullptr;
  const Target* target = nullptr;
  State state;  // after the last step
  std::vector<ReplayedSite> sites;

  const Program& program() const { return state.program; }
  absl::string_view name(int site) const { return trace->steps[sites[site].step].site; }
  // Σ log_prob: log P(d | sketch).
  double LogProb() const;
};

// The state before the first sampling step of a trace: with it all replays on the program begin. Null if a
// step before does not apply.
std::shared_ptr<const Snapshot> OpeningOf(const Trace& trace, const Program& program, const Target& target);

struct ReplayOptions {
  bool snapshots = true;
  std::shared_ptr<const Snapshot> opening =
      nullptr;  // of this trace and program: the steps before it are not run
};

absl::StatusOr<Replayed> Replay(const Trace& trace, const Program& program, const Target& target,
                                Chooser& chooser, const ReplayOptions& options = {});
// With the decisions of the trace.
absl::StatusOr<Replayed> Replay(const Trace& trace, const Program& program, const Target& target,
                                const ReplayOptions& options = {});

// A trace that is gone after the call cannot be replayed: the result refers to it.
absl::StatusOr<Replayed> Replay(const Trace&&, const Program&, const Target&, Chooser&,
                                const ReplayOptions& = {}) = delete;
absl::StatusOr<Replayed> Replay(const Trace&&, const Program&, const Target&,
                                const ReplayOptions& = {}) = delete;

// Replay that continues at a site of an earlier one: sites before it keep what they have, the others are
// asked for. The site must have a snapshot.
absl::StatusOr<Replayed> ReplayFrom(const Replayed& from, int site, Chooser& chooser,
                                    const ReplayOptions& options = {});

// The decisions that the trace records.
// With `others`, those out of support are drawn by it; without, they fail.
class RecordedChooser final : public Chooser {
 public:
  explicit RecordedChooser(const Trace& trace, Chooser* others = nullptr) : trace_(trace), others_(others) {}
  Decision Choose(const Site& site) override;
  int ChooseStructure(absl::string_view name, int n) override;  // the recorded choice of that name, else 0

 private:
  const Trace& trace_;
  Chooser* others_;
};

// The trace with the decisions of a replay.
Trace WithDecisions(const Replayed& replayed);

// A schedule that has taken the steps of the trace, to go on by hand; inert if one does not apply. New
// decisions come from `chooser`.
Schedule ToSchedule(const Trace& trace, Program program, const Target& target, Chooser& chooser);

}  // namespace kiln
