#include "tools/text/model_text.h"

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

std::string Bytes(int64_t bytes) { return bytes == 0 ? "" : std::to_string(bytes); }

std::string CallsText(const api::PlannedModel& model) {
  std::vector<std::vector<std::string>> rows{
      {"call", "task", "schedule", "workers", "bytes", "scratch", "arrays"}};
  for (const api::PlannedCall& c : model.calls)
    rows.push_back({c.prepares ? "prepare" : std::to_string(c.number), c.task, c.schedule,
                    c.takes_threads ? "threads" : "1", Bytes(c.bytes), Bytes(c.workspace), c.arguments});
  return Table(rows);
}

std::string MemoryText(const api::PlannedModel& model) {
  std::vector<std::vector<std::string>> rows{{"area", "from", "to", "calls", "what"}};
  for (const api::PlannedArray& a : model.arrays)
    rows.push_back({a.area, std::to_string(a.begin), std::to_string(a.end),
                    a.first < 0 ? "" : absl::StrCat(a.first, " to ", a.last), a.what});
  return absl::StrCat(Table(rows), "arena ", model.arena_bytes, " bytes (", model.alive_bytes(),
                      " alive at once), weights ", model.weights_bytes, " bytes\n");
}

}  // namespace

void PrintText(const api::PlannedModel& model, absl::string_view stage) {
  std::printf("%s", (stage == "calls" ? CallsText(model) : MemoryText(model)).c_str());
}

}  // namespace kiln::tools
