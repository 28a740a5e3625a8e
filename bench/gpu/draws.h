// Draws random schedules of a space for a GPU, and counts those that are valid: every step applies, the
// validator accepts the program, and it lowers to kernels.
//
//   DrawStudy study = StudyDraws("cuda", program, NamedTarget("h100").value(), 300);
//   study.valid                               of study.draws
//
// Run from the root of the sources for PaperProgram, which reads bench/operators. A space without a sketch
// ends the process.
#pragma once

#include <time.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/import/import.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "lang/base/check.h"
#include "lang/graph/outline.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln {

// The operators of MetaSchedule's evaluation (C1D to SFM, and dense layers with GELU), the convolutions of
// ResNet-18 as AutoTVM numbers them, and layer norms.
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

struct DrawStudy {
  int draws = 0, valid = 0;
  size_t sketches = 0, dropped = 0;
  std::set<std::string> programs;      // decisions of valid draws, with their sketch
  std::map<std::string, int> refused;  // by reason
  std::vector<double> replay_us, all_us;
  std::string example;  // the trace and the program of the first refused draw whose reason contains `explain`

  static double Median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
  }
};

inline double MicrosecondsOfThread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// Why a program may not run; "" if it may.
inline std::string Refusal(const Program& program, const Target& target) {
  const Verdict verdict = Validate(program, target);
  if (!verdict.ok) return std::string(verdict.status().message());
  return std::string(plan::PlanKernels(program).status().message());
}

// Draws in turns from the sketches. The first refusal that contains the text `explain` becomes the example.
inline DrawStudy StudyDraws(absl::string_view space, const Program& program, const Target& target, int draws,
                            const std::string& explain = "", uint64_t seed = 1) {
  DrawStudy study;
  const auto parsed = ParseSpace(space);
  KILN_CHECK(parsed.ok(), parsed.status().ToString());
  const auto sketches = Enumerate(*parsed, program, target);
  KILN_CHECK(sketches.ok(), sketches.status().ToString());
  study.sketches = sketches->sketches.size();
  study.dropped = sketches->dropped.size();
  for (const DroppedSequence& dropped : sketches->dropped)
    study.refused[absl::StrCat("dropped sketch: ", dropped.reason.message())] += 0;
  for (; study.draws < draws && study.sketches > 0; ++study.draws) {
    const size_t number = static_cast<size_t>(study.draws) % study.sketches;
    const Trace& trace = sketches->sketches[number].trace;
    RandomDice dice(Engine({seed, static_cast<uint64_t>(study.draws)}));
    RandomChooser chooser(dice);
    const double start = MicrosecondsOfThread();
    const auto replayed = Replay(trace, program, target, chooser);
    study.replay_us.push_back(MicrosecondsOfThread() - start);
    const std::string why =
        replayed.ok() ? Refusal(replayed->program(), target) : std::string(replayed.status().message());
    study.all_us.push_back(MicrosecondsOfThread() - start);
    if (why.empty()) {
      ++study.valid;
      std::string key = absl::StrCat(number, ":");
      for (const ReplayedSite& site : replayed->sites)
        absl::StrAppend(&key, absl::StrJoin(site.decision, ","), ";");
      study.programs.insert(key);
      continue;
    }
    ++study.refused[why];
    if (!explain.empty() && study.example.empty() && absl::StrContains(why, explain))
      study.example =
          absl::StrCat(why, "\n", Print(trace), "\n", replayed.ok() ? ToString(replayed->program()) : "");
  }
  return study;
}

}  // namespace kiln
