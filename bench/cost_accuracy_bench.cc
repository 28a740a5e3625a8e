// How well cost models order what was measured:
//
//   cost_accuracy_bench DB
//
// For each workload of the database, over its records that ran: the rank accuracy (search/cost/rank.h) and
// the share of the truly fastest eight among the best eight by score. `analytic` has seen nothing; `trees`
// learn from the first 16, 32, 64 .. records. Both order those that come after.
#include <algorithm>
#include <cstdio>

#include "backends/cpu/machine.h"
#include "backends/cpu/measurer.h"
#include "lang/check.h"
#include "lang/text.h"
#include "search/cost/analytic.h"
#include "search/cost/rank.h"
#include "search/cost/xgboost_model.h"
#include "search/database/sqlite_store.h"
#include "search/features.h"
#include "search/knowledge.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

struct Known {
  std::vector<FeatureSet> features;
  std::vector<double> seconds;

  FeatureBatch Features(size_t begin, size_t end) const {
    FeatureBatch batch;
    for (size_t i = begin; i < end; ++i) batch.Append(features[i]);
    return batch;
  }
  std::vector<double> Truth(size_t begin, size_t end) const {
    return Throughputs(absl::MakeSpan(seconds).subspan(begin, end - begin));
  }
};

Known Read(const StoreContents& contents, const WorkloadRow& workload, const Target& target) {
  const Program original = ParseProgram(workload.program).value();
  FeatureExtractor extractor(target);
  Known known;
  for (const RecordRow& record : contents.records) {
    if (record.workload != workload.id || record.status != kRecordOk || record.samples.empty()) continue;
    const Trace trace = ParseTrace(record.trace).value();
    const absl::StatusOr<Replayed> replayed = Replay(trace, original, target, {.snapshots = false});
    if (!replayed.ok()) continue;
    known.features.push_back(extractor.Extract(replayed->program()));
    known.seconds.push_back(Seconds(record));
  }
  return known;
}

void Print(const char* name, size_t learned, absl::Span<const double> scores,
           absl::Span<const double> truth) {
  std::printf("  %-9s %4zu learned, %4zu ordered: rank accuracy %.3f, recall of the fastest 8 %.2f\n", name,
              learned, scores.size(), RankAccuracy(scores, truth).value_or(0),
              RecallAtK(scores, truth, 8).value_or(0));
}

void Report(const Known& known) {
  const size_t n = known.seconds.size();
  std::vector<double> scores;
  for (const FeatureSet& f : known.features) scores.push_back(AnalyticScore(f.values));
  Print("analytic", 0, scores, known.Truth(0, n));
  for (size_t learned = 16; learned + 16 <= n; learned *= 2) {
    std::vector<TrainingLabel> labels;
    for (const double throughput : known.Truth(0, learned)) labels.push_back({.throughput = throughput});
    const auto model = MakeXgboostModel(FeatureDim()).value();
    KILN_CHECK(model->Update(known.Features(0, learned), labels).ok());
    Print("trees", learned, model->Predict(known.Features(learned, n)).value(), known.Truth(learned, n));
    const absl::Span<const double> rest = absl::MakeSpan(scores).subspan(learned);
    Print("analytic", 0, rest, known.Truth(learned, n));
  }
}

int Main(const char* path) {
  auto store = OpenStore(path);
  if (!store.ok()) return std::fprintf(stderr, "%s\n", store.status().ToString().c_str()), 1;
  auto measurer = CpuMeasurer::Start();
  if (!measurer.ok()) return std::fprintf(stderr, "%s\n", measurer.status().ToString().c_str()), 1;
  const Target target = measurer->target();
  const StoreContents contents = (*store)->ReadAll().value();
  for (const WorkloadRow& workload : contents.workloads) {
    std::printf("%s\n", workload.name.c_str());
    Report(Read(contents, workload, target));
  }
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  if (argc == 2) return kiln::Main(argv[1]);
  std::fprintf(stderr, "usage: cost_accuracy_bench DB\n");
  return 2;
}
