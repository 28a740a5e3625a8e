// kiln_fuzz: random programs under random traces (tests/fuzz/case.h).
//
//   kiln_fuzz [--pairs N] [--seed N] [--threads N] [--results FILE] [--summary FILE]
//             [--commit ID] [--failures N] [--shrink SECONDS]
//             [--favor PRIMITIVE,...] [--space SPACE] [--gpu NAME]
//     Checks N (program, trace) pairs, until 5 (--failures) fail. A failure is shrunk for up to 20 seconds (--shrink),
//     written to fuzz_SEED.txt in the working directory, and printed with the command that runs it again. Primitives of
//     --favor are drawn more often. With --space, traces are those of its modules: kiln_fuzz --space cpu --pairs 2000.
//     With --gpu, they make kernels for this GPU (tests/fuzz/kernels.h), and are proven: kiln_fuzz --gpu h100. With
//     both, they are those of modules for the GPU: kiln_fuzz --space cuda --gpu h100. Repeat a case with the same
//     --gpu. With a file of results, each chunk of seeds is appended when it ends, and chunks that this binary has
//     done without a failure are left out.
//   kiln_fuzz --replay FILE      one case, as a failure prints it
//   kiln_fuzz --case SEED        the four cases of one seed
//   kiln_fuzz --defects [NAME] [--seeds N] [--threads N] [--results FILE] [--known FILE]
//     Runs the fuzzer with each planted defect (tests/fuzz/defects.h), or those whose names contain NAME, on up to N
//     seeds. With --known, the --results of an earlier run, the seeds that found the defects then are tried first. With
//     --proofs N, runs the proof on N pairs that were made with the defect. With --clocks 0, runs only the known seeds
//     of the defects that thread clocks found, without thread clocks: then no defect may be found.
//   kiln_fuzz --proofs N [--seed N] [--plant DEFECT] [--seeds-of VERDICT]
//     Proves N pairs (tests/fuzz/proofs.h).
//   kiln_fuzz --plans N [--seed N] [--threads N] [--summary FILE] [--plant DEFECT]
//     Plans how N scheduled programs are emitted, and runs the plans (tests/fuzz/plans.h).
//   kiln_fuzz --refusals         how often primitives refuse what is legal (tests/fuzz/refusals.h)
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"
#include "lang/target/gpu_target.h"
#include "lang/text/text.h"
#include "modules/space.h"
#include "tests/fuzz/case.h"
#include "tests/fuzz/defects.h"
#include "tests/fuzz/kernels.h"
#include "tests/fuzz/plans.h"
#include "tests/fuzz/proofs.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/shrink.h"
#include "tests/support/summary.h"

namespace kiln::fuzz {
namespace {

constexpr int kTracesPerSeed = 4;
constexpr int64_t kMostSeedsPerChunk = 250, kSeedsPerDefect = 5000;

struct Options {
  int64_t pairs = 10000, seed = 1, threads = 1, failures = 5, proofs = 0, plans = 0, seeds = kSeedsPerDefect,
          shrink = 20, clocks = 1;
  RunFiles files;
  std::string replay, one, plant, seeds_of, favor, space, gpu, known;
  std::vector<const Primitive*> favored() const {
    std::vector<const Primitive*> favored;
    for (const absl::string_view name : absl::StrSplit(favor, ',', absl::SkipEmpty())) {
      favored.push_back(FindPrimitive(std::string(name)));
      KILN_CHECK(favored.back() != nullptr, "there is no primitive ", name);
    }
    return favored;
  }
  SpaceFunction space_function() const {
    if (space.empty()) return nullptr;
    const auto parsed = ParseSpace(space);
    KILN_CHECK(parsed.ok(), parsed.status().ToString());
    return *parsed;
  }
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Fuzzer {
 public:
  Fuzzer(const Options& options, std::string program)
      : options_(options),
        program_(std::move(program)),
        seeds_((options.pairs + kTracesPerSeed - 1) / kTracesPerSeed),
        // Makes about eight chunks for each thread, of 1 to 250 seeds, so that no thread waits long for another at the
        // end.
        seeds_per_chunk_(std::clamp<int64_t>(seeds_ / (8 * std::max<int64_t>(options.threads, 1)), 1,
                                             kMostSeedsPerChunk)) {}

  int Run() {
    ReadResults();
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < options_.threads; ++t) threads.emplace_back([this] { Work(); });
    for (std::thread& thread : threads) thread.join();
    return Report();
  }

 private:
  void ReadResults() {
    for (const Json& chunk : ReadChunks(options_.files)) {
      if (chunk.value("seeds", int64_t{0}) != seeds_per_chunk_) continue;
      if (!done_.insert(chunk.value("first", int64_t{0})).second) continue;
      for (const auto& [what, count] : chunk["cases"].items()) coverage_.cases[what] += count.get<int64_t>();
      for (const auto& [step, count] : chunk["applied"].items())
        coverage_.steps[step].applied += count.get<int64_t>();
      seconds_ += chunk.value("seconds", 0.0);
    }
  }

