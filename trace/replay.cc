#include "trace/replay.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"
#include "lang/program/compact.h"

namespace kiln {
namespace {

// After the first snapshot, a sampling step with several values gets a new one only if at least this many steps since
// the last snapshot change the program. Repeating fewer steps is cheaper than a snapshot.
constexpr int kStepsBetweenSnapshots = 6;

// Wraps the chooser of a replay and records the distribution, decision and snapshot of each site.
class Recorder final : public Chooser {
 public:
  Recorder(Replayed& replayed, Chooser& chooser, const ReplayOptions& options,
           std::shared_ptr<const Snapshot> snapshot)
      : replayed_(replayed), chooser_(chooser), options_(options), snapshot_(std::move(snapshot)) {}

  Decision Choose(const Site& site) override {
    const bool open = options_.snapshots && site.distribution.SupportSize() > 1;
    if (open && (snapshot_ == nullptr || changes_ >= kStepsBetweenSnapshots)) {
      snapshot_ = std::make_shared<const Snapshot>(
          Snapshot{replayed_.state, site.step + KILN_DEFECT("replay.snapshot")});
      changes_ = 0;
    }
    Decision decision = chooser_.Choose(site);
    const double log_prob = site.distribution.LogProb(decision);
    supported_ = std::isfinite(log_prob);
    replayed_.sites.push_back({site.step, site.distribution, decision, log_prob, open ? snapshot_ : nullptr});
    return decision;
  }
  int ChooseStructure(absl::string_view name, int n) override { return chooser_.ChooseStructure(name, n); }

  void ProgramChanges() { ++changes_; }
  bool supported() const { return supported_; }

 private:
  Replayed& replayed_;
  Chooser& chooser_;
  const ReplayOptions& options_;
  std::shared_ptr<const Snapshot> snapshot_;  // the last snapshot taken
  int changes_ = 0;                           // steps since that snapshot that changed the program
  bool supported_ = true;
};

// Repeats the decisions of an earlier replay at the sites before `site`, and asks another chooser at `site` and the
// later ones.
class KeepBefore final : public Chooser {
 public:
  KeepBefore(const Replayed& from, int first, int site, Chooser& chooser)
      : from_(from), next_(first), site_(site), chooser_(chooser) {}
  Decision Choose(const Site& site) override {
    return next_ < site_ ? from_.sites[next_++].decision : chooser_.Choose(site);
  }
  int ChooseStructure(absl::string_view name, int n) override { return chooser_.ChooseStructure(name, n); }

