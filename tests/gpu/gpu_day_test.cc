// Runs all of scripts/gpu-day, which checks and measures kernels on a GPU, with fakes of the CUDA driver, of
// compute-sanitizer and of PyTorch, and checks its results.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <regex>

#include "api/session.h"
#include "tests/gpu/on_fake_gpu.h"
#include "tests/support/product_mlir.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Checks items, each a comparison of the number of blocks that an SM holds with a prediction. Expects that at least ten
// are ok, and that the others found more blocks than predicted: the fake driver does not count registers, which limit
// these.
void ExpectOccupancies(const std::vector<Json>& items) {
  int as_expected = 0;
  for (const Json& item : items) {
    as_expected += item["status"] == "ok";
    const std::string text = item.dump();
    std::smatch blocks;
    const std::regex found("an SM holds ([0-9]+) blocks of [^ ]+, not ([0-9]+)");
    const bool differs = std::regex_search(text, blocks, found);
    EXPECT_NE(item["status"] == "ok", differs) << text;
    if (differs) EXPECT_GT(std::stoi(blocks[1]), std::stoi(blocks[2])) << text;
  }
  EXPECT_GE(as_expected, 10);
}

// A shell script in place of compute-sanitizer: it runs the program and reports no errors, or two hazards if the tool
// is racecheck.
constexpr char kSanitizer[] = R"(#!/bin/sh
tool=$2
shift 4
"$@" >/dev/null
case $tool in
  racecheck) echo '========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)' ;;
  *) echo '========= ERROR SUMMARY: 0 errors' ;;
esac
)";

constexpr char kTorch[] = R"(
class Anything:
    def __getattr__(self, name): return Anything()
    def __call__(self, *values, **named): return Anything()
    def __enter__(self): return self
    def __exit__(self, *error): return False
    def __add__(self, other): return Anything()
    def elapsed_time(self, end): return 0.5
cuda, backends, nn = Anything(), Anything(), Anything()
mm = bmm = mv = clone = softmax = matmul = randn = Anything()
__version__ = '0'
)";

class GpuDay : public OnFakeGpu {
 protected:
  // Runs a command line in the work folder, with the fake tools on its PATH. Its output goes to the file `output`, its
  // errors to `output`.errors. Returns the status of system().
  int Script(const std::string& arguments, const std::string& output) const {
    return system(absl::StrCat("cd ", work_.path(), " && PATH=", work_ / "bin", ":$PATH PYTHONPATH=",
                               work_ / "python", " ", arguments, " >", output, " 2>", output, ".errors")
                      .c_str());
  }

  const TemporaryFolder work_;
};

TEST_F(GpuDay, TruthsFaultsRatesPeersAndProgramsWithTheFakeDriver) {
  work_.Write("product.mlir", kProduct);
  std::filesystem::create_directories(work_ / "bin");
  std::filesystem::create_directories(work_ / "python");
  chmod(work_.Write("bin/compute-sanitizer", kSanitizer).c_str(), 0755);
  work_.Write("python/torch.py", kTorch);
  ASSERT_EQ(
      Script(absl::StrCat(KILN_SOURCE_DIR "/scripts/gpu-day prepare -o day --programs 3 --op product.mlir "
                                          "--elements 4096 --stand-ins ",
                          folder_),
             work_ / "prepared"),
      0)
      << ReadText(work_ / "prepared.errors");
  api::Session session;
  ASSERT_EQ(session.Load({.text = kProduct}), absl::OkStatus());
  StandInForBundle(*StartBuilders(), session.tasks()[0].program, work_ / "day/bundle-product");

  // The script fails, since hazards that racecheck reports count as errors.
  EXPECT_NE(Script("day/gpu-day run day --out results.json", work_ / "report"), 0);
  std::ifstream file(work_ / "results.json");
  std::map<std::string, std::vector<Json>> items;
  for (std::string line; std::getline(file, line);) {
    Json object = Json::parse(line);
    items[object["item"]].push_back(std::move(object));
  }
  EXPECT_EQ(items["prepared"].size(), 1);
  EXPECT_EQ(items["truth"].size(), 20 + 7);
  for (const Json& truth : items["truth"]) EXPECT_EQ(truth["status"], "ok") << truth;
  EXPECT_EQ(items["occupancy"].size(), 20);
  ExpectOccupancies(items["occupancy"]);
  EXPECT_EQ(items["drill"].size(), 7);
  for (const Json& drill : items["drill"]) EXPECT_EQ(drill["pass"], true) << drill;
  EXPECT_EQ(items["repeat"].size(), 30);
  EXPECT_EQ(items["peak"].size(), 3);
  EXPECT_EQ(items["sanitizer"].size(), 4);
  EXPECT_EQ(items["peer"].size(), 23) << (items["problem"].empty() ? Json() : items["problem"][0]);
  EXPECT_EQ(items["time"].size(), 3);
  for (const Json& time : items["time"]) EXPECT_EQ(time["status"], "ok") << time;
  ASSERT_EQ(items["end"].size(), 2);
  EXPECT_EQ(items["end"][0]["starts"], 4);  // at first, and after each of three faults that spoil the process

  const std::string report = ReadText(work_ / "report");
  for (const char* text : {"machine    Emulated GPU, sm_90, 4 SMs driver 13000", "truths     27 of 27 hold",
                           "drills     7 of 7 end as wanted", "memcheck ok, racecheck errors", "3 of 3"})
    EXPECT_THAT(report, HasSubstr(text));
  ASSERT_EQ(Script("day/gpu-day report --json results.json", work_ / "summary"), 0);
  const Json summary = Json::parse(ReadText(work_ / "summary"));
  EXPECT_EQ(summary["operators"]["product"]["right"], 3);
  EXPECT_GT(summary["bytes_per_second"].get<double>(), 0);
  EXPECT_EQ(summary["machine"]["sm"], 90);
}

}  // namespace
}  // namespace kiln
