// Tests `kiln records import`: the results of a bundle that was measured on another machine become records of a
// database.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/session.h"
#include "search/database/sqlite_store.h"

namespace kiln {
namespace {

constexpr char kResults[] = R"({"item": "machine", "machine": {"fingerprint": "Emulated GPU, sm_90, 4 SMs"}}
{"item": "run", "uid": "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", "command": "kiln bundle a.mlir", "seed": 7, "kiln": "0.2.0", "llvm": "22.1", "xgboost": "1.7", "started": 17, "target": "{}"}
{"item": "workload", "id": 0, "hash": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "name": "mm", "program": "program mm"}
{"item": "time", "workload": 0, "trial": 0, "sketch": "", "trace": "kiln.trace v2\n", "program_hash": "dddddddddddddddddddddddddddddddd", "flags": "contract", "static": 1e-5, "status": "ok", "seconds": 0.002, "samples": [0.001, 0.002, 0.003], "slowdown": 1.5}
{"item": "time", "workload": 0, "trial": 1, "sketch": "", "trace": "kiln.trace v2\n", "program_hash": "dddddddddddddddddddddddddddddddd", "flags": "", "static": 1e-5, "status": "timed_out", "detail": "did not end within 2 s"}
{"item": "time", "workload": 0, "trial": 2, "sketch": "", "trace": "kiln.trace v2\n", "program_hash": "dddddddddddddddddddddddddddddddd", "flags": "", "static": 1e-5, "status": "interrupted"}
{"item": "end", "run": 3, "left_out": 0, "starts": 2}
)";

class ImportResults : public testing::Test {
 protected:
  absl::StatusOr<api::ImportReport> Import(const std::string& text) {
    const std::string file = testing::TempDir() + "kiln-results.json";
    std::ofstream(file) << text;
    return api::Session({.database = database_}).ImportRecords(file);
  }
  void TearDown() override { std::remove(database_.c_str()); }

  const std::string database_ = absl::StrCat(testing::TempDir(), "kiln-import-", getpid(), ".db");
};

TEST_F(ImportResults, AreRecordsOfTheGpu) {
  const auto first = Import(kResults);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->added, 2);
  const auto again = Import(kResults);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->added, 0);
  EXPECT_EQ(again->present, 2);
  const auto contents = (*OpenStore(database_))->ReadAll();
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_EQ(contents->targets[0].fingerprint, "Emulated GPU, sm_90, 4 SMs");
  EXPECT_EQ(contents->workloads[0].name, "mm");
  const RecordRow &good = contents->records[0], &bad = contents->records[1];
  EXPECT_EQ(good.samples, (std::vector<double>{0.001, 0.002, 0.003}));
  EXPECT_EQ(good.raw_samples, (std::vector<double>{0.001, 1.5, 0.002, 1.5, 0.003, 1.5}));
  EXPECT_TRUE(good.verified);
  EXPECT_TRUE(good.flags.contract);
  EXPECT_EQ(bad.status, "timed_out");
  EXPECT_EQ(bad.error, "did not end within 2 s");
}

TEST_F(ImportResults, WhatIsNoResultIsRefusedWhole) {
  std::string text = kResults;
  text.replace(text.find("\"trial\": 1"), 10, "\"trail\": 1");
  const auto wrong = Import(text);
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.status().message().find("kiln-results.json:5: "), std::string::npos) << wrong.status();
  EXPECT_EQ((*OpenStore(database_))->ReadAll()->records.size(), 0);
  EXPECT_NE(Import("{\"item\": \"end\"}\n").status().message().find("there is no line with the run"),
            std::string::npos);
}

TEST_F(ImportResults, ExportedRecordsComeBack) {
  ASSERT_TRUE(Import(kResults).ok());
  const std::string file = testing::TempDir() + "kiln-exported.json";
  const auto exported = api::Session({.database = database_}).ExportRecords(file);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->records, 2);
  std::remove(database_.c_str());
  const auto back = api::Session({.database = database_}).ImportRecords(file);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->added, 2);
}

}  // namespace
}  // namespace kiln
