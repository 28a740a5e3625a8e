// Helpers for tests of the store: a temporary directory and example rows.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "search/database/store.h"

namespace kiln {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-store-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string ExampleHash(char digit) { return std::string(32, digit); }

inline RecordRow ExampleRecord(RowId workload, RowId target, int trial, std::vector<double> samples) {
  return {.workload = workload,
          .target = target,
          .round = trial / 16,
          .trial = trial,
          .sketch = "tile=SSRSRS",
          .trace = "kiln.trace v2\nb0 = get-block \"matmul\"\n",
          .program_hash = ExampleHash('d'),
          .samples = std::move(samples),
          .status = "ok",
          .flags = {.contract = true},
          .created = 1700000000000 + trial};
}

// Adds a workload, a target and an unfinished run, all with id 1, to an empty store.
inline void FillExample(Store& store) {
  ASSERT_EQ(store.PutWorkload(ExampleHash('a'), "matmul", "program a").value(), 1);
  ASSERT_EQ(store.PutTarget("cpu cores=2", "fingerprint 1").value(), 1);
  const RunRow run{.uid = ExampleHash('e'),
                   .command = "kiln tune a.mlir",
                   .options = "{}",
                   .seed = ~uint64_t{0},
                   .kiln_version = "0.1.0",
                   .llvm_version = "22.1",
                   .xgboost_version = "1.7.4",
                   .started = 17};
  ASSERT_EQ(store.BeginRun(run).value(), 1);
}

}  // namespace kiln
