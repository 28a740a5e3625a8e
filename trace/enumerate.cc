#include "trace/enumerate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lang/base/aliases.h"
#include "trace/simplify.h"

namespace kiln {
namespace {

using Choices = std::vector<Schedule::Choice>;
// A rule for structural choices: returns the alternative to pick at the index-th choice of a run.
using Rule = std::function<int(size_t index, absl::string_view name, int n)>;

struct DrawnSite {
  SketchSite site;
  double log_prob = 0;  // log probability of the drawn decision
};

// A chooser for the runs of one sequence. The rule picks each structural choice in the first run that reaches it, and
// later runs repeat it. A run that has another choice at its position picks 0 there, and `other` describes it. Sampling
// sites draw again in every run.
class SequenceChooser final : public Chooser {
 public:
  SequenceChooser(const Rule& rule, Choices& made, Dice& dice) : rule_(rule), made_(made), dice_(dice) {}
  Decision Choose(const Site& site) override {
    const Decision drawn = site.distribution.Sample(dice_);
    sites.push_back(
        {{std::string(site.name), site.distribution.SupportSize()}, site.distribution.LogProb(drawn)});
    return drawn;
  }
  int ChooseStructure(absl::string_view name, int n) override {
    const size_t index = next_++;
    if (index == made_.size()) made_.push_back({std::string(name), n, rule_(index, name, n)});
    const Schedule::Choice& choice = made_[index];
    if (choice.name == name && choice.n == n) return choice.picked;
    if (other.empty())
      other = absl::StrCat("\"", CurrentPath(name), "\" of ", n, " here and \"", CurrentPath(choice.name),
                           "\" of ", choice.n);
    return 0;
  }
  std::vector<DrawnSite> sites;
  std::string other;  // describes the first choice that differs from an earlier run

 private:
  const Rule& rule_;
  Choices& made_;
  Dice& dice_;
  size_t next_ = 0;
};

std::string BlockOf(absl::string_view choice) {
  const std::vector<absl::string_view> parts = absl::StrSplit(choice, '/');
  return std::string(parts[parts.size() < 2 ? 0 : parts.size() - 2]);
}

// Computes the next path of a depth-first search over structural choices. `made` are the choices of the last run. Those
// that satisfy `counts` make up its path, a list of alternatives. The next path ends at the last of them that has a
// further alternative, and takes this alternative. Returns false and an empty path if none has one.
bool NextPath(const Choices& made, const std::function<bool(const Schedule::Choice&)>& counts,
              std::vector<int>& path) {
  path.clear();
  size_t keep = 0;
  std::vector<int> picked;
  for (const Schedule::Choice& choice : made) {
    if (!counts(choice)) continue;
    picked.push_back(choice.picked);
    if (choice.picked + 1 < choice.n) keep = picked.size();
  }
  if (keep == 0) return false;
  path.assign(picked.begin(), picked.begin() + static_cast<int64_t>(keep));
  ++path.back();
  return true;
}

class Enumerator {
 public:
  Enumerator(const SpaceFunction& space, const Program& program, const Target& target,
             const EnumerateOptions& options)
      : space_(space), program_(program), target_(target), options_(options) {}

  absl::StatusOr<Enumeration> Run() {
    absl::Status status = TryAll();
    if (status.ok() && !result_.complete) {
      result_ = {{}, {}, {}, false};
      seen_.clear();
      status = TryBlockByBlock();
      if (status.ok()) status = TryAtRandom();
    }
    if (!status.ok()) return status;
    result_.declined = std::move(declined_);
    return std::move(result_);
  }

 private:
  struct Outcome {
    Choices made;
    std::optional<Sketch> sketch;
    absl::Status reason;  // why the first run that does not apply fails; OK if all apply
  };

  absl::Status TryAll() {
    std::vector<int> path;
    const auto all = [](const Schedule::Choice&) { return true; };
    for (int i = 0; i < options_.limit; ++i) {
      const absl::StatusOr<Outcome> outcome =
          Try([&](size_t index, absl::string_view, int) { return index < path.size() ? path[index] : 0; });
      if (!outcome.ok()) return outcome.status();
      Keep(*outcome);
      if (!NextPath(outcome->made, all, path)) return absl::OkStatus();
    }
    result_.complete = false;
    return absl::OkStatus();
  }

