// Tests the contract of Store on every implementation.
#include "search/database/store.h"

#include <limits>
#include <map>

#include "gmock/gmock.h"
#include "rapidcheck.h"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "tests/search/store_support.h"

namespace kiln {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Store> Make(const std::string& file) {
    return GetParam() == "Memory" ? MakeMemoryStore() : OpenStore(directory_ / file).value();
  }
  void SetUp() override {
    store_ = Make("kiln.db");
    FillExample(*store_);
  }
  std::vector<RowId> Append(const std::vector<RecordRow>& records) {
    return store_->AppendRecords(1, records, "state").value();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Store, StoreContract, testing::Values("Memory", "Sqlite"),
                         [](const auto& implementation) { return implementation.param; });

TEST_P(StoreContract, GivesTheSameWorkloadTheSameId) {
  EXPECT_EQ(store_->PutWorkload(ExampleHash('a'), "another name", "program a").value(), 1);
  EXPECT_EQ(store_->PutWorkload(ExampleHash('b'), "matmul", "program b").value(), 2);
  EXPECT_EQ(store_->ReadAll()->workloads,
            (std::vector<WorkloadRow>{{1, ExampleHash('a'), "matmul", "program a"},
                                      {2, ExampleHash('b'), "matmul", "program b"}}));
}

TEST_P(StoreContract, GivesCollidingHashesRowsOfTheirOwn) {
  EXPECT_EQ(store_->PutWorkload(ExampleHash('a'), "other", "program with the hash of a").value(), 2);
  EXPECT_EQ(store_->PutWorkload(ExampleHash('a'), "matmul", "program a").value(), 1);
  EXPECT_EQ(store_->PutWorkload(ExampleHash('a'), "other", "program with the hash of a").value(), 2);
}

TEST_P(StoreContract, RefusesAHashThatIsNotThirtyTwoHexDigits) {
  const absl::Status status = store_->PutWorkload("A1", "matmul", "program").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("hash \"A1\" is not 32 lower-case hex digits"));
}

TEST_P(StoreContract, NeverServesRecordsOfAnotherMachine) {
  Append({ExampleRecord(1, 1, 0, {1e-3})});
  const RowId other = store_->PutTarget("cpu cores=2", "fingerprint 2").value();
  EXPECT_EQ(other, 2);
  EXPECT_EQ(store_->PutTarget("cpu cores=2", "fingerprint 1").value(), 1);
  EXPECT_TRUE(store_->Records(1, other)->empty());
  EXPECT_EQ(store_->Best(1, other).value(), std::nullopt);
}

TEST_P(StoreContract, FindsTheNewestUnfinishedRunOfACommand) {
  EXPECT_EQ(store_->FindUnfinishedRun("kiln tune b.mlir").value(), std::nullopt);
  EXPECT_EQ(store_->BeginRun({.command = "kiln tune a.mlir", .options = "{}", .seed = 5}).value(), 2);
  EXPECT_EQ(store_->FindUnfinishedRun("kiln tune a.mlir").value()->seed, 5u);
  ASSERT_TRUE(store_->FinishRun(2).ok());
  EXPECT_EQ(store_->FindUnfinishedRun("kiln tune a.mlir").value()->seed, ~uint64_t{0});
  ASSERT_TRUE(store_->FinishRun(1).ok());
  EXPECT_EQ(store_->FindUnfinishedRun("kiln tune a.mlir").value(), std::nullopt);
}

TEST_P(StoreContract, KeepsEveryFieldOfARun) {
  RunRow run{.uid = ExampleHash('f'),
             .command = "c",
             .options = "{\"trials\":9}",
             .seed = 1ull << 63,
             .kiln_version = "k",
             .llvm_version = "l",
             .xgboost_version = "x",
             .started = -5,
             .state = std::string("\0\xff state", 8)};
  run.id = store_->BeginRun(run).value();
  EXPECT_EQ(store_->FindUnfinishedRun("c").value(), run);
  EXPECT_EQ(store_->BeginRun(run).status().code(), StatusCode::kAlreadyExists);
}

