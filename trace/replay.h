// Replay: applies a trace to a program and returns the transformed program (design D7). This is the search's inner
// loop. It records no new steps and copies none: each step of the trace runs directly on a State.
//
// Decisions come from a Chooser: RecordedChooser repeats those of the trace, RandomChooser draws new ones,
// and mutation has its own. For each sampling step the result keeps the distribution, the decision, its log
// probability and a snapshot from which ReplayFrom continues. Results share snapshots and never write them.
//
// A Replayed refers to its trace and its target: keep both alive. A trace may be applied to a program of
// another shape. A recorded decision may then lie outside the support, which is an error unless a new one is
// drawn.
//
// If a step does not apply, or gives another number of results than the trace says, the error is kFailedPrecondition
// and names the step and the steps that made its handles. If a decision outside its support is the cause, the error
// adds `check: support`. Any number of threads may replay one trace at once.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/trace.h"

namespace kiln {

// The state before the step `next_step` of a trace. ReplayFrom goes on from it, without the steps before.
struct Snapshot {
  State state;
  int next_step = 0;
};

struct ReplayedSite {
  int step = 0;  // index into trace->steps
  Distribution distribution;
  Decision decision;
  double log_prob = 0;  // log probability of the decision
  // A snapshot at the step of this site or a few steps earlier. Null if the site has only one value or snapshots are
  // off.
  std::shared_ptr<const Snapshot> before;
};

struct Replayed {
  const Trace* trace = nullptr;
  const Target* target = nullptr;
  State state;  // after the last step
  std::vector<ReplayedSite> sites;

  const Program& program() const { return state.program; }
  absl::string_view name(int site) const { return trace->steps[sites[site].step].site; }
  // Returns the sum of the sites' log_prob: log P(decisions | sketch).
  double LogProb() const;
};

// Returns a snapshot before the first sampling step of a trace, or after the last step if none samples. All replays of
// the trace on this program can start from it. Returns null if an earlier step does not apply, or gives another number
// of results than the trace says.
std::shared_ptr<const Snapshot> OpeningOf(const Trace& trace, const Program& program, const Target& target);

struct ReplayOptions {
  bool snapshots = true;
  std::shared_ptr<const Snapshot> opening =
      nullptr;  // OpeningOf this trace and program; the replay skips the steps before it
};

absl::StatusOr<Replayed> Replay(const Trace& trace, const Program& program, const Target& target,
                                Chooser& chooser, const ReplayOptions& options = {});
// Replays a trace with the decisions that it records.
absl::StatusOr<Replayed> Replay(const Trace& trace, const Program& program, const Target& target,
                                const ReplayOptions& options = {});

// Forbids to replay a temporary trace, because the result refers to the trace.
absl::StatusOr<Replayed> Replay(const Trace&&, const Program&, const Target&, Chooser&,
                                const ReplayOptions& = {}) = delete;
absl::StatusOr<Replayed> Replay(const Trace&&, const Program&, const Target&,
                                const ReplayOptions& = {}) = delete;

// Replays from a site of an earlier replay on. Sites before it keep their decisions, the chooser decides the
// others. The site must have a snapshot.
absl::StatusOr<Replayed> ReplayFrom(const Replayed& from, int site, Chooser& chooser,
                                    const ReplayOptions& options = {});

// Repeats the decisions that the trace records. If a decision is missing or outside the support, `others` draws one. If
// `others` is null, the replay fails there.
class RecordedChooser final : public Chooser {
 public:
  explicit RecordedChooser(const Trace& trace, Chooser* others = nullptr) : trace_(trace), others_(others) {}
  Decision Choose(const Site& site) override;
  int ChooseStructure(absl::string_view name, int n) override;  // the recorded choice of name and n, else 0

 private:
  const Trace& trace_;
  Chooser* others_;
};

// Returns the trace with the decisions of a replay.
Trace WithDecisions(const Replayed& replayed);

// Returns a schedule that has taken the steps and choices of the trace, for further steps by hand. The schedule is
// inert if a step does not apply, or a recorded decision lies outside its support. Decisions that the trace does not
// record, and those of further steps, come from `chooser`.
Schedule ToSchedule(const Trace& trace, Program program, const Target& target, Chooser& chooser);

}  // namespace kiln
