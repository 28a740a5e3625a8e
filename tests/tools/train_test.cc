// Tests `kiln train`, which trains a cost model from the records of a database, and `kiln tune --transfer`, which
// begins with that model.
#include <gmock/gmock.h>

#include <fstream>

#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/tests/inputs/small_matmul.mlir";

TEST(Train, WhatOneSearchLearnedAnotherBeginsWith) {
  const TemporaryFolder folder;
  const std::string database = folder / "kiln.db", model = folder / "model.kiln";
  const auto tune = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line{"tune", kMatmul, "--trials", "16", "--quiet", "--db", database};
    line.insert(line.end(), more.begin(), more.end());
    return RunKiln(line);
  };
  ASSERT_EQ(tune({}).exit_code, 0);
  const Ran trained = RunKiln({"train", "--db", database, "-o", model});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, MatchesRegex("wrote .*model.kiln, from 16 records of 1 tasks\n"));
  for (const char* name : {"trees", "ensemble"}) {
    const Ran ran = tune({"--transfer", model, "--cost-model", name});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }

  const Ran other = tune({"--transfer", model, "--features", "context-relation"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("saved with features a row"));
  std::ofstream(model, std::ios::app) << "more";
  EXPECT_THAT(tune({"--transfer", model}).err, HasSubstr("bytes of trees, but"));
  EXPECT_THAT(tune({"--transfer", folder / "none"}).err, HasSubstr("cannot be read"));
}

TEST(Train, WithoutRecordsThereIsNothingToLearn) {
  const TemporaryFolder folder;
  const Ran ran = RunKiln({"train", "--db", folder / "none.db", "-o", folder / "model.kiln"});
  EXPECT_EQ(ran.exit_code, 1);
}

}  // namespace
}  // namespace kiln
