// Tests `kiln log`, which prints the searches that a database holds, with their rounds. Also tests the option
// --strategy replay.
#include <gmock/gmock.h>

#include "search/database/sqlite_store.h"
#include "test_paths.h"
#include "tests/search/store_support.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/examples/matmul.mlir";

// Fills a new database with two runs: a finished one with one round, which has these statistics, and one without
// rounds.
void Fill(const std::string& path, const std::string& statistics) {
  const auto store = OpenStore(path).value();
  FillExample(*store);
  const RoundRow round{.trials = 16, .statistics = statistics};
  ASSERT_TRUE(store->AppendRecords(1, {ExampleRecord(1, 1, 0, {1})}, "", {round}).ok());
  ASSERT_TRUE(store->FinishRun(1).ok());
  ASSERT_TRUE(store->BeginRun({.command = "kiln tune b.mlir", .options = "{}", .seed = 4}).ok());
}

constexpr char kStatistics[] =
    R"({"task":"matmul","batch":16,"failed":2,"best_seconds":0.0015,"rank_accuracy":0.75,"quiet":{"quiet":30,"samples":40},
        "chains":{"proposed":2048,"valid":1024,"duplicates":0,"accepted":512,"temperature":0.1,
                  "effective_sample_size":64},
        "seconds":{"propose":1.5,"features":0.25,"predict":0.5,"build":3,"run":2,"train":0.125,"store":0}})";

TEST(Log, IsATableForEachRunWithARowForEachRound) {
  const TemporaryFolder folder;
  Fill(folder / "kiln.db", kStatistics);
  const Ran ran = RunKiln({"log", folder / "kiln.db"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(
      ran.out,
      "run 1: kiln tune a.mlir, seed 18446744073709551615\n"
      "round  task    trials  failed  best    quiet  accuracy  valid  accepted  ess  T    propose  features  "
      "predict  build  run   train  store\n"
      "0      matmul  16      2       1.5 ms  75%    0.75      50%    25%       64   0.1  1.50     0.25      "
      "0.50     3.00   2.00  0.12   0.00\n"
      "all                                                                                1.50     0.25      "
      "0.50     3.00   2.00  0.12   0.00\n"
      "\n"
      "run 2: kiln tune b.mlir, seed 4, not finished\n"
      "no rounds are recorded\n"
      "\n"
      "Times are in seconds. The time to store a round is listed with the next round.\n");
}

TEST(Log, AsJson) {
  const TemporaryFolder folder;
  Fill(folder / "kiln.db", kStatistics);
  const nlohmann::json json = RunKiln({"log", folder / "kiln.db", "--run", "1", "--json"}).json();
  ASSERT_EQ(json.size(), 1);
  EXPECT_EQ(json[0]["finished"], true);
  EXPECT_EQ(json[0]["rounds"][0]["trials"], 16);
  EXPECT_EQ(json[0]["rounds"][0]["seconds"]["build"], 3);
}

TEST(Log, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  Fill(folder / "damaged.db", "oops");
  Fill(folder / "kiln.db", kStatistics);
  const std::string text = folder.Write("notes.txt", "not a database, but long enough to be taken for one");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"log", folder / "missing.db"}, "missing.db: there is no such database"},
      {{"log", text}, "notes.txt"},
      {{"log", folder / "damaged.db"}, "run 1, round 0 of task 0: its statistics are not a JSON object"},
      {{"log", folder / "kiln.db", "--run", "7"}, "kiln.db has no run 7"},
  };
  for (const auto& [arguments, message] : cases) {
    const Ran ran = RunKiln(arguments);
    EXPECT_EQ(ran.exit_code, 1) << message;
    EXPECT_THAT(ran.err, HasSubstr(message));
  }
}

TEST(StrategyOption, ReplayAndItsListGoTogether) {
  EXPECT_EQ(RunKiln({"tune", kMatmul, "--strategy", "replay"}).exit_code, 2);
  EXPECT_EQ(RunKiln({"tune", kMatmul, "--replay", "a.trace"}).exit_code, 2);
  const TemporaryFolder folder;
  const std::pair<std::string, const char*> files[] = {
      {folder / "missing.trace", "missing.trace: there is no such file"},
      {folder.Write("empty.trace", ""), "empty.trace:1:1: no trace; one begins with \"kiln.trace v2\""},
      {folder.Write("bad.trace", "kiln.trace v2\nhello\n"), "bad.trace:2:1"},
  };
  for (const auto& [path, message] : files) {
    const Ran ran = RunKiln({"tune", kMatmul, "--strategy", "replay", "--replay", path});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_THAT(RunKiln({"tune", kMatmul, "--start", path}).err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace kiln
