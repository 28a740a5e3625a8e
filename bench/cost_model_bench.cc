// Measures the cost model's time on one thread: an update with 64 to 1,900 programs (from scratch, and the usual one
// that adds a few trees, after the model learned from three quarters of as many) and a prediction for a generation of
// 2,048 programs. A program has four rows of 164 features.
#include <benchmark/benchmark.h>

#include <random>

#include "search/cost/random_model.h"
#include "search/cost/xgboost_model.h"

namespace kiln {
namespace {

constexpr int kDim = 164;
constexpr int kRows = 4;

struct Data {
  FeatureBatch programs;
  std::vector<TrainingLabel> labels;
};

Data MakeData(int programs) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> uniform(0, 1);
  Data data;
  data.programs.dim = kDim;
  std::vector<float> rows(size_t{kRows} * kDim);
  for (int p = 0; p < programs; ++p) {
    for (float& x : rows) x = uniform(random);
    data.programs.AppendRows(rows);
    data.labels.push_back({.throughput = 0.5 * rows[3] + 0.5 * rows[kDim + 70]});
  }
  return data;
}

XgboostOptions WithLoss(int64_t kind) { return {.loss = {.kind = static_cast<Loss>(kind)}}; }

void UpdateFromNothing(benchmark::State& state) {
  const Data data = MakeData(static_cast<int>(state.range(1)));
  for (auto _ : state) {
    auto model = MakeXgboostModel(kDim, WithLoss(state.range(0))).value();
    if (!model->Update(data.programs, data.labels).ok()) state.SkipWithError("update failed");
  }
}

void UpdateByAFewTrees(benchmark::State& state) {
  const int programs = static_cast<int>(state.range(1));
  const Data data = MakeData(programs);
  const Data before = MakeData(programs * 3 / 4);
  auto model = MakeXgboostModel(kDim, WithLoss(state.range(0))).value();
  if (!model->Update(before.programs, before.labels).ok()) state.SkipWithError("update failed");
  const std::string saved = model->Save().value();
  for (auto _ : state) {
    state.PauseTiming();
    if (!model->Load(saved).ok()) state.SkipWithError("load failed");
    state.ResumeTiming();
    if (!model->Update(data.programs, data.labels).ok()) state.SkipWithError("update failed");
  }
}

void PredictGeneration(benchmark::State& state) {
  const Data data = MakeData(1000);
  const Data generation = MakeData(2048);
  auto model = MakeXgboostModel(kDim, WithLoss(state.range(0))).value();
  if (!model->Update(data.programs, data.labels).ok()) state.SkipWithError("update failed");
  for (auto _ : state) benchmark::DoNotOptimize(model->Predict(generation.programs));
  state.SetItemsProcessed(state.iterations() * generation.programs.programs());
}

void PredictGenerationAtRandom(benchmark::State& state) {
  const Data generation = MakeData(2048);
  const RandomModel model(1);
  for (auto _ : state) benchmark::DoNotOptimize(model.Predict(generation.programs));
  state.SetItemsProcessed(state.iterations() * generation.programs.programs());
}

BENCHMARK(UpdateFromNothing)
    ->ArgNames({"pairwise", "programs"})
    ->ArgsProduct({{0, 1}, {64, 1000}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(UpdateByAFewTrees)
    ->ArgNames({"pairwise", "programs"})
    ->ArgsProduct({{0, 1}, {64, 1000, 1900}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(PredictGeneration)->ArgNames({"pairwise"})->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(PredictGenerationAtRandom)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kiln
