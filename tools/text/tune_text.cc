#include "tools/text/tune_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/text.h"
#include "tools/common.h"
#include "tools/text/build_text.h"

namespace kiln::tools {
namespace {

const char* EndedText(const std::string& ended) {
  if (ended == "exhausted") return "; the space has nothing new";
  if (ended == "roofline") return "; near the roofline";
  return ended == "gain" ? "; the last ones gained too little" : "";
}

std::string BestText(const api::TaskResult& t) {
  if (t.cycles > 0) return absl::StrCat(api::CyclesText(t.cycles), ", static: estimated, not measured");
  std::string best =
      absl::StrCat(api::TimeText(t.seconds), ", ", api::RateText(t.gflops * 1e9 * t.seconds, t.seconds));
  if (t.untuned_seconds) {
    absl::StrAppendFormat(&best, ", %.1fx faster than untuned (%s)", *t.untuned_seconds / t.seconds,
                          api::TimeText(*t.untuned_seconds));
  }
  return best;
}

void PrintResult(const api::TaskResult& t, const std::string& database) {
  const std::string id = absl::StrCat("--db ", api::Quoted(database), " ", t.record);
  const char* const kiln = ProgramName().c_str();
  std::printf("  best      %s\n", BestText(t).c_str());
  std::printf("  record    %ld, %s\n", static_cast<long>(t.record), t.trust.c_str());
  if (!t.share.empty()) std::printf("  machine   %s\n", t.share.c_str());
  for (const api::LibraryRatio& l : t.libraries) {
    std::printf("  library   %s takes %.2f times as long (%s)\n", l.name.c_str(), l.ratio,
                api::TimeText(l.seconds).c_str());
  }
  if (!t.noise.empty()) {
    std::printf(
        "  noisy     %s\n            close other programs, then time it again by `replay` (below); "
        "`%s doctor` says what disturbs\n",
        t.noise.c_str(), kiln);
  }
  std::printf("  how       %s\n", t.how.c_str());
  std::printf("  trials    %d%s%s\n", t.trials,
              t.failures.empty() ? "" : absl::StrCat(", of which ", api::FailuresText(t.failures)).c_str(),
              EndedText(t.ended));
  for (const char* command : {"show", "replay", "export"}) {
    if (t.cycles > 0 && absl::string_view(command) == "replay") continue;
    std::printf("  %-8s  %s %s %s%s\n", command, kiln, command, id.c_str(),
                absl::string_view(command) == "export" ? " -o out/" : "");
  }
}

// Returns in words how many seconds of the whole model a further minute of search is expected to gain, or that this is
// not known yet.
std::string GainText(const api::TuneReport& report) {
  if (!report.minute_gain) return "its gain is not known yet; no task has gained in two rounds";
  std::string text = absl::StrCat(api::TimeText(*report.minute_gain), " of the whole");
  if (report.whole_run)
    absl::StrAppend(&text, " (", api::PercentText(*report.minute_gain / report.whole_run->seconds.median),
                    ")");
  return absl::StrCat(text, ", if past gains go on");
}

}  // namespace

void PrintText(const api::TuneReport& report) {
  if (!report.nothing.empty()) std::printf("kiln: %s\n", report.nothing.c_str());
  for (const api::TaskResult& t : report.tasks) {
    std::printf("%s\n", t.name.c_str());
    if (t.record == 0) {
      std::printf("  best      none after %d trials: %s\n", t.trials, t.reason.c_str());
    } else {
      PrintResult(t, report.database);
    }
    for (const std::string& file : t.files) std::printf("  wrote     %s\n", file.c_str());
  }
  if (!report.whole) return;
  std::printf("the whole: %s\n", report.whole->name.c_str());
  PrintText(*report.whole, report.whole_run ? &*report.whole_run : nullptr);
  std::vector<std::string> defaults;
  for (const api::BuiltTask& task : report.whole->tasks) {
    if (task.schedule == "default") defaults.push_back(task.name);
  }
  if (!defaults.empty()) std::printf("on default schedules: %s\n", absl::StrJoin(defaults, ", ").c_str());
  if (report.raced_wholes) {
    const api::Interval& ratio = report.raced_wholes->ratio;
    std::printf(
        "raced %d wholes: with the records that are fastest alone it takes %.3f [%.3f, %.3f] times as long\n",
        report.raced_wholes->wholes, ratio.median, ratio.low, ratio.high);
  }
  std::printf("a further minute: %s\n", GainText(report).c_str());
}

}  // namespace kiln::tools
