// kiln_lower_fuzz [--programs N] [--seed N] [--processes N] [--results FILE]
//
// Random programs under random steps of every primitive, compiled where the validator lets them pass, until N
// ran: each element must be the interpreter's. The numbers are small integers, so that floats are exact in
// any order. Chunks of seeds run in processes of their own: one that crashes is told by its seed. With a file
// of results, each chunk is appended as it lands, and the same command goes on where it was stopped.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "lang/interpreter.h"
#include "lang/text.h"
#include "tests/backends/run_program.h"
#include "tests/support/random_program.h"
#include "tests/support/random_steps.h"
#include "validator/validate.h"

namespace kiln {
namespace {

constexpr uint64_t kChunk = 50;       // seeds
constexpr size_t kParameters = 12;    // that a call here passes
constexpr double kLeastShare = 0.08;  // of the seeds, that must come to run

// Shared with the process that runs a chunk.
struct Progress {
  uint64_t seed = 0;
  int ran = 0;
  bool failed = false;
};

// What a seed makes: nothing to run, it ran, or what is wrong.
struct Ran {
  bool ran = false;
  std::string wrong = {};
};

// The first element that differs; a zero may have either sign.
template <typename T>
std::string Difference(const char* found, const std::string& wanted) {
  for (size_t at = 0; at < wanted.size(); at += sizeof(T)) {
    T one, other;
    std::memcpy(&one, found + at, sizeof(T));
    std::memcpy(&other, wanted.data() + at, sizeof(T));
    if (one == other || (one != one && other != other)) continue;
    return absl::StrCat("element ", at / sizeof(T), " is ", one, ", not ", other);
  }
  return "";
}

std::string Difference(DType type, const char* found, const std::string& wanted) {
  if (type == DType::kF64) return Difference<double>(found, wanted);
  if (type == DType::kF32) return Difference<float>(found, wanted);
  return std::memcmp(found, wanted.data(), wanted.size()) == 0 ? "" : "an element is not the interpreter's";
}

Ran RunSeed(uint64_t seed) {
  RandomDice dice(Engine({seed, 78}));
  State state;
  state.program = RandomProgram(dice);
  const Program& p = state.program;
  const std::vector<std::string> inputs = RandomInputs(p, dice), wanted = Run(p, inputs).value();
  std::string steps;
  for (int tries = 0; tries < 30; ++tries) {
    RefreshHandles(state);
    const Step step = RandomStep(state, {}, false, dice);
    if (absl::string_view(step.primitive->name) == "bind") continue;  // to what a CPU lacks
    if (Run(state, Target(), step, 0, nullptr, nullptr, nullptr).ok())
      absl::StrAppend(&steps, ToString(step), "\n");
  }
  if (!Validate(p, Target()).ok) return {};
  const auto told = [&](absl::string_view what) {
    return Ran{true, absl::StrCat(what, "\n", steps, ToString(p))};
  };
  std::vector<size_t> prepared;
  const auto loaded = BuildProgram(p, {}, &prepared);
  if (absl::IsFailedPrecondition(loaded.status())) return {};  // storages of a GPU
  if (!loaded.ok()) return told(loaded.status().ToString());
  if (p.parameters.size() + prepared.size() > kParameters) return {};
  std::vector<Array<char>> buffers;
  std::vector<void*> arguments;
  size_t input = 0, output = 0;
  for (const Id parameter : p.parameters) {
    buffers.emplace_back(BytesOf(p, parameter));
    if (p.buffers[parameter].role == Role::kOutput) continue;
    std::memcpy(buffers.back().data(), inputs[input].data(), inputs[input].size());
    ++input;
  }
  for (Array<char>& buffer : buffers) arguments.push_back(buffer.data());
  if (CallProgram(*loaded, p, arguments, prepared) != 0)
    return told("the kernel returned a status that is not zero");
  for (size_t i = 0; i < p.parameters.size(); ++i) {
    if (p.buffers[p.parameters[i]].role != Role::kOutput) continue;
    const DType type = p.buffers[p.parameters[i]].dtype;
    const std::string difference = Difference(type, buffers[i].data(), wanted[output++]);
    if (!difference.empty()) return told(absl::StrCat("parameter ", i, ": ", difference));
  }
  return {true};
}

[[noreturn]] void RunChunk(uint64_t first, Progress* progress) {
  for (uint64_t seed = first; seed < first + kChunk; ++seed) {
    progress->seed = seed;
    const Ran result = RunSeed(seed);
    progress->ran += result.ran;
    if (result.wrong.empty()) continue;
    fmt::print("seed {}: {}\n", seed, result.wrong);
    std::fflush(stdout);
    progress->failed = true;
  }
  _exit(0);
}

struct Options {
  int programs = 500, processes = 2;
  uint64_t seed = 1;
  std::string results;
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options) : options_(options) {}

  int Run() {
    ReadResults();
    const absl::Time begin = absl::Now();
    for (uint64_t first = options_.seed; (ran_ < options_.programs || !running_.empty()) && failures_ < 5;) {
      if (ran_ >= options_.programs || static_cast<int>(running_.size()) >= options_.processes) {
        Wait();
      } else {
        if (done_.count(first) == 0) Start(first);
        first += kChunk;
      }
    }
    while (!running_.empty()) Wait();
    fmt::print("{} programs of {} seeds ran, {} failures, {:.1f} s\n", ran_, seeds_, failures_,
               absl::ToDoubleSeconds(absl::Now() - begin));
    return failures_ == 0 && ran_ >= kLeastShare * static_cast<double>(seeds_) ? 0 : 1;
  }

 private:
  struct Chunk {
    uint64_t first;
    Progress* progress;
  };

  void ReadResults() {
    std::ifstream file(options_.results);
    uint64_t first = 0;
    for (int ran = 0; file >> first >> ran;) {
      done_[first] = ran;
      ran_ += ran;
      seeds_ += kChunk;
    }
  }

  void Start(uint64_t first) {
    void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* progress = new (shared) Progress;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) RunChunk(first, progress);
    running_[child] = {first, progress};
  }

  void Wait() {
    int status = 0;
    const pid_t child = wait(&status);
    const Chunk chunk = running_.at(child);
    running_.erase(child);
    const bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (crashed) fmt::print("seed {}: crashed, status {}\n", chunk.progress->seed, status);
    failures_ += crashed || chunk.progress->failed;
    ran_ += chunk.progress->ran;
    seeds_ += kChunk;
    if (!options_.results.empty() && !crashed && !chunk.progress->failed)
      std::ofstream(options_.results, std::ios::app)
          << chunk.first << " " << chunk.progress->ran << std::endl;
    munmap(chunk.progress, sizeof(Progress));
  }

  const Options options_;
  std::map<uint64_t, int> done_;
  std::map<pid_t, Chunk> running_;
  int ran_ = 0, failures_ = 0;
  uint64_t seeds_ = 0;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Compiled random programs beside the interpreter", "kiln_lower_fuzz");
  app.add_option("--programs", options.programs, "Until so many ran")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The first")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--processes", options.processes)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--results", options.results, "Lines of a seed and how many programs its chunk ran");
  CLI11_PARSE(app, argc, argv);
  return Fuzzer(options).Run();
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
