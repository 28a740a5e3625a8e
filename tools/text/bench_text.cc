#include "tools/text/bench_text.h"

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/text.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

std::string RatioText(const api::Interval& ratio) {
  return absl::StrFormat("%.2fx [%.2f, %.2f]", ratio.median, ratio.low, ratio.high);
}

void AddRows(const api::TaskTimes& t, std::vector<std::vector<std::string>>& rows) {
  const auto add = [&](const std::string& task, const std::string& program, double seconds,
                       const std::string& ratio) {
    rows.push_back({task, program, api::TimeText(seconds), api::RateText(t.flops, seconds), ratio});
  };
  add(t.task, t.record == 0 ? "untuned" : absl::StrCat("record ", t.record), t.seconds.median, "");
  for (const api::PeerTimes& p : t.beside) add("", p.name, p.seconds.median, RatioText(p.ratio));
}

void PrintWhole(const api::WholeTimes& t) {
  std::vector<std::vector<std::string>> rows{{"whole", "program", "latency", "times as long"}};
  rows.push_back(
      {t.name, t.records == 0 ? "untuned" : absl::StrCat(t.records, " of ", t.tasks, " tasks with a record"),
       api::TimeText(t.seconds.median), ""});
  if (t.untuned)
    rows.push_back(
        {"", t.untuned->name, api::TimeText(t.untuned->seconds.median), RatioText(t.untuned->ratio)});
  std::printf("%s\nIn turns: medians of %d, with 95%% intervals. %d samples were disturbed.\n",
              Table(rows).c_str(), t.rounds, t.disturbed);
}

void PrintTasks(const std::vector<api::TaskTimes>& tasks) {
  std::set<std::string> left_out;
  std::vector<std::vector<std::string>> rows{{"task", "program", "latency", "rate", "times as long"}};
  for (const api::TaskTimes& t : tasks) {
    AddRows(t, rows);
    for (const auto& [name, why] : t.left_out)
      left_out.insert(absl::StrCat("left out: ", name, ": ", why, "\n"));
  }
  std::printf("%s\nIn turns: medians, and how many times as long as the first, with 95%% intervals.\n%s",
              Table(rows).c_str(), absl::StrJoin(left_out, "").c_str());
}

}  // namespace

void PrintText(const api::BenchReport& report) {
  if (report.whole) {
    PrintWhole(*report.whole);
  } else {
    PrintTasks(report.tasks);
  }
}

void PrintText(const api::RaceReport& r) {
  const auto row = [](const api::RacedProgram& p) -> std::vector<std::string> {
    return {absl::StrCat("  record ", p.record), p.database, api::TimeText(p.seconds.median),
            api::RateText(p.gflops * 1e9 * p.seconds.median, p.seconds.median),
            p.noise.empty() ? "quiet" : p.noise};
  };
  std::printf(
      "%s, in turns\n%s", r.workload.c_str(),
      Table({{"  program", "database", "latency", "rate", "samples"}, row(r.one), row(r.other)}).c_str());
  const char* decided = "not decided: the interval includes 1";
  if (r.ratio.low > 1) decided = "the second is faster";
  if (r.ratio.high < 1) decided = "the first is faster";
  std::printf("ratio %.3f [%.3f, %.3f], %s: %s\n", r.ratio.median, r.ratio.low, r.ratio.high,
              r.noisy() ? "noisy" : "quiet", decided);
}

}  // namespace kiln::tools