  absl::Status TryBlockByBlock() {
    struct Turn {
      std::string block;
      std::vector<int> path;
      bool done = false;
    };
    // Begins with a search for no block, which picks the first alternative everywhere, or random ones if that does not
    // apply. Each block that a choice names on the way gets a search of its own, and the searches take turns.
    std::vector<Turn> turns{{"", {}, false}};
    bool more = true;
    while (more && Tried() < options_.limit) {
      more = false;
      for (size_t t = 0; t < turns.size() && Tried() < options_.limit; ++t) {
        if (turns[t].done) continue;
        const absl::StatusOr<Outcome> outcome = TryAround(turns[t].block, turns[t].path);
        if (!outcome.ok()) return outcome.status();
        Keep(*outcome);
        const std::string block = turns[t].block;
        turns[t].done = !NextPath(
            outcome->made, [&](const Schedule::Choice& c) { return BlockOf(c.name) == block; },
            turns[t].path);
        for (const Schedule::Choice& choice : outcome->made) {
          const std::string name = BlockOf(choice.name);
          if (std::none_of(turns.begin(), turns.end(),
                           [&](const Turn& turn) { return turn.block == name; })) {
            turns.push_back({name, {}, false});
          }
        }
        more = true;
      }
    }
    return absl::OkStatus();
  }

  // Runs one sequence of choices. Those of `block` follow `path`, and take alternative 0 beyond its end. All others
  // take alternative 0. If the sequence does not apply, picks the choices of other blocks at random, up to seven times.
  // Returns the last outcome. Fails as Try does.
  absl::StatusOr<Outcome> TryAround(const std::string& block, const std::vector<int>& path) {
    absl::StatusOr<Outcome> outcome;
    for (int attempt = 0; attempt < 8; ++attempt) {
      size_t own = 0;
      RandomDice dice(Engine({options_.seed, 1, next_++}));
      outcome = Try([&](size_t, absl::string_view name, int n) {
        if (BlockOf(name) == block) return own < path.size() ? path[own++] : 0;
        return attempt == 0 ? 0 : static_cast<int>(dice.Below(n));
      });
      if (!outcome.ok() || outcome->sketch.has_value()) break;
    }
    return outcome;
  }

  absl::Status TryAtRandom() {
    for (int left = options_.limit - Tried(); left > 0; --left) {
      RandomDice dice(Engine({options_.seed, 2, next_++}));
      const absl::StatusOr<Outcome> outcome =
          Try([&](size_t, absl::string_view, int n) { return static_cast<int>(dice.Below(n)); });
      if (!outcome.ok()) return outcome.status();
      Keep(*outcome);
    }
    return absl::OkStatus();
  }

  // Runs one sequence of choices `draws` times, each time with other random decisions. kCancelled if stopped;
  // kInvalidArgument if the runs differ in more than decisions; any other error of the schedule. A step that does not
  // apply (kFailedPrecondition) is no error: the outcome has the reason, and a sketch if another run applies.
  absl::StatusOr<Outcome> Try(const Rule& rule) {
    Outcome outcome;
    std::optional<Trace> first;
    bool first_ok = false;
    std::vector<std::vector<DrawnSite>> draws;  // the sites of each run that applied
    for (int draw = 0; draw < options_.draws; ++draw) {
      if (options_.stop != nullptr && *options_.stop) return absl::CancelledError("stopped");
      RandomDice dice(Engine({options_.seed, 0, static_cast<uint64_t>(draw)}));
      SequenceChooser chooser(rule, outcome.made, dice);
      Schedule schedule(program_, target_, chooser);
      space_(schedule);
      if (!chooser.other.empty())
        return Branches(absl::StrCat("it chooses ", chooser.other, " in another run"));
      if (!schedule.ok() && !absl::IsFailedPrecondition(schedule.status())) return schedule.status();
      for (const Schedule::Declined& note : schedule.declined()) {
        if (std::find(declined_.begin(), declined_.end(), note) == declined_.end()) declined_.push_back(note);
      }
      const Trace trace = Trace::Of(schedule);
      if (!first.has_value()) {
        first = trace;
        first_ok = schedule.ok();
      }
      const absl::Status same = Compare(*first, first_ok, trace, schedule.ok());
      if (!same.ok()) return same;
      if (!schedule.ok()) {
        if (outcome.reason.ok()) outcome.reason = schedule.status();
        continue;
      }
      if (!first_ok) {
        first = trace;
        first_ok = true;
      }
      if (!outcome.sketch.has_value()) outcome.sketch = SketchOf(trace, chooser.sites);
      draws.push_back(std::move(chooser.sites));
    }
    if (outcome.sketch.has_value()) CountDecisions(draws, *outcome.sketch);
    return outcome;
  }

