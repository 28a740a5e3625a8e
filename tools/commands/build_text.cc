#include "tools/commands/build_text.h"

#include <cstdio>
#include <string>
#include <vector>

#include "api/text.h"
#include "tools/common.h"

namespace kiln::tools {

void PrintText(const api::BuildReport& report) {
  std::vector<std::vector<std::string>> rows = {{"task", "calls", "schedule", "record", "time of one"}};
  for (const api::BuiltTask& task : report.tasks)
    rows.push_back({task.name, std::to_string(task.occurrences), task.schedule,
                    task.record > 0 ? std::to_string(task.record) : "",
                    task.seconds > 0 ? api::TimeText(task.seconds) : ""});
  std::printf("%s", Table(rows).c_str());
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