  void Work() {
    const SpaceFunction space = options_.space_function();
    while (failures_ < options_.failures) {
      const int64_t offset = next_.fetch_add(seeds_per_chunk_), first = options_.seed + offset;
      const int64_t count = std::min(seeds_per_chunk_, seeds_ - offset);
      if (count <= 0) return;
      if (done_.count(first) != 0) continue;
      const absl::Time begin = absl::Now();
      Coverage coverage;
      int64_t failures = 0;
      for (int64_t i = 0; i < count && failures_ < options_.failures; ++i) {
        for (const Outcome& outcome : RunSeed(static_cast<uint64_t>(first + i), kTracesPerSeed, &coverage,
                                              options_.favored(), space)) {
          if (!outcome.broken) continue;
          ++failures;
          ++failures_;
          Print(Shrink(outcome, static_cast<double>(options_.shrink)));
        }
      }
      Land(first, count, failures, coverage, absl::ToDoubleSeconds(absl::Now() - begin));
    }
  }

  void Land(int64_t first, int64_t seeds, int64_t failures, const Coverage& coverage, double seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    coverage_.Add(coverage);
    seconds_ += seconds;
    if (failures_ >= options_.failures) return;
    Json applied = Json::object();
    for (const Primitive* p : AllPrimitives()) {
      const auto step = coverage.steps.find(p->name);
      if (step != coverage.steps.end() && step->second.applied > 0) applied[p->name] = step->second.applied;
    }
    AppendChunk(options_.files, {{"first", first},
                                 {"seeds", seeds},
                                 {"failures", failures},
                                 {"seconds", seconds},
                                 {"cases", coverage.cases},
                                 {"applied", applied}});
  }

  void Print(const Outcome& outcome) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string path = std::filesystem::absolute(absl::StrCat("fuzz_", outcome.made.seed, ".txt")),
                      text = ToString(outcome.made);
    std::ofstream(path) << text;
    fmt::print("seed {} breaks \"{}\": {}\n{}run again: {} --replay {}\n\n", outcome.made.seed,
               outcome.broken.property, outcome.broken.message, text, program_, path);
    std::fflush(stdout);
  }

  // Prints the share of pairs with a property. Returns true if it is at least `least`, or if there are fewer than 500
  // pairs.
  bool Share(const char* what, double least) {
    constexpr int64_t kFew = 500;
    const int64_t pairs = coverage_.cases["pairs"];
    const double share =
        pairs == 0 ? 1 : static_cast<double>(coverage_.cases[what]) / static_cast<double>(pairs);
    fmt::print("{:5.1f}% have: {}\n", 100 * share, what);
    if (share >= least || pairs < kFew) return true;
    fmt::print("  wanted: {:.1f}%\n", 100 * least);
    return false;
  }
  bool Shares() {
    bool enough = true;
    for (const char* what : {"guard", "three blocks", "no small factor"}) enough &= Share(what, 0.3);
    if (options_.gpu.empty() || !options_.space.empty()) return enough;
    for (const LeastShare& least : KernelShares()) enough &= Share(least.what, least.share);
    return enough;
  }

  int Report() {
    fmt::print("{:<44} {:>9} {:>9}\n", "step", "applied", "refused");
    bool reached = true;
    for (const Primitive* p : AllPrimitives()) {
      reached &= coverage_.steps[p->name].applied > 0 || coverage_.cases["pairs"] < 10000 ||
                 !options_.space.empty() || !options_.gpu.empty();
    }
    for (const auto& [name, count] : coverage_.steps)
      fmt::print("{:<44} {:>9} {:>9}\n", name, count.applied, count.refused);
    const bool shares = Shares();
    for (const auto& [what, count] : coverage_.cases) {
      if (what != "pairs") fmt::print("{:>6} {}\n", count, what);
    }
    const int64_t pairs = coverage_.cases["pairs"];
    fmt::print("{} pairs ({} before), {} failures, {:.1f} s of a thread, {:.0f} pairs/s\n", pairs,
               static_cast<int64_t>(done_.size()) * seeds_per_chunk_ * kTracesPerSeed, failures_.load(),
               seconds_, static_cast<double>(pairs) / seconds_);
    WriteSummary(options_.files, options_.gpu.empty() ? "pairs" : absl::StrCat("pairs for ", options_.gpu),
                 {{"pairs", pairs},
                  {"failures", failures_.load()},
                  {"seconds", seconds_},
                  {"threads", options_.threads},
                  {"classes", coverage_.cases}});
    if (!reached) fmt::print("a primitive was never applied\n");
    if (!shares) fmt::print("a share is too low\n");
    return failures_ == 0 && reached && shares ? 0 : 1;
  }

