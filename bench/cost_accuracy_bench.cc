// Measures how well cost models rank programs, for each kind of features:
//
//   cost_accuracy_bench DB            uses measured records: for each workload, those of one machine that ran, in
//                                     their order, without races
//   cost_accuracy_bench --simulated   uses random candidates of the default space on the simulated machine
//
// Each model learns from the first 16, 64, 256 .. programs and ranks the later ones. Prints the rank accuracy
// (search/cost/rank.h), the share of the eight fastest among the eight best by score, and the seconds to
// train from scratch. A model that learns nothing is reported once.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "backends/import/import.h"
#include "lang/base/check.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "search/cost/models.h"
#include "search/cost/rank.h"
#include "search/database/sqlite_store.h"
#include "search/measure/simulated_machine.h"
#include "search/propose/measured_history.h"
#include "search/propose/prefilter.h"
#include "search/run/run_key.h"
#include "search/sampler/chain.h"
#include "testing/matmul.h"
#include "trace/enumerate.h"
#include "trace/text.h"

namespace kiln {
namespace {

// For programs of one task: the features of each kind for CPUs, and the measured seconds.
struct Known {
  std::vector<std::vector<FeatureSet>> features{static_cast<size_t>(FeatureKind::kGpu)};
  std::vector<double> seconds;

  void Add(const Replayed& replayed, const Target& target, double time) {
    for (size_t kind = 0; kind < features.size(); ++kind)
      features[kind].push_back(KindExtractor(target, static_cast<FeatureKind>(kind)).Extract(replayed));
    seconds.push_back(time);
  }
  FeatureBatch Features(size_t kind, size_t begin, size_t end) const {
    FeatureBatch batch;
    for (size_t i = begin; i < end; ++i) batch.Append(features[kind][i]);
    return batch;
  }
  std::vector<double> Truth(size_t begin, size_t end) const {
    return Throughputs(absl::MakeSpan(seconds).subspan(begin, end - begin));
  }
};

void Report(const Known& known, const std::string& model_name, size_t kind) {
  const FeatureKind features = static_cast<FeatureKind>(kind);
  if (!MakeCostModel(model_name, {.features = features}).ok()) return;
  const size_t n = known.seconds.size();
  const bool learns = model_name != "roofline" && model_name != "random";
  for (size_t learned = learns ? 16 : 0; learned + 16 <= n; learned *= 4) {
    const auto model = MakeCostModel(model_name, {.features = features}).value();
    double seconds = 0;
    if (learns) {
      std::vector<TrainingLabel> labels;
      for (const double throughput : known.Truth(0, learned)) labels.push_back({.throughput = throughput});
      const FeatureBatch batch = known.Features(kind, 0, learned);
      const auto begin = std::chrono::steady_clock::now();
      KILN_CHECK(model->Update(batch, labels).ok());
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    const std::vector<double> scores = model->Predict(known.Features(kind, learned, n)).value(),
                              truth = known.Truth(learned, n);
    std::printf(
        "  %-15s %-17s %4zu learned (%5.2f s), %4zu ordered: rank accuracy %.3f, recall of the fastest 8 "
        "%.2f\n",
        model_name.c_str(), FeatureKindNames()[kind].c_str(), learned, seconds, scores.size(),
        RankAccuracy(scores, truth).value_or(0), RecallAtK(scores, truth, 8).value_or(0));
    if (!learns) break;
  }
}

void Report(const std::string& task, const Known& known) {
  std::printf("%s\n", task.c_str());
  for (const std::string& model : CostModelNames()) {
    if (model == "trees-alone") continue;  // equal to `trees` after training
    for (size_t kind = 0; kind < known.features.size(); ++kind) Report(known, model, kind);
  }
}

Known Read(const StoreContents& contents, const WorkloadRow& workload) {
  const Program original = ParseProgram(workload.program).value();
  Known known;
  for (const TargetRow& row : contents.targets) {
    const Target target = TargetOf(row).value();
    for (const RecordRow& record : contents.records) {
      if (record.workload != workload.id || record.target != row.id || !CanBeBest(record) ||
          record.flags.race)
        continue;
      const Trace trace = ParseTrace(record.trace).value();
      const absl::StatusOr<Replayed> replayed = Replay(trace, original, target, {.snapshots = false});
      if (replayed.ok()) known.Add(*replayed, target, Seconds(record));
    }
    if (!known.seconds.empty()) break;  // uses the records of one machine only
  }
  return known;
}

Known Draw(const Program& program, int count) {
  Target target;
  target.cores = 1;
  SearchSpace space{program, target, {}, [&] { return MakePrefilter(target); }};
  const Enumeration sketches = Enumerate(ParseSpace(DefaultSpace(target)).value(), program, target).value();
  for (const Sketch& sketch : sketches.sketches) space.sketches.push_back(sketch.trace);
  const Prefilter prefilter = space.make_prefilter();
  const SimulatedMachine machine(target);
  RandomDice dice(Engine{1});
  Known known;
  while (static_cast<int>(known.seconds.size()) < count) {
    const absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
    if (point.ok()) known.Add(point->replayed, target, machine.Seconds(point->replayed.program()));
  }
  return known;
}

int Main(const std::string& argument) {
  if (argument == "--simulated") {
    Report("matmul 1024", Draw(Matmul(1024, 1024, 1024), 1280));
    for (const char* name : {"C2", "DEP0", "SFM0"})
      Report(name, Draw(ImportFile(absl::StrCat("bench/operators/", name, ".mlir")).value().program, 1280));
    return 0;
  }
  auto store = OpenStore(argument);
  if (!store.ok()) return std::fprintf(stderr, "%s\n", store.status().ToString().c_str()), 1;
  const StoreContents contents = (*store)->ReadAll().value();
  for (const WorkloadRow& workload : contents.workloads) Report(workload.name, Read(contents, workload));
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  if (argc == 2) return kiln::Main(argv[1]);
  std::fprintf(stderr, "usage: cost_accuracy_bench DB | --simulated\n");
  return 2;
}
