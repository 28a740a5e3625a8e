#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "lang/text.h"
#include "search/cost/models.h"
#include "search/knowledge.h"
#include "tools/cost_model_option.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "trace/text.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string database = "kiln.db", features = "ansor", output;
  bool json = false;
};

// A workload on a machine.
struct Trained {
  Program program;
  Target target;
};

using Key = std::pair<RowId, RowId>;  // workload, target

absl::StatusOr<std::vector<Trained>> TasksOf(const StoreContents& contents, std::map<Key, int>* numbers) {
  std::map<RowId, const WorkloadRow*> workloads;
  std::map<RowId, const TargetRow*> targets;
  for (const WorkloadRow& row : contents.workloads) workloads[row.id] = &row;
  for (const TargetRow& row : contents.targets) targets[row.id] = &row;
  std::vector<Trained> tasks;
  for (const RecordRow& record : contents.records) {
    if (!numbers->try_emplace({record.workload, record.target}, tasks.size()).second) continue;
    absl::StatusOr<Program> program = ParseProgram(workloads.at(record.workload)->program);
    if (!program.ok()) return program.status();
    absl::StatusOr<Target> target = TargetOf(*targets.at(record.target));
    if (!target.ok()) return target.status();
    tasks.push_back({*std::move(program), *std::move(target)});
  }
  return tasks;
}

absl::Status Train(const Options& o) {
  auto store = OpenExistingStore(o.database);
  if (!store.ok()) return store.status();
  const absl::StatusOr<StoreContents> contents = (*store)->ReadAll();
  if (!contents.ok()) return contents.status();
  std::map<Key, int> numbers;
  const absl::StatusOr<std::vector<Trained>> tasks = TasksOf(*contents, &numbers);
  if (!tasks.ok()) return tasks.status();

  const FeatureKind kind = *FeatureKindOf(o.features);
  Knowledge knowledge(static_cast<int>(tasks->size()));
  int learned = 0, left_out = 0;
  for (const RecordRow& record : contents->records) {
    if (IsOfRace(record)) continue;
    const int task = numbers.at({record.workload, record.target});
    const auto& [program, target] = (*tasks)[task];
    const absl::StatusOr<Trace> trace = ParseTrace(record.trace);
    const auto replayed = trace.ok() ? Replay(*trace, program, target, {.snapshots = false}) : trace.status();
    if (!replayed.ok()) {
      ++left_out;
      continue;
    }
    const double seconds =
        record.status == kRecordOk ? Seconds(record) : std::numeric_limits<double>::infinity();
    knowledge.Add({.task = task, .record = record.id, .seconds = seconds, .lower_bound = record.lower_bound},
                  KindExtractor(target, kind).Extract(*replayed));
    ++learned;
  }
  if (learned == 0)
    return absl::FailedPreconditionError(absl::StrCat(o.database, " has no record to learn from"));
  const auto model = MakeGlobalModel(kind);
  if (!model.ok()) return model.status();
  if (absl::Status status = knowledge.Teach(**model); !status.ok()) return status;
  const auto bytes = (*model)->Save();
  if (!bytes.ok()) return bytes.status();
  std::ofstream file(o.output, std::ios::binary);
  if (!(file << *bytes).flush()) return absl::UnavailableError(absl::StrCat(o.output, " cannot be written"));
  if (o.json) {
    Print(Json{{"model", o.output}, {"tasks", tasks->size()}, {"records", learned}, {"left_out", left_out}});
  } else {
    std::printf("wrote %s, from %d records of %zu tasks%s\n", o.output.c_str(), learned, tasks->size(),
                left_out == 0 ? "" : absl::StrCat("; ", left_out, " cannot be replayed").c_str());
  }
  return absl::OkStatus();
}

}  // namespace

Action AddTrain(CLI::App& command) {
  auto o = std::make_shared<Options>();
  AddDatabase(command, &o->database);
  AddFeatures(command, &o->features);
  command.add_option("-o,--output", o->output, "Where the model goes")->required();
  AddJson(command, &o->json);
  return [o] { return Train(*o); };
}

}  // namespace kiln::tools
