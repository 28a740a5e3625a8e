// Tests `kiln bench`, which compares tuned kernels with the untuned program, stock MLIR passes and libraries such as
// OpenBLAS.
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
  EXPECT_GT(json["low"].get<double>(), 0);
  EXPECT_LE(json["low"].get<double>(), json["median"].get<double>());
  EXPECT_LE(json["median"].get<double>(), json["high"].get<double>());
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
  EXPECT_GT(task["record"].get<double>(), 0);
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
  EXPECT_THAT(text.out, HasSubstr("left out: blis: wrong_result: parameter 2"));
  std::vector<std::string> as_json = arguments;
  as_json.push_back("--json");
  const nlohmann::json task = RunKiln(as_json).json()["tasks"][0];
  ExpectInterval(task["beside"]["openblas"]["seconds"]);
  ExpectInterval(task["beside"]["openblas"]["ratio"]);
  EXPECT_FALSE(task["beside"].contains("blis"));
  EXPECT_TRUE(task["left_out"].contains("blis"));
}

TEST(Tune, EndsWithTheShareOfTheMachineAndTheRatioToALibrary) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("product.mlir", kProduct), db = folder / "kiln.db";
  MakeLibrary("libopenblas.so.0", SgemmSource());
  const char* const before = getenv("LD_LIBRARY_PATH");
  const std::string path = before != nullptr ? before : "";
  setenv("LD_LIBRARY_PATH", TestFolder().c_str(), 1);
  const Ran text = RunKiln({"tune", file, "--trials", "4", "--db", db, "-o", folder / "out"});
  const Ran json = RunKiln({"tune", file, "--trials", "4", "--db", db, "--json"});
  before != nullptr ? setenv("LD_LIBRARY_PATH", path.c_str(), 1) : unsetenv("LD_LIBRARY_PATH");
  EXPECT_THAT(text.out, testing::ContainsRegex("  record    [0-9]+, proven and verified\n"));
  EXPECT_THAT(text.out, testing::ContainsRegex("  machine   [0-9]+% of the (peak|bandwidth) .1 core: "));
  EXPECT_THAT(text.out, testing::ContainsRegex("  library   openblas takes [0-9.]+ times as long .[0-9.]+ "));
  const nlohmann::json task = json.json()["tasks"][0];
  EXPECT_GT(task["machine"]["share"].get<double>(), 0);
  EXPECT_GT(task["libraries"]["openblas"]["ratio"].get<double>(), 0);
  EXPECT_TRUE(task["proven"]);
  EXPECT_THAT(RunKiln({"best", "--db", db}).out, HasSubstr("proven and verified"));
  EXPECT_THAT(ReadText(folder / "out/product.h"), HasSubstr("Beside the original: proven and verified\n"));
  for (const char* command : {"tune", "best", "export"}) {
    const std::string help = RunKiln({command, "--help"}).out;
    EXPECT_THAT(help, HasSubstr("proven: equal to the original for every input")) << command;
    EXPECT_THAT(help, HasSubstr("verified: run on trial data")) << command;
  }
}

}  // namespace
}  // namespace kiln
