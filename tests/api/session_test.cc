// Tests api::Session in this process on small MLIR files: loading, tuning, events, interrupts, checks, replay and
// export.
#include "api/session.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/json.h"
#include "lang/schedule/schedule.h"
#include "nlohmann/json.hpp"
#include "tests/api/small_files.h"
#include "tests/support/run_kiln.h"

namespace kiln::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionTest : public testing::Test {
 protected:
  // Returns a session that has loaded this MLIR text and whose database is in the test's folder.
  Session With(const char* text) const {
    Session session({.database = folder_ / "kiln.db"});
    EXPECT_TRUE(session.Load(Text(text)).ok());
    return session;
  }
  const TemporaryFolder folder_;
};

TEST_F(SessionTest, ListsTasksWithTheirSignatures) {
  const Session session = With(kAdd);
  ASSERT_EQ(session.tasks().size(), 1u);
  const TaskInfo& task = session.tasks()[0];
  EXPECT_EQ(task.name, "add");
  EXPECT_EQ(task.symbol, "add");
  EXPECT_EQ(task.flops, 24 * 40);
  EXPECT_EQ(task.hash.size(), 32u);
  ASSERT_EQ(task.parameters.size(), 3u);
  std::vector<std::string> arguments, roles;
  for (const Parameter& p : task.parameters) {
    arguments.push_back(p.argument);
    roles.push_back(p.role);
    EXPECT_EQ(p.dtype, "f32");
    EXPECT_FALSE(p.name.empty());
  }
  EXPECT_THAT(arguments, ElementsAre("left", "right", ""));
  EXPECT_THAT(roles, ElementsAre("input", "input", "output"));
  EXPECT_THAT(session.left_out(), IsEmpty());
}

TEST_F(SessionTest, NamesOfArgumentsAreNoPartOfTheHash) {
  std::string other = kAdd;
  for (size_t at; (at = other.find("%left")) != std::string::npos;) other.replace(at, 5, "%wrong");
  const Session session = With(kAdd), renamed = With(other.c_str());
  EXPECT_EQ(renamed.tasks()[0].parameters[0].argument, "wrong");
  EXPECT_EQ(renamed.tasks()[0].hash, session.tasks()[0].hash);
}

TEST_F(SessionTest, TunesChecksReplaysAndExports) {
  Session session = With(kMatmul);
  const auto report = session.Tune({.trials = 4, .output = folder_ / "out"});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->status.ok()) << report->status;
  ASSERT_EQ(report->tasks.size(), 1u);
  const TaskResult& best = report->tasks[0];
  EXPECT_GT(best.seconds, 0);
  EXPECT_TRUE(best.verified);
  EXPECT_EQ(best.symbol, "mm");
  EXPECT_FALSE(best.files.empty());
  for (const std::string& file : best.files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_THAT(ReadText(folder_ / "out/mm.h"), HasSubstr(best.parameters[2].name));

  const auto checked = session.Check(best.record);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->verdict, CheckResult::Verdict::kProven) << checked->reason;
  const auto replayed = session.Replay(best.record);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_TRUE(replayed->status.ok()) << replayed->status;
  const auto exported = session.Export(best.record, {.folder = folder_ / "again", .name = "other"});
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->name, "other");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "again/other.h"));
  ASSERT_EQ(exported->parameters.size(), best.parameters.size());
  for (size_t i = 0; i < best.parameters.size(); ++i) EXPECT_EQ(exported->parameters[i], best.parameters[i]);
  const auto listed = session.Best();
  ASSERT_TRUE(listed.ok() && listed->size() == 1) << listed.status();
  EXPECT_EQ((*listed)[0].workload_hash, session.tasks()[0].hash);
}

TEST_F(SessionTest, EventsComeInOrderAndTellWhatTheReportTells) {
  Session session = With(kMatmul);
  std::vector<std::string> kinds;
  std::vector<Round> rounds;
  const std::thread::id here = std::this_thread::get_id();
  const auto report = session.Tune({.trials = 20}, [&](const Event& event) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    kinds.push_back(nlohmann::json::parse(ToJson(event))["event"]);
    if (const auto* round = std::get_if<Round>(&event)) rounds.push_back(*round);
  });
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_GE(kinds.size(), 4u);
  EXPECT_EQ(kinds.front(), "started");
  EXPECT_EQ(kinds[kinds.size() - 2], "task");
  EXPECT_EQ(kinds.back(), "ended");
  EXPECT_EQ(rounds.size(), kinds.size() - 3) << "all others are rounds";
  ASSERT_EQ(rounds.size(), report->rounds.size());
  for (size_t i = 0; i < rounds.size(); ++i) {
    ASSERT_TRUE(rounds[i].now.has_value());
    rounds[i].now.reset();
    const Event told = rounds[i], kept = report->rounds[i];
    EXPECT_EQ(ToJson(told), ToJson(kept));
  }
}

