#include "api/internal/model/model_trace.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/errors.h"
#include "lang/model/plan_text.h"

namespace kiln::api {
namespace {

constexpr absl::string_view kHead = "kiln.model v1 ";

// Parses one line of text from left to right. After the first part that does not match, ok() stays false.
class Line {
 public:
  explicit Line(absl::string_view text) : rest_(text) {}

  bool Skip(absl::string_view word) { return !failed_ && absl::ConsumePrefix(&rest_, word); }
  Line& Expect(absl::string_view word) {
    failed_ |= !Skip(word);
    return *this;
  }
  Line& Number(int64_t* number) {
    const size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    int64_t read = 0;
    failed_ |= !absl::SimpleAtoi(rest_.substr(0, digits), &read);
    if (!failed_) *number = read;
    rest_.remove_prefix(digits);
    return *this;
  }
  Line& Number(int* number) {
    int64_t wide = 0;
    Number(&wide);
    *number = static_cast<int>(wide);
    return *this;
  }
  // Reads the text up to the next `until`, and skips `until`. Fails if `until` does not occur.
  Line& Text(absl::string_view until, std::string* text) {
    const size_t at = rest_.find(until);
    failed_ |= at == absl::string_view::npos;
    if (failed_) return *this;
    *text = std::string(rest_.substr(0, at));
    rest_.remove_prefix(at + until.size());
    return *this;
  }
  std::string Rest() { return std::string(std::exchange(rest_, "")); }
  bool ok() const { return !failed_ && rest_.empty(); }

 private:
  absl::string_view rest_;
  bool failed_ = false;
};

bool ReadCall(absl::string_view text, PlannedModel* model) {
  Line line(text);
  PlannedCall call;
  call.prepares = line.Skip("prepare ");
  if (!call.prepares) line.Expect("call ");
  line.Number(&call.number).Expect(": ");
  if (line.Skip("foreign ")) call.schedule = "foreign";
  line.Text("(", &call.task).Text(")", &call.arguments);
  line.Expect(" bytes ").Number(&call.bytes);
  while (line.Skip(" workspace ")) {
    int64_t bytes = 0, offset = 0;
    line.Number(&bytes).Expect(" at ").Number(&offset);
    call.workspace += bytes;
  }
  model->calls.push_back(std::move(call));
  return line.ok();
}

bool ReadArray(absl::string_view text, const std::string& area, PlannedModel* model) {
  Line line(text);
  PlannedArray array{.area = area};
  line.Expect("  ").Number(&array.begin).Expect(" .. ").Number(&array.end).Expect("  ");
  const std::string what = line.Rest();
  if (absl::StrContains(what, "  calls ")) {
    Line lifetime(what);
    lifetime.Text("  calls ", &array.what).Number(&array.first).Expect(" to ").Number(&array.last);
    if (!lifetime.ok()) return false;
  } else {
    array.what = what;
    Line workspace(what);
    if (workspace.Skip("workspace of call ")) {
      workspace.Number(&array.first);
      array.last = array.first;
    }
  }
  model->arrays.push_back(std::move(array));
  return line.ok();
}

struct TaskLine {
  std::string schedule;
  bool takes_threads = false;
};

// Reads a line "task HASH NAME SCHEDULE[, threads]" and adds the schedule to `tasks` under NAME. Returns false if it is
// malformed.
bool ReadTask(absl::string_view text, std::map<std::string, TaskLine>* tasks) {
  Line line(text);
  std::string hash, name;
  line.Expect("task ").Text(" ", &hash).Text(" ", &name);
  TaskLine task{.schedule = line.Rest()};
  absl::string_view schedule = task.schedule;
  task.takes_threads = absl::ConsumeSuffix(&schedule, ", threads");
  task.schedule = std::string(schedule);
  (*tasks)[name] = std::move(task);
  return line.ok();
}

// Parses the first line of a memory area, "NAME N bytes", and stores N in the model. Returns NAME, or "" if the line is
// something else.
std::string ReadArea(absl::string_view text, PlannedModel* model) {
  const std::pair<const char*, int64_t*> areas[] = {{"arena", &model->arena_bytes},
                                                    {"weights", &model->weights_bytes},
                                                    {"scratch of the prepare phase", &model->scratch_bytes}};
  for (const auto& [name, bytes] : areas) {
    Line line(text);
    if (line.Expect(name).Expect(" ").Number(bytes).Expect(" bytes").ok()) return name;
  }
  return "";
}

}  // namespace

std::string ModelTraceText(const Program& model, const WholeModel& whole, const ModelSchedules& schedules) {
  std::vector<std::string> names;
  for (const BuiltTask& task : schedules.told) names.push_back(task.name);
  std::string text = absl::StrCat(kHead, whole.described.name, "\n\n", CallsText(model, whole.plan, names),
                                  "\n", MemoryText(model, whole.plan));
  for (size_t t = 0; t < schedules.tasks.size(); ++t) {
    const BuiltTask& task = schedules.told[t];
    absl::StrAppend(&text, "\ntask ", task.hash, " ", task.name, " ", ScheduleText(task),
                    whole.code.code[t].takes_threads ? ", threads" : "", "\n", schedules.traces[t]);
  }
  return text;
}

absl::StatusOr<PlannedModel> ParseModelTrace(const std::string& path, absl::string_view text) {
  const auto wrong = [&](size_t line, const std::string& what) {
    return Mistake(absl::InvalidArgumentError(absl::StrCat(path, ":", line + 1, ": ", what)));
  };
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  PlannedModel model;
  if (!absl::StartsWith(lines[0], kHead))
    return wrong(0, "not the trace of a model; `kiln build` writes NAME.trace");
  model.name = std::string(lines[0].substr(kHead.size()));
  std::map<std::string, TaskLine> tasks;
  std::string area;
  for (size_t i = 1; i < lines.size(); ++i) {
    const absl::string_view line = lines[i];
    bool fits = true;
    if (absl::StartsWith(line, "task ")) {
      fits = ReadTask(line, &tasks);
    } else if (!tasks.empty() || line.empty()) {
      continue;  // the trace of a task
    } else if (absl::StartsWith(line, "call ") || absl::StartsWith(line, "prepare ")) {
      fits = ReadCall(line, &model);
    } else if (absl::StartsWith(line, " ")) {
      fits = ReadArray(line, area, &model);
    } else {
      area = ReadArea(line, &model);
      fits = !area.empty();
    }
    if (!fits) return wrong(i, absl::StrCat("malformed: \"", line, "\""));
  }
  for (PlannedCall& call : model.calls) {
    if (!call.schedule.empty()) continue;
    const TaskLine& task = tasks[call.task];
    call.schedule = task.schedule;
    call.takes_threads = task.takes_threads;
  }
  return model;
}

int64_t PlannedModel::alive_bytes() const {
  int64_t most = 0;
  for (const PlannedCall& call : calls) {
    int64_t alive = 0;
    for (const PlannedArray& array : arrays) {
      if (array.area == "arena" && array.first <= call.number && call.number <= array.last)
        alive += array.end - array.begin;
    }
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace kiln::api
