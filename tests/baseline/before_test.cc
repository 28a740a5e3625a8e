// Tests that files of earlier versions can be read, replayed and resumed (tests/inputs/before).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "search/cost/models.h"
#include "search/database/json_lines.h"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "search/run/run_key.h"
#include "test_paths.h"
#include "tests/baseline/before.h"
#include "tests/baseline/parts.h"
#include "tests/baseline/simulated.h"
#include "tests/support/run_kiln.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln::baseline {
namespace {

std::string BeforePath(const std::string& name) {
  return absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/before/", name);
}

// A fixture that copies the database of tests/inputs/before to a writable folder, and opens it there.
class Before : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(BeforePath("kiln.db"), database_);
    auto store = OpenStore(database_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  TemporaryFolder folder_;
  const std::string database_ = folder_ / "kiln.db";
  std::unique_ptr<Store> store_;
};

TEST_F(Before, TheFastestRecordOfEachTaskIsFound) {
  std::string lines;
  const std::vector<RecordEntry> best = store_->BestAll().value();
  for (const RecordEntry& entry : best) {
    if (!entry.run.finished) continue;
    absl::StrAppend(&lines, entry.record.id, " ", entry.workload.name, " ", LineOf(entry.record), "\n");
  }
  EXPECT_EQ(lines, ReadText(BeforePath("best.txt")));
}

TEST_F(Before, EveryRecordReplaysToItsProgram) {
  const StoreContents contents = store_->ReadAll().value();
  ASSERT_GT(contents.records.size(), 100u);
  for (const RecordRow& record : contents.records) {
    const auto original = ParseProgram(contents.workloads[record.workload - 1].program);
    ASSERT_TRUE(original.ok()) << original.status();
    const auto target = TargetOf(contents.targets[record.target - 1]);
    ASSERT_TRUE(target.ok()) << target.status();
    const auto trace = ParseTrace(record.trace);
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ(ParseTrace(Print(*trace)).value(), *trace) << "record " << record.id;
    const auto replayed = Replay(*trace, *original, *target, {.snapshots = false});
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(ToString(HashOf(replayed->program())), record.program_hash) << "record " << record.id;
  }
}

TEST_F(Before, WorkloadsOfTheFilesAreThoseOfTheDatabase) {
  const StoreContents contents = store_->ReadAll().value();
  for (const WorkloadRow& row : contents.workloads) {
    const auto program = ParseProgram(row.program);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(ToString(HashOf(*program)), row.hash) << row.name;
  }
}

TEST_F(Before, TheInterruptedRunGoesOn) {
  const auto results = Search(InterruptedTasks(), InterruptedSearch(), *store_);
  const RowId run = results[0].run;
  std::vector<RecordRow> records;
  const StoreContents contents = store_->ReadAll().value();
  for (const RecordRow& record : contents.records)
    if (record.run == run) records.push_back(record);
  EXPECT_EQ(LinesOf(records), ReadText(BeforePath("resumed.txt")));
  EXPECT_EQ(store_->Runs()->size(), 2u);
}

TEST_F(Before, JsonLinesAreTheSameRows) {
  std::ifstream lines(BeforePath("kiln.jsonl"));
  const auto imported = MakeMemoryStore();
  const auto merged = ImportJson(*imported, lines, "kiln.jsonl");
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(imported->ReadAll()->records, store_->ReadAll()->records);
  EXPECT_EQ(imported->ReadAll()->workloads, store_->ReadAll()->workloads);
}

TEST_F(Before, ModelsOfEachKindOfFeaturesAreRead) {
  for (const std::string features : {"ansor", "context-relation", "configuration"}) {
    const std::string bytes = ReadText(BeforePath(absl::StrCat(features, ".model")));
    const auto model = LoadGlobalModel(*FeatureKindOf(features), bytes);
    EXPECT_TRUE(model.ok()) << features << ": " << model.status();
    const auto stored = store_->LoadModel(features, 1);
    ASSERT_TRUE(stored.ok() && stored->has_value()) << features;
    EXPECT_EQ((*stored)->bytes, bytes);
  }
}

TEST_F(Before, TracesInFilesReplay) {
  const std::vector<RecordEntry> best = store_->BestAll().value();
  for (const RecordEntry& entry : best) {
    const std::string path = BeforePath(absl::StrCat(entry.workload.name, ".trace"));
    if (!std::filesystem::exists(path)) continue;  // tasks of the interrupted run have no file
    const std::string text = ReadText(path), printed = Print(ParseTrace(text).value());
    EXPECT_EQ(text.substr(0, 13), "kiln.trace v1");
    EXPECT_EQ(printed.substr(0, 13), "kiln.trace v2");
    EXPECT_EQ(printed, Print(ParseTrace(entry.record.trace).value())) << path;
    EXPECT_EQ(FirstVersion(printed), text);
  }
}

TEST_F(Before, CommandsReadTheDatabase) {
  const std::vector<std::string> best =
      absl::StrSplit(ReadText(BeforePath("best.txt")), '\n', absl::SkipEmpty());
  const std::string record = best[0].substr(0, best[0].find(' '));
  store_.reset();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"log", database_}, {"show", record, "--db", database_}, {"best", "--db", database_}}) {
    const Ran ran = RunKiln(command);
    EXPECT_EQ(ran.exit_code, 0) << command[0] << ": " << ran.err;
    EXPECT_FALSE(ran.out.empty());
  }
}

TEST(BeforePlugin, LoadsAndGivesSketches) {
  const Ran ran = RunKiln({"space", absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops/torch_softmax.mlir"),
                           "--plugin", absl::StrCat(KILN_BUILD_DIR, "/tests/plugins/before_plugin.so"),
                           "--space", "each-block(before-plugin)"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

}  // namespace
}  // namespace kiln::baseline
