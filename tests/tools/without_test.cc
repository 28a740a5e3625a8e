// Tests the option --without, which switches policies off: records name the policies that were off, and records of
// different policies are kept apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAdd[] =
    "func.func @add(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {\n"
    "  %e = tensor.empty() : tensor<64xf32>\n"
    "  %s = linalg.add ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> "
    "tensor<64xf32>\n"
    "  return %s : tensor<64xf32>\n}\n";

TEST(Without, IsSaidByRecordsAndIsASearchOfItsOwn) {
  const TemporaryFolder folder;
  folder.Write("add.mlir", kAdd);
  const auto task = [&](const std::string& without) {
    std::vector<std::string> line = {"tune", "add.mlir", "--trials", "2", "--json"};
    if (!without.empty()) line.insert(line.end(), {"--without", without});
    const Ran ran = RunKiln(line, folder.path());
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.json()["tasks"][0];
  };
  const nlohmann::json usual = task(""), plain = task("short-loops,merge-dims");
  EXPECT_THAT(usual["flags"].get<std::string>(), Not(HasSubstr("without")));
  EXPECT_THAT(plain["flags"].get<std::string>(), HasSubstr("without=merge-dims,short-loops"));
  EXPECT_GT(plain["trials"].get<double>(), 0) << "no record of the other setting serves it";
  EXPECT_EQ(task("merge-dims,short-loops")["record"], plain["record"]) << "it is the same search";
  const std::string record = std::to_string(plain["record"].get<int64_t>());
  EXPECT_THAT(RunKiln({"show", record}, folder.path()).err, HasSubstr("without merge-dims,short-loops"));
  const nlohmann::json replayed = RunKiln({"replay", record, "--json"}, folder.path()).json();
  EXPECT_TRUE(replayed["verified"]) << replayed;
  EXPECT_THAT(replayed["flags"].get<std::string>(), HasSubstr("without=merge-dims,short-loops"));
  EXPECT_EQ(RunKiln({"best", "--json"}, folder.path()).json().size(), 2);
}

}  // namespace
}  // namespace kiln
