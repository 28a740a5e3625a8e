// Draws random schedules of a space for a GPU, and counts those that are valid: every step applies, the validator
// accepts the program with the limits of the GPU, and the planner of kernels (PlanKernels) accepts it too.
//
//   DrawStudy study = StudyDraws(program, NamedTarget("h100").value(), {.draws = 300});
//   study.valid                               of study.draws
//
// Run from the root of the sources for PaperProgram, which reads bench/operators. A space that does not parse, or
// cannot be enumerated, ends the process; one without a sketch gives no draws.
#pragma once

#include <time.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/builder/pool.h"
#include "backends/import/import.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/measure/kernel.h"
#include "lang/base/check.h"
#include "lang/base/median.h"
#include "lang/graph/outline.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "search/cost/analytic.h"
#include "search/features/kinds.h"
#include "search/propose/prefilter.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln {

// Returns the names of the operators of MetaSchedule's evaluation (C1D to SFM, and dense layers with GELU), the
// convolutions of ResNet-18 as AutoTVM numbers them, and layer norms.
inline std::vector<std::string> PaperShapes() {
  std::vector<std::string> names;
  for (const char* family :
       {"C1D", "C2D", "C3D", "DEP", "DIL", "GRP", "T2D", "CAP", "CBR", "GMM", "TBG", "NRM", "SFM"}) {
    for (int i = 0; i < 4; ++i) names.push_back(absl::StrCat(family, i));
  }
  for (int i = 0; i < 2; ++i) names.push_back(absl::StrCat("FDN", i));
  for (int i = 1; i <= 12; ++i) names.push_back(absl::StrCat("C", i));
  for (int i = 0; i < 3; ++i) names.push_back(absl::StrCat("LN", i));
  return names;
}

inline Program PaperProgram(const std::string& name) {
  auto imported = ImportFile(absl::StrCat("bench/operators/", name, ".mlir"));
  KILN_CHECK(imported.ok(), imported.status().ToString());
  auto tasks = ExtractTasks(imported->program);
  KILN_CHECK(tasks.ok() && tasks->size() == 1, name, " is not one operator");
  return std::move(tasks->front().program);
}

struct DrawOptions {
  std::string space = "cuda";
  int draws = 300;
  int built = 0;                    // how many draws are also built: the first ones that are valid
  BuilderPool* builders = nullptr;  // needed if draws are built
  std::string explain = "";         // the first refusal that contains this text becomes the example
  uint64_t seed = 1;
};

struct DrawStudy {
  int draws = 0, valid = 0;
  int built = 0, accepted = 0;  // accepted: without spills, stack and warnings of ptxas
  size_t sketches = 0, dropped = 0;
  std::set<std::string> programs;      // decisions of valid draws, with their sketch
  std::map<std::string, int> refused;  // number by reason; 0 for a dropped sketch
  // CPU microseconds of each draw: of its replay alone, and of replay, checks, features and the analytic model, as for
  // a candidate of a search. candidate_us has no entry for a draw whose replay fails.
  std::vector<double> replay_us, candidate_us;
  std::vector<double> build_s;
  // The first refusal whose reason contains `explain`: the reason, the trace, and the program if the trace applies.
  std::string example;

  double CandidatesPerSecond() const {
    return 1e6 * static_cast<double>(candidate_us.size()) / absl::c_accumulate(candidate_us, 1e-6);
  }
};

inline double MicrosecondsOfThread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// Returns why the validator or the planner of kernels refuses a program for this GPU; "" if both accept it.
inline std::string Refusal(const Program& program, const Target& target) {
  const Verdict verdict = Validate(program, target);
  if (!verdict.ok) return std::string(verdict.status().message());
  return std::string(plan::PlanKernels(program).status().message());
}