TEST_P(StoreContract, UpdatesTheStateOfARunUntilItIsFinished) {
  ASSERT_TRUE(store_->UpdateRunState(1, "round 1").ok());
  EXPECT_EQ(store_->FindUnfinishedRun("kiln tune a.mlir").value()->state, "round 1");
  ASSERT_TRUE(store_->FinishRun(1).ok());
  EXPECT_TRUE(store_->FinishRun(1).ok());
  EXPECT_EQ(store_->UpdateRunState(1, "round 2").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->AppendRecords(1, {}, "round 2").status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->UpdateRunState(7, "").code(), StatusCode::kNotFound);
  EXPECT_EQ(store_->FinishRun(7).code(), StatusCode::kNotFound);
}

TEST_P(StoreContract, KeepsRoundsOnceWithTheirRecords) {
  const RoundRow first{.run = 1, .task = 0, .round = 0, .trials = 1, .statistics = "{\"batch\":1}"};
  RoundRow second = first;
  second.round = 1;
  second.trials = 2;
  ASSERT_TRUE(store_->AppendRecords(1, {ExampleRecord(1, 1, 0, {1})}, "s", {first}).ok());
  ASSERT_TRUE(store_->AppendRecords(1, {ExampleRecord(1, 1, 1, {1})}, "s", {first, second}).ok());
  EXPECT_EQ(store_->Rounds(1).value(), (std::vector<RoundRow>{first, second}));
  EXPECT_FALSE(store_->AppendRecords(1, {ExampleRecord(1, 1, 1, {1})}, "s", {{.task = 5}}).ok());
  EXPECT_EQ(store_->Rounds(1).value().size(), 2u);
  EXPECT_EQ(store_->Rounds(9).status().code(), StatusCode::kNotFound);
  ASSERT_EQ(store_->Runs().value().size(), 1u);
  EXPECT_EQ(store_->Runs().value()[0].seed, ~uint64_t{0});
}

TEST_P(StoreContract, KeepsEveryFieldOfARecordAndTheStateOfItsRun) {
  RecordRow record{.workload = 1,
                   .target = 1,
                   .task = 2,
                   .round = 3,
                   .trial = 4,
                   .sketch = std::string("sk\0etch", 7),
                   .trace = "trace",
                   .program_hash = ExampleHash('c'),
                   .samples = {0.1, 5e-324, 1.7976931348623157e308, 0},
                   .raw_samples = {5e-324, 1, 0.3, 1.5},
                   .status = "timed_out",
                   .error = "\xc3\x28 not UTF-8",
                   .lower_bound = true,
                   .flags = {.cold = true},
                   .created = 99};
  EXPECT_EQ(store_->AppendRecords(1, {record}, "after one").value(), std::vector<RowId>{1});
  record.id = record.run = 1;
  const RecordEntry entry = store_->Get(1).value();
  EXPECT_EQ(entry.record, record);
  EXPECT_EQ(entry.workload.program, "program a");
  EXPECT_EQ(entry.target.text, "cpu cores=2");
  EXPECT_EQ(entry.run.state, "after one");
  EXPECT_EQ(store_->Get(2).status().code(), StatusCode::kNotFound);
}

