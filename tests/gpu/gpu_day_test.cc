// Runs scripts/gpu-day whole, with the fake driver.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "test_paths.h"

namespace kiln {
namespace {

using Json = nlohmann::json;

TEST(GpuDay, KernelsFaultsAndRatesWithTheFakeDriver) {
  std::string folder = testing::TempDir() + "kiln-gpu-day-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string script = KILN_SOURCE_DIR "/scripts/gpu-day", day = folder + "/day",
                    fake = folder + "/fake", results = folder + "/results.json";
  ASSERT_EQ(system(absl::StrCat(script, " prepare -o ", day, " --kernels-only --elements 4096 --stand-ins ",
                                fake, " >/dev/null")
                       .c_str()),
            0);
  EXPECT_EQ(
      system(absl::StrCat("LD_LIBRARY_PATH=" KILN_BUILD_DIR "/tests/fake_cuda KILN_FAKE_CUDA=", fake, " ",
                          day, "/gpu-day run ", day, " --out ", results, " >", folder, "/report 2>/dev/null")
                 .c_str()),
      0);
  std::ifstream file(results);
  std::map<std::string, std::vector<Json>> items;
  for (std::string line; std::getline(file, line);) {
    Json object = Json::parse(line);
    items[object["item"]].push_back(std::move(object));
  }
  EXPECT_EQ(items["truth"].size(), 10);
  for (const Json& truth : items["truth"]) EXPECT_EQ(truth["status"], "ok") << truth;
  EXPECT_EQ(items["drill"].size(), 5);
  for (const Json& drill : items["drill"]) EXPECT_EQ(drill["pass"], true) << drill;
  EXPECT_EQ(items["repeat"].size(), 25);
  EXPECT_EQ(items["peak"].size(), 1);
  ASSERT_EQ(items["end"].size(), 1);
  EXPECT_EQ(items["end"][0]["starts"], 4);  // at first, and after each of three faults that spoil the process
  std::ifstream report(folder + "/report");
  std::string first;
  std::getline(report, first);
  EXPECT_EQ(first, "machine    Emulated GPU, sm_90, 4 SMs driver 13000");
}

}  // namespace
}  // namespace kiln
