// `kiln bench`: what was found beside what there was.
#include <gmock/gmock.h>

#include "tests/support/run_kiln.h"
#include "tests/support/sgemm.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kProduct[] =
    R"(func.func @product(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
})";

void ExpectInterval(const nlohmann::json& json) {
  EXPECT_GT(json["low"], 0);
  EXPECT_LE(json["low"], json["median"]);
  EXPECT_LE(json["median"], json["high"]);
}

TEST(Bench, ComparesTheRecordWithTheProgramAsItCameAndWithStockPasses) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("product.mlir", kProduct), db = folder / "kiln.db";
  const Ran missing = RunKiln({"bench", file, "--db", db});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("there is no such database"));

  ASSERT_EQ(RunKiln({"tune", file, "--trials", "4", "--db", db}).exit_code, 0);
  const Ran ran = RunKiln({"bench", file, "--db", db, "--rounds", "6", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const nlohmann::json task = ran.json()["tasks"][0];
  EXPECT_EQ(task["task"], "product");
  EXPECT_GT(task["record"], 0);
  EXPECT_EQ(task["rounds"], 6);
  ExpectInterval(task["seconds"]);
  for (const char* name : {"untuned", "stock"}) {
    ExpectInterval(task["beside"][name]["seconds"]);
    ExpectInterval(task["beside"][name]["ratio"]);
  }
  const Ran text = RunKiln({"bench", file, "--db", db, "--rounds", "2"});
  EXPECT_THAT(text.out, HasSubstr("task     program"));
  EXPECT_EQ(RunKiln({"bench", file, "--db", db, "--task", "nobody"}).exit_code, 2);
  EXPECT_EQ(RunKiln({"bench", file, "--db", db, "--rounds", "1"}).exit_code, 2);
}

TEST(Bench, RecordsOfColdCachesStandByThemselves) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("product.mlir", kProduct), db = folder / "kiln.db";
  ASSERT_EQ(RunKiln({"tune", file, "--trials", "4", "--cold", "--db", db}).exit_code, 0);
  const nlohmann::json best = RunKiln({"best", "--db", db, "--json"}).json()[0];
  EXPECT_THAT(best["flags"].get<std::string>(), HasSubstr(" cold-cache "));
  const Ran replayed = RunKiln({"replay", std::to_string(best["id"].get<int>()), "--db", db, "--json"});
  EXPECT_THAT(replayed.json()["flags"].get<std::string>(), HasSubstr(" cold-cache ")) << replayed.err;
  const std::vector<std::string> arguments = {"bench", file, "--db", db, "--rounds", "4", "--json"};
  EXPECT_EQ(RunKiln(arguments).json()["tasks"][0]["record"], 0);
  std::vector<std::string> cold = arguments;
  cold.push_back("--cold");
  EXPECT_EQ(RunKiln(cold).json()["tasks"][0]["record"], best["id"]);

  ASSERT_EQ(RunKiln({"tune", file, "--trials", "4", "--db", db}).exit_code, 0);
  EXPECT_EQ(RunKiln({"best", "--db", db, "--json"}).json().size(), 2);
}

TEST(Bench, TimesLibrariesThatComputeTheSame) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("product.mlir", kProduct), db = folder / "kiln.db";
  ASSERT_EQ(RunKiln({"tune", file, "--trials", "4", "--db", db}).exit_code, 0);
  MakeLibrary("libopenblas.so.0", SgemmSource());
  MakeLibrary("libblis.so.4", SgemmSource("1.01f"));
  const std::vector<std::string> arguments = {"bench", "--peer-path", TestFolder(), file, "--db",
                                              db,      "--rounds",    "4"};
  const Ran text = RunKiln(arguments);
  EXPECT_THAT(text.out, HasSubstr("\n         openblas "));
  EXPECT_THAT(text.out, HasSubstr("left out: blis: wrong-result: parameter 2"));
  std::vector<std::string> as_json = arguments;
  as_json.push_back("--json");
  const nlohmann::json task = RunKiln(as_json).json()["tasks"][0];
  ExpectInterval(task["beside"]["openblas"]["seconds"]);
  ExpectInterval(task["beside"]["openblas"]["ratio"]);
  EXPECT_FALSE(task["beside"].contains("blis"));
  EXPECT_TRUE(task["left_out"].contains("blis"));
}

}  // namespace
}  // namespace kiln
