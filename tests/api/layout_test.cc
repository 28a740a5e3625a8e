// Tests the choice of the layout of a model's temporaries: a search races the file's layout against channels last once
// for each model, and whatever loads the model later follows the choice.
#include "api/internal/model/layout.h"

#include <gmock/gmock.h>

#include "api/internal/store/chosen_layout.h"
#include "backends/cpu/targets.h"
#include "lang/text/hash.h"
#include "search/database/memory_store.h"
#include "search/database/sqlite_store.h"
#include "search/run/run_key.h"
#include "tests/api/small_files.h"
#include "tests/support/run_kiln.h"

namespace kiln::api {
namespace {

// Loads kConvolutions, a model of two convolutions, in a session with these options. Returns the hashes of its tasks.
std::vector<std::string> Loaded(const SessionOptions& options) {
  Session session(options);
  EXPECT_TRUE(session.Load(Text(kConvolutions)).ok());
  std::vector<std::string> hashes;
  for (const TaskInfo& task : session.tasks()) hashes.push_back(task.hash);
  return hashes;
}

TEST(ChosenLayout, IsKeptForEachModelAndMachine) {
  const auto store = MakeMemoryStore();
  const RowId here = store->PutTarget("{}", "here").value(), there = store->PutTarget("{}", "there").value();
  ASSERT_TRUE(SaveLayout(*store, "one", here, true, "").ok());
  ASSERT_TRUE(SaveLayout(*store, "other", here, true, "").ok());
  ASSERT_TRUE(SaveLayout(*store, "other", here, false, "").ok());
  EXPECT_EQ(LoadLayout(*store, "one", here), true);
  EXPECT_EQ(LoadLayout(*store, "other", here), false);
  EXPECT_EQ(LoadLayout(*store, "unknown", here), std::nullopt);
  EXPECT_EQ(LoadLayout(*store, "one", there), std::nullopt);
}

TEST(ChosenLayout, IsFollowedUnlessTheUserNamesOne) {
  const TemporaryFolder folder;
  const std::string database = folder / "kiln.db";
  const auto file = Loaded({.database = database, .without = "channels-last"});
  const auto last = Loaded({.database = database, .without = "+channels-last"});
  ASSERT_EQ(file.size(), 2);
  ASSERT_NE(file, last);
  EXPECT_EQ(Loaded({.database = database}), file) << "nothing was chosen";

  const std::string model = ToString(HashOf(LoadInput(Text(kConvolutions), "")->program));
  const auto store = *OpenStore(database);
  const Target host = CpuTarget(1);
  const RowId target = store->PutTarget(TargetText(host), host.fingerprint).value();
  ASSERT_TRUE(SaveLayout(*store, model, target, true, "").ok());
  EXPECT_EQ(Loaded({.database = database}), last);
  EXPECT_EQ(Loaded({.database = database, .without = "channels-last"}), file);

  ASSERT_TRUE(SaveLayout(*store, model, target, false, "").ok());
  EXPECT_EQ(Loaded({.database = database}), file);
}

TEST(RaceLayouts, IsForLongSearchesOnThisMachineInTheDefaultSpace) {
  EXPECT_TRUE(ShouldRaceLayouts({.trials = 30}, 3));
  EXPECT_FALSE(ShouldRaceLayouts({.trials = 29}, 3));
  EXPECT_FALSE(ShouldRaceLayouts({.seconds = 59}, 3));
  EXPECT_TRUE(ShouldRaceLayouts({.seconds = 60}, 3));
  EXPECT_FALSE(ShouldRaceLayouts({.target = "h100"}, 3));
  EXPECT_FALSE(ShouldRaceLayouts({.space = {.space = "cpu"}}, 3));
  EXPECT_FALSE(ShouldRaceLayouts({.in_place = false}, 3));
}

TEST(RaceLayouts, TheSearchChoosesOnceAndTunesTheTasksOfThatLayout) {
  const TemporaryFolder folder;
  const SessionOptions options = {.database = folder / "kiln.db"};
  const auto file = Loaded({.database = options.database, .without = "channels-last"});
  const auto last = Loaded({.database = options.database, .without = "+channels-last"});
  Session session(options);
  ASSERT_TRUE(session.Load(Text(kConvolutions)).ok());
  const auto report = session.Tune({.trials = 20});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->raced_layouts.has_value());
  EXPECT_GT(report->raced_layouts->ratio.median, 0);
  EXPECT_EQ(report->raced_layouts->channels_last, report->raced_layouts->ratio.high < 1);
  const auto& chosen = report->raced_layouts->channels_last ? last : file;
  EXPECT_EQ(Loaded(options), chosen);
  for (size_t t = 0; t < 2; ++t) EXPECT_EQ(session.tasks()[t].hash, chosen[t]);

  Input again = *LoadInput(Text(kConvolutions), "");
  Stop stop;
  EXPECT_FALSE(RaceLayouts(options, 1, stop, &again)->has_value()) << "it was chosen before";
}

}  // namespace
}  // namespace kiln::api
