#include "tools/text/build_text.h"

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "api/text.h"
#include "tools/common.h"

namespace kiln::tools {

namespace {

// Returns for each task the median seconds of its calls, added up.
std::map<std::string, double> SecondsByTask(const api::RunReport& run) {
  std::map<std::string, double> seconds;
  for (const api::CallTimes& call : run.calls) seconds[call.task] += call.seconds.median;
  return seconds;
}

}  // namespace

void PrintText(const api::BuildReport& report, const api::RunReport* run) {
  std::map<std::string, double> in_place;
  if (run != nullptr) in_place = SecondsByTask(*run);
  double all = 0;
  for (const auto& [task, seconds] : in_place) all += seconds;
  std::vector<std::vector<std::string>> rows = {{"task", "calls", "schedule", "record", "time of one"}};
  if (run != nullptr) rows[0].insert(rows[0].end(), {"in place", "share"});
  for (const api::BuiltTask& task : report.tasks) {
    std::vector<std::string>& row = rows.emplace_back();
    row = {task.name, std::to_string(task.occurrences), task.schedule,
           task.record > 0 ? std::to_string(task.record) : "",
           task.seconds > 0 ? api::TimeText(task.seconds) : ""};
    const auto found = in_place.find(task.name);
    if (found == in_place.end()) continue;
    row.push_back(api::TimeText(found->second / task.occurrences));
    row.push_back(api::PercentText(found->second / all));
  }
  std::printf("%s", Table(rows).c_str());
  if (run != nullptr)
    std::printf("%s [%s, %s] a run, median of %d, %d thread%s\n", api::TimeText(run->seconds.median).c_str(),
                api::TimeText(run->seconds.low).c_str(), api::TimeText(run->seconds.high).c_str(), run->runs,
                run->threads, run->threads == 1 ? "" : "s");
  std::printf("%d calls, arena %ld bytes (%ld alive at once), weights %ld bytes, built in %s\n", report.calls,
              static_cast<long>(report.arena_bytes), static_cast<long>(report.alive_bytes),
              static_cast<long>(report.weights_bytes), api::TimeText(report.seconds).c_str());
  const api::ModelAccuracy& found = report.accuracy;
  if (found.checked && found.note.empty())
    std::printf(
        "checked: arrays keep to themselves; the error beside f64 is %.1e of a result's range, below %.1e\n",
        found.error, found.limit);
  if (found.checked && !found.note.empty())
    std::printf("checked: arrays keep to themselves; not compared with f64: %s\n", found.note.c_str());
  for (const std::string& file : report.files) std::printf("%s\n", file.c_str());
}

}  // namespace kiln::tools