  const Options options_;
  const std::string program_;
  const int64_t seeds_, seeds_per_chunk_;
  std::set<int64_t> done_;  // first seeds of the chunks that are done
  std::atomic<int64_t> next_ = 0, failures_ = 0;
  std::mutex mutex_;
  Coverage coverage_;
  double seconds_ = 0;  // time of all threads together
};

int Tell(const Outcome& outcome) {
  fmt::print("{}\n# after\n{}\n{}\n", ToString(outcome.made), kiln::ToString(outcome.after),
             outcome.broken
                 ? absl::StrCat("breaks \"", outcome.broken.property, "\": ", outcome.broken.message)
                 : "holds");
  return outcome.broken ? 1 : 0;
}

// Prints how often primitives refuse legal steps. Returns 1 if one refuses more than 1% of them, otherwise 0.
int ReportRefusals() {
  constexpr double kMost = 0.01;
  int status = 0;
  fmt::print("{:<18} {:>9} {:>9} {:>9} {:>7}\n", "primitive", "applied", "refused", "needless", "share");
  for (const auto& [primitive, refusals] : StudyRefusals()) {
    int64_t needless = 0;
    for (const auto& [message, count] : refusals.needless) needless += count;
    const double share = static_cast<double>(needless) / static_cast<double>(refusals.applied + needless);
    fmt::print("{:<18} {:>9} {:>9} {:>9} {:>6.1f}%\n", primitive, refusals.applied, refusals.refused,
               needless, 100 * share);
    for (const auto& [message, count] : refusals.needless) fmt::print("  {:>7}  {}\n", count, message);
    status |= share > kMost;
  }
  return status;
}

// Reads the options from argument `first` on. At an option or value that it does not know, prints it and returns false.
bool ReadOptions(int argc, char** argv, int first, Options& options) {
  std::map<std::string, int64_t*> numbers = {
      {"--pairs", &options.pairs},   {"--seed", &options.seed},         {"--threads", &options.threads},
      {"--seeds", &options.seeds},   {"--failures", &options.failures}, {"--proofs", &options.proofs},
      {"--shrink", &options.shrink}, {"--plans", &options.plans},       {"--clocks", &options.clocks}};
  std::map<std::string, std::string*> texts = {{"--results", &options.files.results},
                                               {"--summary", &options.files.summary},
                                               {"--commit", &options.files.commit},
                                               {"--replay", &options.replay},
                                               {"--case", &options.one},
                                               {"--plant", &options.plant},
                                               {"--favor", &options.favor},
                                               {"--space", &options.space},
                                               {"--gpu", &options.gpu},
                                               {"--seeds-of", &options.seeds_of},
                                               {"--known", &options.known}};
  for (int i = first; i < argc; i += 2) {
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (texts.count(argv[i]) != 0) {
      *texts[argv[i]] = value;
    } else if (numbers.count(argv[i]) == 0 || !absl::SimpleAtoi(value, numbers[argv[i]])) {
      fmt::print(stderr, "{} {}: see the head of tests/fuzz/main.cc\n", argv[i], value);
      return false;
    }
  }
  return true;
}

int Main(int argc, char** argv) {
  if (argc == 2 && absl::string_view(argv[1]) == "--refusals") return ReportRefusals();
  const bool defects = argc > 1 && absl::string_view(argv[1]) == "--defects";
  const bool named = defects && argc > 2 && argv[2][0] != '-';
  Options options;
  if (!ReadOptions(argc, argv, 1 + int{defects} + int{named}, options)) return 2;
  PlantDefect(options.plant);
  if (!options.gpu.empty()) {
    const Gpu* const gpu = FindGpu(options.gpu);
    KILN_CHECK(gpu != nullptr, "there is no GPU ", options.gpu);
    FuzzTarget() = GpuTarget(*gpu);
  }
  if (defects) {
    return FindDefects({.only = named ? argv[2] : "",
                        .seeds = options.proofs > 0 ? options.proofs / kTracesPerSeed : options.seeds,
                        .threads = options.threads,
                        .results = options.files.results,
                        .known = options.known,
                        .proofs = options.proofs > 0,
                        .clocks = options.clocks != 0});
  }
  if (options.plans > 0) {
    return FuzzPlans({.pairs = options.plans,
                      .seed = options.seed,
                      .threads = options.threads,
                      .failures = options.failures,
                      .files = options.files});
  }
  if (options.proofs > 0) return StudyProofs(options.proofs, options.seed, options.seeds_of, options.files);
  if (!options.replay.empty()) {
    const absl::StatusOr<Case> given = ParseCase(ReadFile(options.replay));
    if (given.ok()) return Tell(Check(*given));
    fmt::print(stderr, "{}: {}\n", options.replay, given.status().ToString());
    return 2;
  }
  uint64_t seed = 0;
  if (options.one.empty()) return Fuzzer(options, argv[0]).Run();
  if (!absl::SimpleAtoi(options.one, &seed)) return 2;
  int status = 0;
  for (const Outcome& outcome :
       RunSeed(seed, kTracesPerSeed, nullptr, options.favored(), options.space_function()))
    status |= Tell(outcome);
  return status;
}

}  // namespace
}  // namespace kiln::fuzz

int main(int argc, char** argv) { return kiln::fuzz::Main(argc, argv); }
