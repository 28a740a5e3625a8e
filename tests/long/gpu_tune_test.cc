// Tunes a dense layer with GELU for a GPU with estimated times (--static), so that no GPU is needed, with 200 trials.
// Expects that the records and the exported cubins are the same for any number of threads, and if the search is killed
// and resumed.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "search/database/sqlite_store.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kName[] = "torch_dense_bias_gelu";
constexpr size_t kTrials = 200, kTrialsBeforeTheKill = 100;

class GpuTune : public testing::Test {
 protected:
  // Returns the arguments of `kiln tune` with a database and an output folder that are named after `run`.
  std::vector<std::string> Arguments(const std::string& run, int threads) const {
    return {"tune",
            absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops/", kName, ".mlir"),
            "--target",
            "h100",
            "--trials",
            absl::StrCat(kTrials),
            "--static",
            "--threads",
            absl::StrCat(threads),
            "--db",
            run + ".db",
            "-o",
            run};
  }

  // Returns, as text to compare, the records of a run in the order of their trials, without times of day, and the
  // exported cubin.
  std::string ResultOf(const std::string& run) const {
    const auto store = OpenStore(folder_ / (run + ".db"));
    EXPECT_TRUE(store.ok()) << store.status();
    const auto contents = (*store)->ReadAll();
    EXPECT_TRUE(contents.ok()) << contents.status();
    std::string text;
    for (const RecordRow& r : contents->records)
      absl::StrAppend(&text, r.round, " ", r.trial, " ", r.status, " ", r.flags.Print(), " ", r.program_hash,
                      " ", r.error, " ", r.facts, " ", testing::PrintToString(r.samples), "\n", r.trace);
    EXPECT_GT(contents->records.size(), kTrials) << run;  // the race has records of its own
    std::cout << "  " << run << ": " << contents->records.size() << " records\n";
    const std::string cubin = ReadText(folder_ / absl::StrCat(run, "/", kName, ".cubin"));
    EXPECT_EQ(cubin.substr(1, 3), "ELF") << run;
    return text + cubin;
  }

  Ran Tune(const std::string& run, int threads) const {
    const auto begin = std::chrono::steady_clock::now();
    Ran ran = RunKiln(Arguments(run, threads), folder_.path());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    std::cout << "  " << run << ": " << spent.count() << " s\n" << ran.out;
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran;
  }

  // Starts a run and kills it when its database has at least `trials` records. Returns the number of records that it
  // then has.
  size_t Kill(const std::string& run, int threads, size_t trials) const {
    KilnProcess process(Arguments(run, threads), folder_.path());
    const auto made = [&]() -> size_t {
      if (!std::filesystem::exists(folder_ / (run + ".db"))) return 0;
      const auto store = OpenStore(folder_ / (run + ".db"));
      if (!store.ok()) return 0;
      const auto contents = (*store)->ReadAll();
      return contents.ok() ? contents->records.size() : 0;
    };
    while (made() < trials && kill(process.pid(), 0) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(process.pid(), SIGKILL);
    EXPECT_EQ(process.Wait().exit_code, -1);
    return made();
  }

  const TemporaryFolder folder_;
};

TEST_F(GpuTune, GivesTheSameForAnyNumberOfThreadsAndAfterAKill) {
  const Ran tuned = Tune("one", 1);
  EXPECT_THAT(tuned.out, HasSubstr("proven and verified"));
  EXPECT_THAT(tuned.out, HasSubstr("cycles, static: estimated, not measured"));
  const std::string wanted = ResultOf("one");
  for (const int threads : {2, 4}) {
    const std::string run = absl::StrCat("threads-", threads);
    Tune(run, threads);
    EXPECT_TRUE(ResultOf(run) == wanted) << run;
  }
  const size_t before = Kill("killed", 2, kTrialsBeforeTheKill);
  std::cout << "  killed after " << before << " records\n";
  EXPECT_GE(before, kTrialsBeforeTheKill);
  EXPECT_LT(before, kTrials);
  Tune("killed", 2);
  EXPECT_TRUE(ResultOf("killed") == wanted);
}

TEST_F(GpuTune, WithoutPtxasSaysWhereItLooked) {
  setenv("KILN_PTXAS", "/nowhere/ptxas", 1);
  const Ran without = RunKiln(Arguments("without", 1), folder_.path());
  unsetenv("KILN_PTXAS");
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.err, HasSubstr("no ptxas: install "));
  EXPECT_THAT(without.err, HasSubstr("looked for /nowhere/ptxas"));
}

}  // namespace
}  // namespace kiln