// A chooser that draws from the prior and writes each decision into the trace.
class KeepingChooser : public RandomChooser {
 public:
  KeepingChooser(Dice& dice, Trace& trace) : RandomChooser(dice), trace_(trace) {}
  Decision Choose(const Site& site) override {
    return trace_.steps[site.step].decision = RandomChooser::Choose(site);
  }

 private:
  Trace& trace_;
};

class DrawStudent {
 public:
  DrawStudent(const Program& program, const Target& target, const DrawOptions& options)
      : program_(program),
        target_(target),
        options_(options),
        prefilter_(MakePrefilter(target)),
        kind_(KindFor(target, FeatureKind::kAnsor)) {}

  // Draws from each sketch in turn and counts what is valid and what is refused. Also builds the first valid draws, if
  // wanted.
  DrawStudy Run() {
    const auto parsed = ParseSpace(options_.space);
    KILN_CHECK(parsed.ok(), parsed.status().ToString());
    const auto sketches = Enumerate(*parsed, program_, target_);
    KILN_CHECK(sketches.ok(), sketches.status().ToString());
    study_.sketches = sketches->sketches.size();
    study_.dropped = sketches->dropped.size();
    for (const DroppedSequence& dropped : sketches->dropped)
      study_.refused[absl::StrCat("dropped sketch: ", dropped.reason.message())] += 0;
    for (; study_.draws < options_.draws && study_.sketches > 0; ++study_.draws)
      Draw(sketches->sketches, static_cast<size_t>(study_.draws) % study_.sketches);
    for (auto& [program, build] : builds_) {
      const BuildResult& result = build.get();
      study_.build_s.push_back(result.seconds);
      study_.accepted += result.ok();
      if (!result.ok()) Refuse(result.error, program);
    }
    study_.built = static_cast<int>(builds_.size());
    return std::move(study_);
  }

 private:
  void Draw(const std::vector<Sketch>& sketches, size_t number) {
    Trace trace = sketches[number].trace;
    RandomDice dice(Engine({options_.seed, static_cast<uint64_t>(study_.draws)}));
    KeepingChooser chooser(dice, trace);
    const double start = MicrosecondsOfThread();
    const auto replayed = Replay(sketches[number].trace, program_, target_, chooser);
    study_.replay_us.push_back(MicrosecondsOfThread() - start);
    if (!replayed.ok()) return Refuse(std::string(replayed.status().message()), Print(trace));
    absl::Status status = prefilter_(*replayed, features_);
    if (status.ok()) AnalyticScore(features_.values, kind_);
    study_.candidate_us.push_back(MicrosecondsOfThread() - start);
    if (status.ok()) status = plan::PlanKernels(replayed->program()).status();
    const std::string text = absl::StrCat(Print(trace), "\n", ToString(replayed->program()));
    if (!status.ok()) return Refuse(std::string(status.message()), text);
    ++study_.valid;
    std::string key = absl::StrCat(number, ":");
    for (const ReplayedSite& site : replayed->sites)
      absl::StrAppend(&key, absl::StrJoin(site.decision, ","), ";");
    study_.programs.insert(key);
    if (std::ssize(builds_) == options_.built) return;
    builds_.emplace_back(
        text, options_.builders->Submit(GpuKernelBuild(target_, replayed->program(), BuildOutput::kCubin)));
  }

  void Refuse(const std::string& why, const std::string& program) {
    ++study_.refused[why];
    if (!options_.explain.empty() && study_.example.empty() && absl::StrContains(why, options_.explain))
      study_.example = absl::StrCat(why, "\n", program);
  }

  const Program& program_;
  const Target target_;
  const DrawOptions options_;
  const Prefilter prefilter_;
  const FeatureKind kind_;
  FeatureSet features_;
  DrawStudy study_;
  std::vector<std::pair<std::string, std::shared_future<BuildResult>>> builds_;
};

inline DrawStudy StudyDraws(const Program& program, const Target& target, const DrawOptions& options = {}) {
  return DrawStudent(program, target, options).Run();
}

}  // namespace kiln