TEST_F(SessionTest, AnInterruptedSearchGoesOnWithTheSameSettings) {
  Session session = With(kMatmul);
  int first = 0;
  const auto interrupted = session.Tune({.trials = 40, .seed = 3}, [&](const Event& event) {
    const auto* round = std::get_if<Round>(&event);
    if (round == nullptr) return;
    first = round->now->trials;
    session.Interrupt();
  });
  ASSERT_TRUE(interrupted.ok()) << interrupted.status();
  EXPECT_TRUE(interrupted->interrupted);
  EXPECT_TRUE(absl::IsCancelled(interrupted->status));
  ASSERT_GT(first, 0);
  ASSERT_LT(first, 40);

  Session another = With(kMatmul);
  int resumed = 0;
  const auto whole = another.Tune({.trials = 40, .seed = 3}, [&](const Event& event) {
    const auto* round = std::get_if<Round>(&event);
    if (round != nullptr && resumed == 0) resumed = round->now->trials;
  });
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_FALSE(whole->interrupted);
  EXPECT_EQ(whole->run, interrupted->run);
  EXPECT_GT(resumed, first) << "what was measured is not measured again";
}

TEST_F(SessionTest, AnInterruptEndsABuildBeforeItCompiles) {  // which would fail, as `workers` is no folder
  Session session({.database = folder_ / "kiln.db", .workers = folder_ / "none"});
  ASSERT_TRUE(session.Load(Text(kMatmul)).ok());
  std::jthread interrupts([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) session.Interrupt();
  });
  const auto report = session.Build({.folder = folder_ / "out"});
  EXPECT_TRUE(absl::IsCancelled(report.status())) << report.status();
}

TEST_F(SessionTest, InterruptingNothingDoesNothing) {
  Session session = With(kAdd);
  session.Interrupt();
  const auto report = session.Tune({.trials = 1});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->interrupted);
}

TEST_F(SessionTest, ASpaceMayBeAFunction) {
  Session session = With(kMatmul);
  SketchSettings settings;
  settings.space.space = "two orders";
  settings.space.function = [](Schedule& s) {
    const std::vector<Loop> loops = s.GetLoops(s.GetBlock("matmul"));
    if (s.Choose("order", 2) == 1) s.Reorder({loops[1], loops[0]});
  };
  const auto report = session.Sketches(settings);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->space, "two orders");
  ASSERT_EQ(report->tasks.size(), 1u);
  EXPECT_EQ(report->tasks[0].sketches.sketches.size(), 2u);
}

TEST_F(SessionTest, ErrorsSayWhatIsWrong) {
  Session session({.database = folder_ / "kiln.db"});
  EXPECT_THAT(std::string(session.Tune().status().message()), HasSubstr("no file is loaded"));
  EXPECT_TRUE(absl::IsNotFound(session.Load({.path = folder_ / "none.mlir"})));
  EXPECT_THAT(std::string(session.Load(Text("nonsense")).message()), HasSubstr("text:1:1"));
  EXPECT_TRUE(absl::IsOutOfRange(session.Load(Text(kNothing))));
  EXPECT_TRUE(absl::IsNotFound(session.Show(1).status()));

  Session loaded = With(kAdd);
  TuneSettings settings;
  settings.space.space = "each-block(bake)";
  EXPECT_TRUE(IsMistake(loaded.Tune(settings).status()));
  EXPECT_TRUE(IsMistake(loaded.Tune({.strategy = "luck"}).status()));
  EXPECT_TRUE(IsMistake(loaded.Tune({.scheduler = "luck"}).status()));
  EXPECT_TRUE(IsMistake(loaded.Tune({.features = "luck"}).status()));
  EXPECT_TRUE(IsMistake(loaded.Sketches({.task = "nobody"}).status()));
  EXPECT_TRUE(IsMistake(loaded.Sketches({.target = "toaster"}).status()));
}

TEST_F(SessionTest, WorkersAreLookedForWhereOneSays) {
  Session session({.database = folder_ / "kiln.db", .workers = folder_ / "nowhere"});
  ASSERT_TRUE(session.Load(Text(kAdd)).ok());
  EXPECT_THAT(std::string(session.Tune({.trials = 1}).status().message()), HasSubstr("nowhere/kiln-"));
}

}  // namespace
}  // namespace kiln::api
