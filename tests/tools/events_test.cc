// Tests `kiln tune --events FILE`, which writes each event of a search as a line of JSON. Also tests the signatures of
// tasks in the output of tune and export.
#include <gmock/gmock.h>

#include "absl/strings/str_split.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/tests/inputs/small_matmul.mlir";

TEST(Events, AreWrittenALineEachAndTellTheSameRoundsAsTheDocument) {
  const TemporaryFolder folder;
  const Ran ran = RunKiln({"tune", kMatmul, "--trials", "4", "--quiet", "--db", folder / "a.db", "--events",
                           folder / "events.jsonl", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::vector<std::string> kinds;
  Json rounds = Json::array();
  for (const auto line : absl::StrSplit(ReadText(folder / "events.jsonl"), '\n', absl::SkipEmpty())) {
    Json event = Json::parse(line, nullptr, false);
    ASSERT_TRUE(event.is_object()) << line;
    kinds.push_back(event["event"]);
    if (kinds.back() != "round") continue;
    EXPECT_EQ(event["now"]["trials"], 4);
    event.erase("event");
    event.erase("now");
    rounds.push_back(std::move(event));
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"started", "round", "task", "ended"}));
  EXPECT_EQ(rounds, ran.json()["rounds"]);
}

TEST(Events, AFileThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  const Ran ran = RunKiln({"tune", kMatmul, "--db", folder / "a.db", "--events", folder / "none/events"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("none/events cannot be written"));
}

TEST(Signature, IsToldByTuneAndStaysWithTheRecord) {
  const TemporaryFolder folder;
  const Ran tuned = RunKiln({"tune", kMatmul, "--trials", "2", "--db", folder / "a.db", "--json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Json task = tuned.json()["tasks"][0];
  const Ran exported = RunKiln({"export", std::to_string(task["record"].get<int>()), "--db", folder / "a.db",
                                "-o", folder / "out", "--json"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const Json parameters = exported.json()["parameters"];
  EXPECT_EQ(exported.json()["symbol"], task["symbol"]);
  EXPECT_EQ(parameters, task["parameters"]);
  ASSERT_FALSE(parameters.empty());
  EXPECT_TRUE(parameters[0].contains("argument"));
  EXPECT_EQ(parameters.back()["role"], "output");
  EXPECT_THAT(ReadText(folder / "out/matmul.h"), HasSubstr(parameters.back()["name"].get<std::string>()));
}

}  // namespace
}  // namespace kiln
