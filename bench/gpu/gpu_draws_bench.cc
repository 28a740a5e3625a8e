// Prints how many random draws of a space for GPUs are valid, for the operators of the papers, and how long a
// draw takes. bench/results/gpu_draws.jsonl has the results of the default space.
//
//   gpu_draws_bench [--space cuda] [--targets a100,rtx3090,h100] [--operators GMM0,..] [--draws 300]
//                   [--ptxas N] [--builders 1] [--results FILE] [--commit ID] [--explain TEXT]
//
// --ptxas also builds N of the valid draws of each operator and target, as a search does: a cubin with spills, a stack
// or a warning of ptxas is refused. --results appends a line for each operator and target as soon as it is known. The
// same command with the same --commit skips those that have a line. --explain prints the first refused draw whose
// reason contains the text, and ends. Run from the root of the sources.
#include <cstdio>

#include "absl/strings/str_split.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/targets.h"
#include "bench/gpu/draws.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "fmt/format.h"

namespace kiln {
namespace {

struct Options {
  std::string targets = "a100,rtx3090,h100", operators = absl::StrJoin(PaperShapes(), ","), results, commit;
  int builders = 1;
  DrawOptions draws;
};

std::unique_ptr<BuilderPool> Builders(int number) {
  auto pool = BuilderPool::Start({.cores = std::vector<std::vector<int>>(number), .cached_results = 0});
  KILN_CHECK(pool.ok(), pool.status().ToString());
  return *std::move(pool);
}

void PrintHead() {
  fmt::print("{:<8} {:<8} {:>6} {:>6} {:>9} {:>9} {:>6} {:>9} {:>10} {:>13}\n", "operator", "target", "valid",
             "of", "distinct", "sketches", "built", "accepted", "replay us", "candidates/s");
}

void PrintLine(const std::string& name, const std::string& gpu, const DrawStudy& study, bool reasons) {
  fmt::print("{:<8} {:<8} {:>6} {:>6} {:>9} {:>9} {:>6} {:>9} {:>10.0f} {:>13.0f}\n", name, gpu, study.valid,
             study.draws, study.programs.size(), study.sketches, study.built, study.accepted,
             Median(study.replay_us), study.CandidatesPerSecond());
  for (const auto& [why, count] : study.refused)
    if (reasons) fmt::print("  {:>5}  {}\n", count, why);
  std::fflush(stdout);
}

Json LineOf(const Json& key, const DrawStudy& study) {
  Json line = key;
  line.update(Json{{"valid", study.valid},
                   {"distinct", study.programs.size()},
                   {"sketches", study.sketches},
                   {"built", study.built},
                   {"accepted", study.accepted},
                   {"replay_us", Median(study.replay_us)},
                   {"candidates_per_second", study.CandidatesPerSecond()},
                   {"build_s", Median(study.build_s)},
                   {"machine", Host().fingerprint}});
  return line;
}

int Study(const Options& options) {
  int64_t all = 0, valid = 0, built = 0, accepted = 0;
  std::map<std::string, int> refused;
  PrintHead();
  for (const std::string& gpu : std::vector<std::string>(absl::StrSplit(options.targets, ','))) {
    for (const std::string& name : std::vector<std::string>(absl::StrSplit(options.operators, ','))) {
      const Json key = {{"operator", name},
                        {"target", gpu},
                        {"space", options.draws.space},
                        {"draws", options.draws.draws},
                        {"ptxas", options.draws.built},
                        {"commit", options.commit}};
      if (!options.results.empty() && FindResult(key, options.results)) continue;
      const DrawStudy study = StudyDraws(PaperProgram(name), NamedTarget(gpu).value(), options.draws);
      PrintLine(name, gpu, study, /*reasons=*/true);
      if (!study.example.empty()) {
        fmt::print("{}\n", study.example);
        return 1;
      }
      all += study.draws, valid += study.valid, built += study.built, accepted += study.accepted;
      for (const auto& [why, count] : study.refused) refused[why.substr(0, 200)] += count;
      if (!options.results.empty()) AppendResult(LineOf(key, study), options.results);
    }
  }
  for (const auto& [why, count] : refused) fmt::print("{:>6}  {}\n", count, why);
  fmt::print("{} of {} valid; ptxas accepts {} of {}\n", valid, all, accepted, built);
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  DrawOptions& draws = options.draws;
  CommandLine line("gpu_draws_bench", "Counts valid draws");
  line.Add("--space", &draws.space, "A space string");
  line.Add("--targets", &options.targets, "Names of GPUs, with commas");
  line.Add("--operators", &options.operators, "Files of bench/operators, with commas");
  line.Add("--draws", &draws.draws, "Draws for each operator and target");
  line.Add("--ptxas", &draws.built, "How many valid draws are built, for each operator and target");
  line.Add("--builders", &options.builders, "How many builds run at a time");
  line.Add("--results", &options.results, "A file to which lines of JSON are appended");
  line.Add("--commit", &options.commit, "Stored with results");
  line.Add("--explain", &draws.explain, "Print the first draw that is refused for a reason with this text");
  line.AllowOthers();  // those of Google Benchmark
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  const std::unique_ptr<BuilderPool> builders = draws.built > 0 ? Builders(options.builders) : nullptr;
  draws.builders = builders.get();
  return Study(options);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
