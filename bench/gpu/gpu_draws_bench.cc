// Prints how many random draws of a space for GPUs are valid, for the operators of the papers, and how long a
// draw takes. bench/results/gpu_draws.jsonl has the results of the default space.
//
//   gpu_draws_bench [--space cuda] [--targets a100,rtx3090,h100] [--operators GMM0,..] [--draws 300]
//                   [--results FILE] [--explain TEXT]
//
// --explain prints the first refused draw whose reason contains the text. Run from the root of the sources.
#include <cstdio>
#include <fstream>

#include "CLI/CLI.hpp"
#include "absl/strings/str_split.h"
#include "backends/cpu/targets.h"
#include "bench/gpu/draws.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace kiln {
namespace {

int Main(int argc, char** argv) {
  std::string space = "cuda", targets = "a100,rtx3090,h100", operators = absl::StrJoin(PaperShapes(), ","),
              results, explain;
  int draws = 300;
  CLI::App app("Counts valid draws");
  app.add_option("--space", space, "A space string");
  app.add_option("--targets", targets, "Names of GPUs, with commas");
  app.add_option("--operators", operators, "Files of bench/operators, with commas");
  app.add_option("--draws", draws, "Draws for each operator and target");
  app.add_option("--results", results, "A file to which lines of JSON are appended");
  app.add_option("--explain", explain, "Print the first draw that is refused for a reason with this text");
  app.allow_extras();  // those of Google Benchmark
  CLI11_PARSE(app, argc, argv);
  int64_t all = 0, valid = 0;
  std::map<std::string, int> refused;
  fmt::print("{:<8} {:<8} {:>6} {:>6} {:>9} {:>9} {:>10} {:>10}\n", "operator", "target", "valid", "of",
             "distinct", "sketches", "replay us", "all us");
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(operators, ','))) {
    const Program program = PaperProgram(name);
    for (const std::string& gpu : std::vector<std::string>(absl::StrSplit(targets, ','))) {
      const DrawStudy study = StudyDraws(space, program, NamedTarget(gpu).value(), draws, explain);
      const double replay = DrawStudy::Median(study.replay_us), whole = DrawStudy::Median(study.all_us);
      fmt::print("{:<8} {:<8} {:>6} {:>6} {:>9} {:>9} {:>10.0f} {:>10.0f}\n", name, gpu, study.valid,
                 study.draws, study.programs.size(), study.sketches, replay, whole);
      std::fflush(stdout);
      all += study.draws, valid += study.valid;
      for (const auto& [why, count] : study.refused) {
        refused[why.substr(0, 200)] += count;
        if (operators.size() < 40) fmt::print("  {:>5}  {}\n", count, why);
      }
      if (!study.example.empty()) {
        fmt::print("{}\n", study.example);
        return 1;
      }
      if (!results.empty()) {
        std::ofstream(results, std::ios::app) << nlohmann::json{{"operator", name},
                                                                {"target", gpu},
                                                                {"space", space},
                                                                {"draws", study.draws},
                                                                {"valid", study.valid},
                                                                {"distinct", study.programs.size()},
                                                                {"replay_us", replay},
                                                                {"all_us", whole},
                                                                {"sketches", study.sketches}}
                                              << "\n";
      }
    }
  }
  for (const auto& [why, count] : refused) fmt::print("{:>6}  {}\n", count, why);
  fmt::print("{} of {} valid ({:.2f}%)\n", valid, all,
             100.0 * static_cast<double>(valid) / static_cast<double>(all));
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
