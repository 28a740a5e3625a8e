// Tests `kiln race`, which times the programs of two records in turns and prints the ratio.
#include <gmock/gmock.h>

#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kProduct[] =
    R"(func.func @product(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x128xf32>, tensor<128x128xf32>) outs(%f : tensor<128x128xf32>)
      -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
})";
const std::string kOther = std::string(KILN_SOURCE_DIR) + "/tests/inputs/field/two_tasks_with_constant.mlir";

// Makes two databases with records of a matrix product: a slow one, whose space does not tile, and one of the default
// space.
class Race : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string product = folder_.Write("product.mlir", kProduct);
    ASSERT_EQ(Tune(product, slow_, "each-block(auto-inline)"), 0);
    ASSERT_EQ(Tune(product, fast_, "cpu"), 0);
  }
  static int Tune(const std::string& file, const std::string& database, const std::string& space) {
    return RunKiln({"tune", file, "--trials", "4", "--quiet", "--db", database, "--space", space}).exit_code;
  }
  const TemporaryFolder folder_;
  const std::string slow_ = folder_ / "slow.db", fast_ = folder_ / "fast.db";
};

TEST_F(Race, TellsHowManyTimesAsLongTheFirstTakes) {
  const Ran ran = RunKiln({"race", "--db", slow_, "--db", fast_, "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json json = ran.json();
  EXPECT_EQ(json["workload"], "product");
  EXPECT_EQ(json["one"]["database"], slow_);
  EXPECT_GT(json["other"]["record"].get<double>(), 0);
  EXPECT_TRUE(json["noisy"].is_boolean());
  EXPECT_GT(json["ratio"]["low"].get<double>(), 1) << ran.out;
  EXPECT_LE(json["ratio"]["low"].get<double>(), json["ratio"]["median"].get<double>());
  EXPECT_LE(json["ratio"]["median"].get<double>(), json["ratio"]["high"].get<double>());

  const std::string best = std::to_string(json["other"]["record"].get<int>());
  const Ran same = RunKiln({"race", best, best, "--db", fast_});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out,
              AllOf(HasSubstr("product, in turns\n"), HasSubstr("record " + best), HasSubstr("ratio ")));
}

TEST_F(Race, RefusesWhatCannotRace) {
  const Ran one = RunKiln({"race", "1", "--db", slow_});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_THAT(one.err, HasSubstr("a race takes two records"));
  EXPECT_THAT(RunKiln({"race", "--db", slow_}).err, HasSubstr("give two records, or --db twice"));
  EXPECT_EQ(RunKiln({"race", "1", "99", "--db", slow_}).exit_code, 1);

  const std::string tasks = folder_ / "tasks.db";
  ASSERT_EQ(Tune(kOther, tasks, "each-block(auto-inline)"), 0);
  const Ran several = RunKiln({"race", "--db", slow_, "--db", tasks});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("has several workloads; give the numbers of two records"));
  const Ran differ = RunKiln({"race", "1", "1", "--db", slow_, "--db", tasks});
  EXPECT_EQ(differ.exit_code, 2);
  EXPECT_THAT(differ.err, HasSubstr("a race takes two programs of one workload"));
}

}  // namespace
}  // namespace kiln
