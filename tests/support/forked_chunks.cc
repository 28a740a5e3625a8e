#include "tests/support/forked_chunks.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "lang/base/check.h"
#include "tests/support/summary.h"

namespace kiln {
namespace {

constexpr uint64_t kChunk = 50;  // seeds of a chunk

// The progress of a chunk of seeds: a child process runs the seeds and writes this struct to memory that it shares with
// the parent.
struct Progress {
  uint64_t seed = 0;
  int ran = 0;
  int of_class[kMaxClasses] = {};
  bool failed = false;
};

struct Options {
  int things = 500, processes = 2;
  uint64_t seed = 1;
  RunFiles files;
};

class Runner {
 public:
  Runner(const ForkedTest& test, const Options& options) : test_(test), options_(options) {
    KILN_CHECK(test_.classes.size() <= kMaxClasses, "raise kMaxClasses");
  }

  int Run() {
    for (const Json& chunk : ReadChunks(options_.files)) {
      if (done_.insert(chunk.value("first", uint64_t{0})).second) AddNumbers(chunk["found"], found_);
    }
    for (uint64_t first = options_.seed;
         (Count(test_.things) < options_.things || !running_.empty()) && failures_ < 5;) {
      if (Count(test_.things) >= options_.things || static_cast<int>(running_.size()) >= options_.processes) {
        Wait();
      } else {
        if (done_.count(first) == 0) Start(first);
        first += kChunk;
      }
    }
    while (!running_.empty()) Wait();
    const double seconds = found_.value("seconds", 0.0);
    fmt::print("{} {} of {} seeds ran, {} failures, {:.1f} s of a process\n", Count(test_.things),
               test_.things, Count("seeds"), failures_, seconds);
    Json summary = {{"failures", failures_}, {"processes", options_.processes}};
    summary.update(found_);
    WriteSummary(options_.files, test_.run, summary);
    const double least = test_.least_share * static_cast<double>(Count("seeds"));
    return failures_ == 0 && static_cast<double>(Count(test_.things)) >= least ? 0 : 1;
  }

 private:
  struct Chunk {
    uint64_t first;
    Progress* progress;
    absl::Time begin;
  };

  int64_t Count(const std::string& what) const { return found_.value(what, int64_t{0}); }

  [[noreturn]] void RunChunk(uint64_t first, Progress* progress) const {
    for (uint64_t seed = first; seed < first + kChunk; ++seed) {
      progress->seed = seed;
      const SeedResult result = test_.run_seed(seed);
      progress->ran += result.ran;
      for (size_t c = 0; c < kMaxClasses; ++c) progress->of_class[c] += result.of_class[c];
      if (result.wrong.empty()) continue;
      fmt::print("seed {}: {}\n", seed, result.wrong);
      std::fflush(stdout);
      progress->failed = true;
    }
    _exit(0);
  }

  void Start(uint64_t first) {
    void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* progress = new (shared) Progress;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) RunChunk(first, progress);
    running_[child] = {first, progress, absl::Now()};
  }

  void Wait() {
    int status = 0;
    const pid_t child = wait(&status);
    const Chunk chunk = running_.at(child);
    running_.erase(child);
    const bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (crashed) fmt::print("seed {}: crashed, status {}\n", chunk.progress->seed, status);
    failures_ += crashed || chunk.progress->failed;
    Json classes;
    for (size_t c = 0; c < test_.classes.size(); ++c) classes[test_.classes[c]] = chunk.progress->of_class[c];
    const Json found = {{test_.things, chunk.progress->ran},
                        {"seeds", kChunk},
                        {"seconds", absl::ToDoubleSeconds(absl::Now() - chunk.begin)},
                        {"classes", classes}};
    AddNumbers(found, found_);
    if (!crashed)
      AppendChunk(options_.files,
                  {{"first", chunk.first}, {"failures", int{chunk.progress->failed}}, {"found", found}});
    munmap(chunk.progress, sizeof(Progress));
  }

  const ForkedTest& test_;
  const Options options_;
  std::set<uint64_t> done_;  // first seeds of the chunks that are done
  std::map<pid_t, Chunk> running_;
  int failures_ = 0;
  Json found_ = Json::object();  // the sums of the results of all chunks
};

}  // namespace

int RunForkedChunks(int argc, char** argv, const ForkedTest& test) {
  Options options;
  CLI::App app(test.about, test.program);
  app.add_option(absl::StrCat("--", test.things), options.things, "Until so many ran")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The first")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--processes", options.processes)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--results", options.files.results, "Lines of JSON, one for each chunk that was done");
  app.add_option("--summary", options.files.summary, "What was found in all, as JSON");
  app.add_option("--commit", options.files.commit, "Of the sources, for the summary");
  CLI11_PARSE(app, argc, argv);
  return Runner(test, options).Run();
}

}  // namespace kiln