TEST_P(StoreContract, AppendsAWholeBatchOrNothing) {
  Append({ExampleRecord(1, 1, 0, {1})});
  const StoreContents before = store_->ReadAll().value();
  const std::map<StatusCode, RecordRow> bad = {
      {StatusCode::kAlreadyExists, ExampleRecord(1, 1, 0, {2})},
      {StatusCode::kNotFound, ExampleRecord(9, 1, 2, {2})},
      {StatusCode::kInvalidArgument, ExampleRecord(1, 1, 2, {std::numeric_limits<double>::quiet_NaN()})}};
  for (const auto& [code, record] : bad) {
    EXPECT_EQ(store_->AppendRecords(1, {ExampleRecord(1, 1, 1, {1}), record}, "new").status().code(), code);
    EXPECT_EQ(store_->ReadAll().value(), before);
  }
  EXPECT_EQ(store_->AppendRecords(9, {ExampleRecord(1, 1, 1, {1})}, "new").status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(store_->AppendRecords(1, {ExampleRecord(1, 9, 1, {1})}, "new").status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(store_->ReadAll().value(), before);
}

TEST_P(StoreContract, RefusesRecordsThatAreNoMeasurements) {
  RecordRow hash = ExampleRecord(1, 1, 0, {1}), trial = hash, status = hash, verified = hash, facts = hash;
  hash.program_hash = "";
  trial.trial = -1;
  status.status = "";
  verified.status = "crashed";
  verified.verified = true;
  facts.facts = "[1, 2]";
  for (const RecordRow& record : {hash, trial, status, verified, facts, ExampleRecord(1, 1, 0, {-1.0})}) {
    EXPECT_EQ(store_->AppendRecords(1, {record}, "").status().code(), StatusCode::kInvalidArgument);
  }
}

TEST_P(StoreContract, ListsRecordsInTheOrderOfAppending) {
  ASSERT_EQ(store_->BeginRun({.command = "second"}).value(), 2);
  Append({ExampleRecord(1, 1, 5, {1}), ExampleRecord(1, 1, 2, {2})});
  ASSERT_TRUE(store_->AppendRecords(2, {ExampleRecord(1, 1, 0, {3})}, "").ok());
  Append({ExampleRecord(1, 1, 9, {4})});
  const auto ids = [](const std::vector<RecordRow>& records) {
    std::vector<RowId> ids;
    for (const RecordRow& record : records) ids.push_back(record.id);
    return ids;
  };
  EXPECT_EQ(ids(store_->Records(1, 1).value()), (std::vector<RowId>{1, 2, 3, 4}));
  EXPECT_EQ(ids(store_->Records(1, 1, 1).value()), (std::vector<RowId>{1, 2, 4}));
  EXPECT_EQ(ids(store_->Records(1, 1, 2).value()), (std::vector<RowId>{3}));
}

TEST_P(StoreContract, TakesTheSmallestMedianAsBest) {
  RecordRow failed = ExampleRecord(1, 1, 3, {1e-9}), early = ExampleRecord(1, 1, 4, {1e-9});
  failed.status = "wrong_result";
  early.lower_bound = true;
  Append({ExampleRecord(1, 1, 0, {5, 5, 5}), ExampleRecord(1, 1, 1, {4, 1, 9}), ExampleRecord(1, 1, 2, {4}),
          failed, early, ExampleRecord(1, 1, 5, {})});
  EXPECT_EQ(store_->Best(1, 1).value()->id, 2);  // ids 2 and 3 have the median 4; the smaller id wins
  EXPECT_EQ(store_->Best(1, 1, /*verified_only=*/true).value(), std::nullopt);
  ASSERT_TRUE(store_->SetVerdict(1, true, "ok", "").ok());
  EXPECT_EQ(store_->Best(1, 1, /*verified_only=*/true).value()->id, 1);
}

TEST_P(StoreContract, PrefersTheRaceOfARunToALuckierRecordOfIt) {
  RecordRow raced = ExampleRecord(1, 1, 1, {3}), loser = ExampleRecord(1, 1, 2, {4});
  raced.flags = loser.flags = {.contract = true, .race = true};
  Append({ExampleRecord(1, 1, 0, {1}), loser, raced});
  EXPECT_EQ(store_->Best(1, 1).value()->id, 3);
  EXPECT_EQ(store_->BestAll().value()[0].record.id, 3);
  ASSERT_TRUE(store_->SetVerdict(1, true, "ok", "").ok());
  EXPECT_EQ(store_->Best(1, 1, /*verified_only=*/true).value()->id, 1);  // no record of the race is verified

  const RowId run = store_->BeginRun({.uid = ExampleHash('c'), .command = "kiln tune b.mlir"}).value();
  ASSERT_TRUE(store_->AppendRecords(run, {ExampleRecord(1, 1, 0, {2})}, "state").ok());
  EXPECT_EQ(store_->Best(1, 1).value()->id, 4);  // of a run without a race, every record counts
}

TEST_P(StoreContract, NeverComparesRecordsOfColdCachesWithOthers) {
  RecordRow cold = ExampleRecord(1, 1, 1, {1}), slower = ExampleRecord(1, 1, 2, {3});
  cold.flags = slower.flags = {.contract = true, .cold = true, .relative = true};
  Append({cold, slower});
  EXPECT_EQ(store_->Best(1, 1).value(), std::nullopt);
  Append({ExampleRecord(1, 1, 0, {2})});
  EXPECT_EQ(store_->Best(1, 1).value()->id, 3);
  EXPECT_EQ(store_->Best(1, 1, false, Caches::kCold).value()->id, 1);
  const std::vector<RecordEntry> best = store_->BestAll().value();
  ASSERT_EQ(best.size(), 2);
  EXPECT_EQ(best[0].record.id, 3);
  EXPECT_EQ(best[1].record.id, 1);
}

TEST_P(StoreContract, NeverComparesRecordsTimedAsWithinAModelWithOthers) {
  RecordRow in_model = ExampleRecord(1, 1, 1, {1}), warm = ExampleRecord(1, 1, 2, {3});
  in_model.flags.in_model = true;
  Append({in_model, warm});
  EXPECT_EQ(store_->Best(1, 1).value()->id, 2);
  EXPECT_EQ(store_->Best(1, 1, false, Caches::kInModel).value()->id, 1);
  EXPECT_EQ(store_->BestAll().value().size(), 2);
}

TEST_P(StoreContract, NeverChoosesARecordThatWasFoundWrong) {
  Append({ExampleRecord(1, 1, 0, {1}), ExampleRecord(1, 1, 1, {2})});
  ASSERT_TRUE(store_->SetVerdict(1, false, "wrong_result", "C[0,3] is 2, not 5").ok());
  EXPECT_EQ(store_->Best(1, 1).value()->id, 2);
  EXPECT_EQ(store_->Get(1)->record.error, "C[0,3] is 2, not 5");
  EXPECT_EQ(store_->SetVerdict(1, true, "wrong_result", "").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->SetVerdict(3, true, "ok", "").code(), StatusCode::kNotFound);
}

TEST_P(StoreContract, ListsOneBestPerWorkloadAndTarget) {
  ASSERT_EQ(store_->PutWorkload(ExampleHash('b'), "conv", "program b").value(), 2);
  ASSERT_EQ(store_->PutTarget("gpu", "fingerprint 2").value(), 2);
  RecordRow failed = ExampleRecord(2, 1, 4, {});
  failed.status = "crashed";
  Append({ExampleRecord(2, 2, 0, {1}), ExampleRecord(1, 2, 1, {2}), ExampleRecord(1, 1, 2, {3}),
          ExampleRecord(1, 1, 3, {2}), failed});
  std::vector<std::string> lines;
  const std::vector<RecordEntry> best = store_->BestAll().value();
  for (const RecordEntry& entry : best) {
    lines.push_back(entry.workload.name + " " + entry.target.text + " " + std::to_string(entry.record.trial));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"matmul cpu cores=2 3", "matmul gpu 1", "conv gpu 0"}));
}

