// Measures what default schedules (search/model/default_schedules.h) are worth, beside a search.
//
//   default_schedules_bench [--seconds 5] [--changes N] [--trials 64] [--tuned 6] [--inputs 1] [--seed 0]
//                           [--results FILE] [--commit ID] MODEL...
//
// All arguments of a model but the first `--inputs` are constants. The budget is `--seconds` of CPU time plus 20 ms for
// each task, or `--changes` of decisions. Every task is timed with its default schedule. The tasks whose occurrences
// take longest, `--tuned` of each model, are also tuned, with `--trials` trials each, and both schedules race. Prints
// and appends a line of JSON for each task, and one for each model: "default" and "tuned" are seconds of one execution
// in a race, "alone" are those of the default in a measurement of its own. "sum" adds "alone" over all occurrences of
// all tasks. "ratio" is the geometric mean of default over tuned, "most" the largest.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "backends/cpu/cores.h"
#include "backends/import/import.h"
#include "bench/searches.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "lang/analysis/cost.h"
#include "lang/graph/outline.h"
#include "search/database/memory_store.h"
#include "search/model/default_schedules.h"

namespace kiln {
namespace {

struct Settings {
  double seconds = 5;
  int64_t changes = 0;
  int trials = 64, tuned = 6, inputs = 1;
  uint64_t seed = 0;
  std::string results, commit;
  std::vector<std::string> models;
};

constexpr int kMostArguments = 1000;

std::vector<Task> TasksOf(const std::string& model, const Settings& settings, const Target& target) {
  ImportOptions options;
  for (int i = settings.inputs; i < kMostArguments; ++i) options.constant_arguments.push_back(i);
  const auto imported = ImportFile(model, options);
  KILN_CHECK(imported.ok(), imported.status().ToString());
  return ExtractTasks(imported->program, target.policies, target.costs).value();
}

double SecondsOf(const MeasureResult& result) {
  RecordRow row;
  row.samples = result.samples;
  return result.ok() ? Seconds(row) : std::numeric_limits<double>::infinity();
}

Program Tuned(const Task& task, const Machine& machine, const Settings& settings) {
  const auto store = MakeMemoryStore();
  TuneOptions options;
  options.trials = settings.trials;
  options.seed = settings.seed;
  options.threads = static_cast<int>(UsableCores().size());
  const auto tuned = Tune({{task.program.name, task.program, Flops(task.program)}},
                          ParseSpace(DefaultSpace(machine.target)).value(), machine.target, options,
                          *machine.measurer, *store);
  KILN_CHECK(tuned.ok(), tuned.status().ToString());
  return tuned->front().program;
}

void Report(const Json& line, const Settings& settings) {
  std::cout << line.dump() << std::endl;
  if (!settings.results.empty()) AppendResult(line, settings.results);
}

// A task with its default schedule, the measured time, and the line of JSON that reports both.
struct Measured {
  Task task;
  DefaultSchedule schedule;
  double seconds = 0;  // of one execution, in a measurement of its own
  Json line;

  double occurrences() const { return static_cast<double>(task.occurrences.size()); }
};

std::vector<Measured> Defaults(const std::string& model, const Machine& machine, const Settings& settings) {
  std::vector<Measured> measured;
  std::vector<DefaultTask> wanted;
  for (Task& task : TasksOf(model, settings, machine.target)) {
    measured.push_back({std::move(task), {}, 0, {}});
    wanted.push_back({measured.back().task.program, measured.back().occurrences()});
  }
  auto schedules = DefaultSchedules(
      wanted, ParseSpace(DefaultSpace(machine.target)).value(), machine.target,
      {.seed = settings.seed,
       .changes = settings.changes,
       .seconds = settings.changes > 0 ? 0 : settings.seconds + 0.02 * static_cast<double>(wanted.size()),
       .threads = static_cast<int>(UsableCores().size())});
  KILN_CHECK(schedules.ok(), schedules.status().ToString());
  for (size_t t = 0; t < measured.size(); ++t) measured[t].schedule = std::move((*schedules)[t]);
  return measured;
}

// Times a task on its default schedule, in a measurement of its own. Sets m.seconds and m.line.
void Time(const std::string& model, const Machine& machine, const Settings& settings, Measured& m) {
  const MeasureRequest request{0, &m.task.program, &m.schedule.program, 0, true};
  m.seconds = SecondsOf(machine.measurer->Measure({&request, 1})[0]);
  m.line = {{"model", model},
            {"commit", settings.commit},
            {"task", m.task.program.name},
            {"occurrences", m.occurrences()},
            {"gflops", Flops(m.task.program) / m.seconds * 1e-9},
            {"cycles", m.schedule.cycles},
            {"tried", m.schedule.tried},
            {"note", m.schedule.note},
            {"alone", m.seconds}};
}

// Tunes the task, races the result with the default schedule and adds the seconds of both to m.line. Returns how many
// times as long the default schedule takes.
double Race(const Machine& machine, const Settings& settings, Measured& m) {
  const Program best = Tuned(m.task, machine, settings);
  const MeasureRequest requests[] = {{0, &m.task.program, &m.schedule.program, 0, true},
                                     {0, &m.task.program, &best, 0, true}};
  const std::vector<MeasureResult> raced = machine.measurer->Race(requests);
  const double by_default = SecondsOf(raced[0]), by_search = SecondsOf(raced[1]);
  m.line["default"] = by_default;
  m.line["tuned"] = by_search;
  m.line["ratio"] = by_default / by_search;
  return by_default / by_search;
}

void Measure(const std::string& model, const Settings& settings) {
  const Machine machine = Machine::Cpu();
  const ProcessClock clock;
  const double begin = clock.Seconds();
  std::vector<Measured> measured = Defaults(model, machine, settings);
  const double spent = clock.Seconds() - begin;
  double total = 0;
  for (Measured& m : measured) {
    Time(model, machine, settings, m);
    total += m.seconds * m.occurrences();
  }
  std::sort(measured.begin(), measured.end(), [](const Measured& a, const Measured& b) {
    return a.seconds * a.occurrences() > b.seconds * b.occurrences();
  });
  double logarithms = 0, most = 0;
  const size_t tuned = std::min(measured.size(), static_cast<size_t>(settings.tuned));
  for (size_t t = 0; t < measured.size(); ++t) {
    if (t < tuned) {
      const double ratio = Race(machine, settings, measured[t]);
      logarithms += std::log(ratio);
      most = std::max(most, ratio);
    }
    Report(measured[t].line, settings);
  }
  Json whole{{"model", model},           {"commit", settings.commit}, {"cpu", machine.target.cpu},
             {"tasks", measured.size()}, {"cpu_seconds", spent},      {"sum", total}};
  if (tuned > 0) whole["ratio"] = std::exp(logarithms / static_cast<double>(tuned)), whole["most"] = most;
  Report(whole, settings);
}

int Main(int argc, char** argv) {
  Settings settings;
  CommandLine line("default_schedules_bench", "default schedules beside searches");
  line.Add("--seconds", &settings.seconds);
  line.Add("--changes", &settings.changes);
  line.Add("--trials", &settings.trials);
  line.Add("--tuned", &settings.tuned);
  line.Add("--inputs", &settings.inputs);
  line.Add("--seed", &settings.seed);
  line.Add("--results", &settings.results);
  line.Add("--commit", &settings.commit);
  line.Add("models", &settings.models, "", {.required = true});
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  for (const std::string& model : settings.models) Measure(model, settings);
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
