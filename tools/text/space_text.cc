#include "tools/text/space_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/text.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

std::string SupportText(const Sketch& sketch) {
  return absl::StrCat(sketch.exact_support ? "" : "about ", api::CountText(std::exp(sketch.log_support)));
}

// Prints why modules left blocks alone. `where` is module and block, as in "cpu/multi-level-tiling/relu".
void PrintDeclined(const Enumeration& space) {
  if (space.declined.empty()) return;
  std::vector<std::vector<std::string>> rows{{"  block", "module", "left it alone, for"}};
  for (const Schedule::Declined& d : space.declined) {
    const size_t slash = d.where.rfind('/');
    rows.push_back({absl::StrCat("  ", d.where.substr(slash + 1)),
                    d.where.substr(0, std::min(slash, d.where.size())), d.why});
  }
  std::printf("\n%s", Table(rows).c_str());
}

void PrintSketches(const Enumeration& space) {
  for (size_t i = 0; i < space.sketches.size(); ++i) {
    const Sketch& sketch = space.sketches[i];
    std::printf("\nsketch %zu of %zu: support %s\n", i + 1, space.sketches.size(),
                SupportText(sketch).c_str());
    std::printf("  %s\n", absl::StrReplaceAll(api::TraceText(sketch.trace), {{"\n", "\n  "}}).c_str());
    std::vector<std::vector<std::string>> rows{{"  site", "support"}};
    for (const SketchSite& site : sketch.sites)
      rows.push_back({absl::StrCat("  ", api::NameText(site.name)), api::CountText(site.support)});
    std::printf("%s", Table(rows).c_str());
  }
}

void PrintDropped(const Enumeration& space) {
  for (const DroppedSequence& d : space.dropped) {
    std::vector<std::string> choices;
    for (const Schedule::Choice& c : d.choices)
      choices.push_back(absl::StrCat(api::NameText(c.name), "=", c.picked));
    std::printf("\ndropped: %s\n  %s\n", absl::StrJoin(choices, " ").c_str(),
                absl::StrReplaceAll(d.reason.message(), {{"\n", "\n  "}}).c_str());
  }
}

std::vector<std::string> RowOf(const api::TaskSketches& t) {
  const std::string occurrences = absl::StrCat(t.task.occurrences);
  if (!t.status.ok()) return {t.task.name, occurrences, "none: crashed"};
  return {t.task.name,
          occurrences,
          absl::StrCat(t.sketches.sketches.size(), t.sketches.complete ? "" : "+"),
          api::CountText(t.support()),
          absl::StrFormat("%.3g", t.task.flops * 1e-9),
          t.task.blocks};
}

}  // namespace

void PrintText(const api::SpaceReport& report, bool summary) {
  std::vector<std::vector<std::string>> rows{
      {"task", "occurrences", "sketches", "support", "GFLOP", "blocks"}};
  for (const api::TaskSketches& t : report.tasks) rows.push_back(RowOf(t));
  std::printf("space: %s\n", report.space.c_str());
  if (report.items != report.space) std::printf("items: %s\n", report.items.c_str());
  std::printf("\n%s", Table(rows).c_str());
  if (report.tasks.size() == 1 && report.tasks[0].status.ok()) {
    if (!summary) PrintSketches(report.tasks[0].sketches);
    PrintDropped(report.tasks[0].sketches);
    PrintDeclined(report.tasks[0].sketches);
  }
  if (!report.left_out.empty()) std::printf("\nnot tunable:\n");
  for (const api::LeftOut& l : report.left_out)
    std::printf("  %s: %s (%s)\n", l.location.c_str(), l.op.c_str(), l.reason.c_str());
  if (report.tasks.size() > 1) std::printf("\n--task NAME prints the sketches of a task.\n");
}

}  // namespace kiln::tools