TEST_P(StoreContract, ReplacesTheModelOfAKeyAndTarget) {
  const std::string bytes("\0\1\xff model", 9);
  EXPECT_EQ(store_->LoadModel("global", 1).value(), std::nullopt);
  ASSERT_TRUE(store_->SaveModel({.key = "global", .target = 1, .bytes = "old", .note = "n"}).ok());
  ASSERT_TRUE(store_->SaveModel({.key = "global", .target = 1, .bytes = bytes, .note = "64 records"}).ok());
  EXPECT_EQ(store_->LoadModel("global", 1).value(), (ModelRow{1, "global", 1, bytes, "64 records"}));
  EXPECT_EQ(store_->LoadModel("global", 2).value(), std::nullopt);
  EXPECT_EQ(store_->SaveModel({.key = "global", .target = 7}).code(), StatusCode::kNotFound);
}

TEST_P(StoreContract, MergesWhatIsMissingAndNothingTwice) {
  ASSERT_EQ(store_->PutWorkload(ExampleHash('b'), "conv", "program b").value(), 2);
  Append({ExampleRecord(2, 1, 0, {1}), ExampleRecord(1, 1, 1, {2})});
  const StoreContents source = store_->ReadAll().value();

  const auto other = Make("other.db");
  ASSERT_EQ(other->PutWorkload(ExampleHash('b'), "conv", "program b").value(), 1);
  const MergeResult first = other->Merge(source).value();
  EXPECT_EQ(first.added, 2);
  const StoreContents merged = other->ReadAll().value();
  EXPECT_EQ(merged.records[0].workload, 1);
  EXPECT_EQ(merged.records[1].workload, 2);
  EXPECT_TRUE(merged.runs[0].finished);

  const MergeResult second = other->Merge(source).value();
  EXPECT_EQ(second.added, 0);
  EXPECT_EQ(second.present, 2);
  EXPECT_EQ(other->ReadAll().value(), merged);
}

