// Uses the API of the installed package: imports a file, tunes it with 4 trials, checks the best programs and exports
// them.
#include <iostream>

#include "api/kiln.h"

namespace api = kiln::api;

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "embed FILE FOLDER\n", 2;
  const std::string folder = argv[2];
  api::Session session({.database = folder + "/kiln.db"});
  if (const absl::Status loaded = session.Load({.path = argv[1]}); !loaded.ok())
    return std::cerr << loaded.message() << "\n", 1;
  for (const api::TaskInfo& task : session.tasks())
    std::cout << task.name << ": " << task.flops << " operations, " << task.parameters.size()
              << " parameters\n";

  const auto report =
      session.Tune({.trials = 4}, [](const api::Event& event) { std::cout << api::ToJson(event) << "\n"; });
  if (!report.ok()) return std::cerr << report.status().message() << "\n", 1;
  if (!report->status.ok()) return std::cerr << report->status.message() << "\n", 1;
  for (const api::TaskResult& best : report->tasks) {
    const auto checked = session.Check(best.record);
    if (!checked.ok() || !checked->status.ok()) return std::cerr << best.name << " is not proven\n", 1;
    const auto exported = session.Export(best.record, {.folder = folder});
    if (!exported.ok()) return std::cerr << exported.status().message() << "\n", 1;
    std::cout << api::TimeText(best.seconds) << ", " << exported->files[0] << "\n";
  }
}
