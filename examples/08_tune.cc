// Lesson 8: tuning. A Session measures traces of a space on this machine and stores the records in a
// database. This search has few trials, so that it takes seconds.
#include <filesystem>
#include <iostream>

#include "absl/cleanup/cleanup.h"
#include "api/kiln.h"
#include "trace/text.h"

namespace api = kiln::api;

namespace {

// MLIR text of the product of two 128 x 128 matrices.
constexpr char kMatmul[] = R"(
func.func @matmul(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x128xf32>, tensor<128x128xf32>)
                     outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
})";

absl::Status Tune(const std::string& folder) {
  api::Session session({.database = folder + "/kiln.db"});
  if (const absl::Status loaded = session.Load({.text = kMatmul, .name = "matmul"}); !loaded.ok())
    return loaded;

  // Tunes with a budget of 24 trials, that is, measured programs. With the same measurements, the same seed proposes
  // the same programs.
  const api::TuneSettings settings{.trials = 24, .seed = 1};
  const auto tell = [](const api::Event& event) {
    if (const auto* round = std::get_if<api::Round>(&event)) {
      std::cout << "round " << round->round << ": " << round->batch << " measured, " << round->failed
                << " failed, best " << api::TimeText(round->best_seconds.value_or(0)) << "\n";
    }
  };
  const auto report = session.Tune(settings, tell);
  if (!report.ok()) return report.status();
  if (!report->status.ok()) return report->status;
  const api::TaskResult& best = report->tasks[0];
  std::cout << "\nbest: record " << best.record << ", " << api::TimeText(best.seconds) << ", " << best.trust
            << "\n";
  std::cout << "untuned: " << api::TimeText(best.untuned_seconds.value_or(0)) << "\n\n";
  for (const kiln::Step& step : best.trace.steps) {
    if (!step.decision.empty()) std::cout << ToString(step) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-tune-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return std::cerr << "no temporary folder\n", 1;
  const absl::Cleanup remove = [&] { std::filesystem::remove_all(folder); };
  if (const absl::Status done = Tune(folder); !done.ok()) return std::cerr << done.message() << "\n", 1;
}