  absl::Status Branches(absl::string_view how) const {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", options_.space, "\" branches on a draw, but may do so on Choose only: ", how));
  }

  absl::Status Compare(const Trace& a, bool a_ok, const Trace& b, bool b_ok) const {
    const size_t both = std::min(a.steps.size(), b.steps.size());
    const auto at = [&](const Trace& trace, size_t i) {
      if (i >= trace.steps.size()) return std::string("missing");
      return absl::StrCat("\"", ToString(trace.steps[i]), "\" (", trace.steps[i].file, ":",
                          trace.steps[i].line, ")");
    };
    size_t i = 0;
    while (i < both && SameButDecision(a.steps[i], b.steps[i])) ++i;
    const bool a_ends = i == a.steps.size() && (!a_ok || i == b.steps.size());
    const bool b_ends = i == b.steps.size() && (!b_ok || i == a.steps.size());
    if (a_ends || b_ends) return absl::OkStatus();
    return Branches(absl::StrCat("step ", i, " is ", at(a, i), " in one run and ", at(b, i), " in another"));
  }

  static Sketch SketchOf(const Trace& trace, const std::vector<DrawnSite>& sites) {
    Sketch sketch;
    sketch.trace = Simplify(trace);
    for (const DrawnSite& drawn : sites) {
      const auto named = [&](const Step& step) { return step.site == drawn.site.name; };
      if (std::any_of(sketch.trace.steps.begin(), sketch.trace.steps.end(), named))
        sketch.sites.push_back(drawn.site);
    }
    return sketch;
  }

  // Sets log_support and exact_support of a sketch. If the product of the supports of its sites differs between draws,
  // estimates the number of combinations by the mean of 1/P over the draws that apply, where P is the probability of
  // the drawn decisions. The mean is unbiased if all draws apply.
  static void CountDecisions(const std::vector<std::vector<DrawnSite>>& draws, Sketch& sketch) {
    double sum = 0;
    for (size_t i = 0; i < draws.size(); ++i) {
      double product = 0, inverse = 0;
      for (const DrawnSite& drawn : draws[i]) {
        const auto same = [&](const SketchSite& site) { return site.name == drawn.site.name; };
        if (std::none_of(sketch.sites.begin(), sketch.sites.end(), same)) continue;
        product += std::log(drawn.site.support);
        inverse -= drawn.log_prob;
      }
      if (i == 0) sketch.log_support = product;
      sketch.exact_support &= std::abs(product - sketch.log_support) < 1e-9;
      sum += std::exp(inverse) / static_cast<double>(draws.size());
    }
    if (!sketch.exact_support) sketch.log_support = std::log(sum);
  }

  void Keep(const Outcome& outcome) {
    std::string key;
    for (const Schedule::Choice& choice : outcome.made)
      absl::StrAppend(&key, choice.name, " ", choice.picked, "\n");
    if (!seen_.insert(key).second) return;
    if (!outcome.sketch.has_value()) {
      result_.dropped.push_back({outcome.made, outcome.reason});
      return;
    }
    for (Sketch& sketch : result_.sketches) {
      if (!SameSketch(sketch.trace, outcome.sketch->trace)) continue;
      ++sketch.sequences;
      return;
    }
    result_.sketches.push_back(*outcome.sketch);
  }

  int Tried() const { return static_cast<int>(seen_.size()); }

  const SpaceFunction& space_;
  const Program& program_;
  const Target& target_;
  const EnumerateOptions& options_;
  Enumeration result_;
  std::vector<Schedule::Declined> declined_;
  std::set<std::string> seen_;
  uint64_t next_ = 0;
};

}  // namespace

absl::StatusOr<Enumeration> Enumerate(const SpaceFunction& space, const Program& program,
                                      const Target& target, const EnumerateOptions& options) {
  return Enumerator(space, program, target, options).Run();
}

}  // namespace kiln