 private:
  const Replayed& from_;
  int next_, site_;
  Chooser& chooser_;
};

absl::Status Explain(const absl::Status& status, const Replayed& at, int step, bool supported) {
  const absl::Span<const Step> steps = at.trace->steps;
  const absl::Status told = WithHistory(status, at.state, steps.first(step), steps[step]);
  return supported ? told : absl::Status(told.code(), absl::StrCat(told.message(), "\n  check: support"));
}

absl::Status OtherResults(const Step& step, int index, int got) {
  return absl::FailedPreconditionError(absl::StrCat("step ", index, " does not apply: it gives ", got,
                                                    " results here, but the trace names ", step.num_results,
                                                    "\n  step ", index, ":  ", ToString(step)));
}

// Runs the steps from `first` on. `replayed.state` holds the state before that step. Stops with an error at the first
// step that does not apply, or gives another number of results than the trace says.
absl::Status Continue(Replayed& replayed, int first, Recorder& recorder) {
  const std::vector<Step>& steps = replayed.trace->steps;
  for (int i = first; i < static_cast<int>(steps.size()); ++i) {
    const Step& step = steps[i];
    if (!step.primitive->reads_only) recorder.ProgramChanges();
    int results = 0;
    const absl::Status status = Run(replayed.state, *replayed.target, step, i, &recorder, &results, nullptr);
    if (!status.ok()) return Explain(status, replayed, i, recorder.supported());
    if (results != step.num_results) return Explain(OtherResults(step, i, results), replayed, i, true);
  }
  return absl::OkStatus();
}

}  // namespace

double Replayed::LogProb() const {
  double sum = 0;
  for (const ReplayedSite& site : sites) sum += site.log_prob;
  return sum;
}

std::shared_ptr<const Snapshot> OpeningOf(const Trace& trace, const Program& program, const Target& target) {
  Snapshot opening{{program, {}, {}, {}}, 0};
  RecordedChooser nobody(trace);  // never asked: the loop ends at the first sampling step
  for (; opening.next_step < static_cast<int>(trace.steps.size()); ++opening.next_step) {
    const Step& step = trace.steps[opening.next_step];
    if (step.primitive->sampling) break;
    int results = 0;
    if (!Run(opening.state, target, step, opening.next_step, &nobody, &results, nullptr).ok() ||
        results != step.num_results)
      return nullptr;
  }
  DropUnusedExprs(opening.state.program);
  return std::make_shared<const Snapshot>(std::move(opening));
}

absl::StatusOr<Replayed> Replay(const Trace& trace, const Program& program, const Target& target,
                                Chooser& chooser, const ReplayOptions& options) {
  const std::shared_ptr<const Snapshot>& opening = options.opening;
  Replayed replayed{&trace, &target, opening != nullptr ? opening->state : State{program, {}, {}, {}}, {}};
  Recorder recorder(replayed, chooser, options, opening);
  const absl::Status status = Continue(replayed, opening != nullptr ? opening->next_step : 0, recorder);
  if (!status.ok()) return status;
  return replayed;
}

absl::StatusOr<Replayed> Replay(const Trace& trace, const Program& program, const Target& target,
                                const ReplayOptions& options) {
  RecordedChooser recorded(trace);
  return Replay(trace, program, target, recorded, options);
}

absl::StatusOr<Replayed> ReplayFrom(const Replayed& from, int site, Chooser& chooser,
                                    const ReplayOptions& options) {
  const std::shared_ptr<const Snapshot>& snapshot = from.sites[site].before;
  KILN_CHECK(snapshot != nullptr, "site ", from.name(site), " has no snapshot");
  int first = site;
  while (first > 0 && from.sites[first - 1].step >= snapshot->next_step) --first;
  // Copies the final state of the earlier replay first and then overwrites it with the snapshot, so that the vectors
  // have room for what the steps add.
  Replayed replayed{from.trace, from.target, from.state, {}};
  replayed.state = snapshot->state;
  replayed.sites.reserve(from.sites.size());
  replayed.sites.assign(from.sites.begin(), from.sites.begin() + first);
  KeepBefore keep(from, first, site, chooser);
  Recorder recorder(replayed, keep, options, snapshot);
  const absl::Status status = Continue(replayed, snapshot->next_step, recorder);
  if (!status.ok()) return status;
  return replayed;
}

Decision RecordedChooser::Choose(const Site& site) {
  const Decision& recorded = trace_.steps[site.step].decision;
  return others_ == nullptr || site.distribution.Contains(recorded) ? recorded : others_->Choose(site);
}

int RecordedChooser::ChooseStructure(absl::string_view name, int n) {
  for (const Schedule::Choice& choice : trace_.choices) {
    if (choice.name == name && choice.n == n) return choice.picked;
  }
  return 0;
}

Trace WithDecisions(const Replayed& replayed) {
  Trace trace = *replayed.trace;
  for (const ReplayedSite& site : replayed.sites) trace.steps[site.step].decision = site.decision;
  return trace;
}

Schedule ToSchedule(const Trace& trace, Program program, const Target& target, Chooser& chooser) {
  Schedule schedule(std::move(program), target, chooser);
  schedule.Apply(trace.steps, trace.choices);
  return schedule;
}

}  // namespace kiln
