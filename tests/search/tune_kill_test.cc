// Kills a tuning process, or interrupts a search, at random instants. No acknowledged record may be lost, and
// the resumed run must end with the records of an undisturbed run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include "absl/strings/str_cat.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "search/database/sqlite_store.h"
#include "tests/search/small_searches.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

constexpr int kTrials = 64, kKills = Repeats(50), kInterrupts = Repeats(120);

absl::StatusOr<std::vector<TuneResult>> TuneOn(Store& store, uint64_t seed,
                                               const std::function<void(const TuneProgress&)>& progress,
                                               const std::atomic<bool>* stop = nullptr) {
  TuneOptions options = Small(kTrials, seed);
  options.progress = progress;
  options.stop = stop;
  SimulatedMachine machine{Target()};
  return Tune({{"matmul", Matmul(64, 64, 64), 0}}, TilingSpace, Target(), options, machine, store);
}

// Tunes in a child that is killed after `microseconds`. Returns the number of trials that it acknowledged.
int TuneAndKill(const std::string& path, uint64_t seed, int64_t microseconds) {
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(channel[0]);
    auto store = OpenStore(path);
    if (!store.ok()) _exit(3);
    const auto results = TuneOn(**store, seed, [&](const TuneProgress& p) {
      if (write(channel[1], &p.trials, sizeof p.trials) != sizeof p.trials) _exit(4);
    });
    _exit(results.ok() ? 0 : 5);
  }
  close(channel[1]);
  usleep(static_cast<useconds_t>(microseconds));
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "exit " << WEXITSTATUS(status);
  int trials = 0;
  for (int next; read(channel[0], &next, sizeof next) == sizeof next;) trials = next;
  close(channel[0]);
  return trials;
}

TEST(TuneKilled, LosesNoAcknowledgedRecordAndGoesOn) {
  const std::string folder = testing::TempDir() + absl::StrCat("kiln_tune_kill_", getpid());
  std::filesystem::create_directories(folder);
  Engine engine{20};
  RandomDice dice(engine);
  int kills = 0, in_the_middle = 0;
  for (uint64_t seed = 0; kills < kKills; ++seed) {
    const auto reference = MakeMemoryStore();
    const auto started = std::chrono::steady_clock::now();
    ASSERT_TRUE(TuneOn(*reference, seed, nullptr).ok());
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started)
            .count();

    const std::string path = absl::StrCat(folder, "/", seed, ".db");
    bool finished = false;
    for (int i = 0; i < 5 && !finished; ++i, ++kills) {
      const int acknowledged = TuneAndKill(path, seed, dice.Below(took));
      const auto store = OpenStore(path);
      ASSERT_TRUE(store.ok()) << store.status();
      const auto contents = (*store)->ReadAll();
      ASSERT_TRUE(contents.ok());
      EXPECT_GE(contents->records.size(), acknowledged);
      finished = !contents->runs.empty() && contents->runs[0].finished;
      in_the_middle += acknowledged > 0 && !finished;
    }
    const auto store = OpenStore(path);
    ASSERT_TRUE(store.ok());
    if (!finished) ASSERT_TRUE(TuneOn(**store, seed, nullptr).ok());
    const auto wanted = reference->ReadAll(), found = (*store)->ReadAll();
    EXPECT_EQ(found->records, wanted->records) << "seed " << seed;
    EXPECT_EQ(found->runs.size(), 1);
  }
  std::filesystem::remove_all(folder);
  EXPECT_GT(in_the_middle, 0);
}

int64_t Microseconds(const std::function<void()>& work) {
  double seconds = 0;
  {
    const Stopwatch watch(&seconds);
    work();
  }
  return static_cast<int64_t>(seconds * 1e6);
}

// Tunes until it is stopped after `microseconds`. Returns the phase in which it was stopped; nothing if it
// ended before.
std::optional<std::string> TuneAndStop(Store& store, uint64_t seed, int64_t microseconds) {
  std::atomic<bool> stop = false;
  std::string phase;
  std::thread stops([&] {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    phase = Phase::Current();
    stop = true;
  });
  const auto results = TuneOn(store, seed, nullptr, &stop);
  stops.join();
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() && (*results)[0].interrupted ? std::optional(phase) : std::nullopt;
}

TEST(TuneInterrupted, BeforeItsFirstStepHasNothing) {
  const std::atomic<bool> stop = true;
  TuneOptions options = Small(kTrials, 1);
  options.stop = &stop;
  const auto store = MakeMemoryStore();
  SimulatedMachine machine{Target()};
  const std::vector<TuneTask> tasks = {{"one", Matmul(64, 64, 64)}, {"other", Matmul(32, 64, 64)}};
  for (const TuneResult& result : MustTune(options, machine, *store, tasks)) {
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.record, 0);
    EXPECT_EQ(result.run, 0);
  }
  EXPECT_TRUE(store->ReadAll()->runs.empty());
}

TEST(TuneInterrupted, EndsWithTheRecordsOfAnUninterruptedRun) {
  Engine engine{21};
  RandomDice dice(engine);
  std::map<std::string, int> interrupts;  // by phase
  int count = 0;
  for (uint64_t seed = 0; count < kInterrupts; ++seed) {
    const auto straight = MakeMemoryStore(), store = MakeMemoryStore();
    const int64_t whole = Microseconds([&] { ASSERT_TRUE(TuneOn(*straight, seed, nullptr).ok()); });
    bool finished = false;
    for (int i = 0; i < 5 && !finished; ++i) {
      const std::optional<std::string> phase = TuneAndStop(*store, seed, dice.Below(whole));
      finished = !phase.has_value();
      if (finished) break;
      ++count;
      ++interrupts[*phase];
    }
    if (!finished) ASSERT_TRUE(TuneOn(*store, seed, nullptr).ok());
    EXPECT_EQ(store->ReadAll()->records, straight->ReadAll()->records) << "seed " << seed;
    EXPECT_EQ(store->ReadAll()->runs.size(), 1);
  }
  for (const char* phase : {"training", "proposals"}) EXPECT_GT(interrupts[phase], 0) << phase;
}

}  // namespace
}  // namespace kiln
