// Measures the work on a proposal of a matmul before it is scored: reading its loop nests, the checks of the validator,
// the features. Also measures Verify. One thread.
#include <benchmark/benchmark.h>

#include "search/features/features.h"
#include "testing/matmul.h"
#include "validator/validate.h"

namespace kiln {
namespace {

Target Machine() {
  Target target;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

TiledMatmul Candidate() {
  return {Matmul(1024, 1024, 1024), Machine(), {{8, 32, 4}, {4, 4, 64}, {4, 256}}, /*pack=*/false};
}

void ReadNests(benchmark::State& state) {
  const TiledMatmul m = Candidate();
  LoopNestSummary nests;
  for (auto _ : state) {
    nests.Read(m.program());
    benchmark::DoNotOptimize(nests.blocks().data());
  }
}

void ValidateProposal(benchmark::State& state) {
  const TiledMatmul m = Candidate();
  LoopNestSummary nests;
  nests.Read(m.program());
  for (auto _ : state) {
    const Verdict verdict = Validate(nests, Machine());
    if (!verdict.ok) state.SkipWithError(verdict.message.c_str());
  }
}

void VerifyProgram(benchmark::State& state) {
  const TiledMatmul m = Candidate();
  for (auto _ : state) benchmark::DoNotOptimize(Verify(m.program()).ok());
}

void ExtractFeatures(benchmark::State& state) {
  const TiledMatmul m = Candidate();
  LoopNestSummary nests;
  nests.Read(m.program());
  FeatureExtractor extractor(Machine());
  FeatureSet features;
  for (auto _ : state) {
    extractor.Extract(nests, features);
    benchmark::DoNotOptimize(features.values.data());
  }
}

void AllOfAProposal(benchmark::State& state) {
  const TiledMatmul m = Candidate();
  const Target target = Machine();
  LoopNestSummary nests;
  FeatureExtractor extractor(target);
  FeatureSet features;
  for (auto _ : state) {
    nests.Read(m.program());
    if (!Validate(nests, target).ok) state.SkipWithError("refused");
    extractor.Extract(nests, features);
    benchmark::DoNotOptimize(features.values.data());
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(ReadNests)->Unit(benchmark::kMicrosecond);
BENCHMARK(ValidateProposal)->Unit(benchmark::kMicrosecond);
BENCHMARK(VerifyProgram)->Unit(benchmark::kMicrosecond);
BENCHMARK(ExtractFeatures)->Unit(benchmark::kMicrosecond);
BENCHMARK(AllOfAProposal)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kiln
