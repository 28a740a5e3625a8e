// Lesson 13: Kiln in your own program. It loads a file, looks at its space, tunes it with few trials while events
// report the progress, tries to prove the best schedule of each task, and exports it.
#include <filesystem>
#include <iostream>

#include "absl/cleanup/cleanup.h"
#include "api/kiln.h"

namespace api = kiln::api;

namespace {

void Tell(const api::Event& event) {
  const auto* round = std::get_if<api::Round>(&event);
  if (round == nullptr || !round->best_seconds) return;
  std::cout << round->task << ", " << round->trials << " trials: " << api::TimeText(*round->best_seconds)
            << "\n";
}

absl::Status Embed(const std::string& file, const std::string& folder) {
  api::Session session({.database = folder + "/kiln.db"});
  if (const absl::Status loaded = session.Load({.path = file}); !loaded.ok()) return loaded;

  const auto space = session.Sketches();
  if (!space.ok()) return space.status();
  for (const api::TaskSketches& t : space->tasks)
    std::cout << t.task.name << ": " << t.sketches.sketches.size() << " sketches, about "
              << api::CountText(t.support()) << " programs\n";

  const auto report = session.Tune({.trials = 8, .seed = 1}, Tell);
  if (!report.ok()) return report.status();
  if (!report->status.ok()) return report->status;
  for (const api::TaskResult& best : report->tasks) {
    const auto checked = session.Check(best.record);
    if (!checked.ok()) return checked.status();
    const auto exported = session.Export(best.record, {.folder = folder});
    if (!exported.ok()) return exported.status();
    std::cout << best.name << ": " << api::TimeText(best.seconds) << ", " << checked->words << ", "
              << exported->files[0] << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-embed-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return std::cerr << "no temporary folder\n", 1;
  const absl::Cleanup remove = [&] { std::filesystem::remove_all(folder); };
  if (const absl::Status done = Embed("examples/matmul.mlir", folder); !done.ok())
    return std::cerr << done.message() << "\n", 1;
}