TEST_P(StoreContract, RefusesToMergeARunThatWentOnElsewhere) {
  Append({ExampleRecord(1, 1, 0, {1})});
  StoreContents copy = store_->ReadAll().value();
  copy.records[0].samples = {2};
  copy.records.insert(copy.records.begin(), ExampleRecord(1, 1, 7, {1}));
  copy.records[0].run = 1;
  const StoreContents before = store_->ReadAll().value();
  const absl::Status status = store_->Merge(copy).status();
  EXPECT_EQ(status.code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(status.message(), HasSubstr("two copies of this run were continued apart"));
  EXPECT_EQ(store_->ReadAll().value(), before);
}

TEST(Seconds, IsTheMedianOfTheSamples) {
  EXPECT_EQ(Seconds({.samples = {3}}), 3);
  EXPECT_EQ(Seconds({.samples = {9, 1, 2}}), 2);
  EXPECT_EQ(Seconds({.samples = {8, 1, 2, 4}}), 3);
  EXPECT_EQ(Seconds({.samples = {}}), std::numeric_limits<double>::infinity());
}

// Applies random operations to the memory store and to the SQLite store. Both must then hold the same rows.
TEST(Store, ImplementationsAgreeOnRandomOperations) {
  const TemporaryDirectory directory;
  int file = 0;
  const auto agree = [&](const std::vector<std::vector<int>>& operations) {
    const auto memory = MakeMemoryStore();
    const auto sqlite = OpenStore(directory / (std::to_string(file++) + ".db")).value();
    for (const std::vector<int>& numbers : operations) {
      const auto at = [&](size_t i, int limit) {
        return i < numbers.size() ? (numbers[i] % limit + limit) % limit : 0;
      };
      const auto apply = [&](Store& store) -> absl::Status {
        const std::string hash(32, "ab"[at(1, 2)]);
        switch (at(0, 7)) {
          case 0:
            return store.PutWorkload(hash, "n", std::to_string(at(2, 2))).status();
          case 1:
            return store.PutTarget("cpu", std::to_string(at(1, 3))).status();
          case 2:
            return store.BeginRun({.uid = std::string(32, "abcdef"[at(1, 6)]), .command = "c"}).status();
          case 3:
            return at(1, 4) == 0 ? store.FinishRun(at(2, 4)) : store.UpdateRunState(at(2, 4), "s");
          case 4:
            return store.SetVerdict(at(1, 8), at(2, 2) == 0, at(3, 2) == 0 ? "ok" : "crashed", "e");
          case 5:
            return store.SaveModel({.key = "k", .target = at(1, 3), .bytes = std::to_string(at(2, 9))});
          default:
            return store
                .AppendRecords(at(1, 4),
                               {ExampleRecord(at(2, 3), at(3, 3), at(4, 9), {1.0 + at(5, 3)}),
                                ExampleRecord(at(6, 3), at(7, 3), at(8, 9), {1.0 + at(9, 3)})},
                               std::to_string(at(4, 9)))
                .status();
        }
      };
      RC_ASSERT(apply(*memory).code() == apply(*sqlite).code());
    }
    RC_ASSERT(memory->ReadAll().value() == sqlite->ReadAll().value());
    const auto best = memory->BestAll().value(), best_sqlite = sqlite->BestAll().value();
    RC_ASSERT(best.size() == best_sqlite.size());
    for (size_t i = 0; i < best.size(); ++i) RC_ASSERT(best[i].record == best_sqlite[i].record);
    RC_ASSERT(memory->LoadModel("k", 1).value() == sqlite->LoadModel("k", 1).value());
  };
  const auto operation = rc::gen::container<std::vector<int>>(10, rc::gen::inRange(0, 1000));
  EXPECT_TRUE(rc::check("both stores agree", [&] {
    agree(*rc::gen::resize(40, rc::gen::container<std::vector<std::vector<int>>>(operation)));
  }));
}

}  // namespace
}  // namespace kiln
