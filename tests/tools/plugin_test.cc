// Tests plugins, which run in a process of their own: modules that throw, crash or hang give an error that names the
// module, and other tasks go on. Good modules give the same sketches as in this process.
#include <gmock/gmock.h>

#include <filesystem>

#include "api/internal/input.h"
#include "api/internal/spaces/plugin.h"
#include "api/internal/spaces/plugin_space.h"
#include "backends/cpu/targets.h"
#include "modules/space.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"
#include "trace/text.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMatmul = std::string(KILN_SOURCE_DIR) + "/tests/inputs/small_matmul.mlir";
const std::string kSoftmax = std::string(KILN_SOURCE_DIR) + "/tests/inputs/ops/torch_softmax.mlir";
const std::string kTwoTasks =
    std::string(KILN_SOURCE_DIR) + "/tests/inputs/field/two_tasks_with_constant.mlir";

std::string Plugin(const std::string& name) { return KILN_BUILD_DIR "/tests/plugins/" + name + ".so"; }

Ran SpaceWith(const std::string& plugin, const std::string& space, const std::string& file = kMatmul) {
  return RunKiln({"space", file, "--plugin", Plugin(plugin), "--space", space, "--json"});
}

struct BadModule {
  const char* space;
  const char* says;
};

TEST(PluginProcess, WhatAModuleDoesIsToldWithItsName) {
  const BadModule modules[] = {
      {"each-block(auto-inline | throws)",
       "misbehaves.so: module throws ended in a crash (Aborted; exception: no tile is left)"},
      {"each-block(segfaults)", "misbehaves.so: module segfaults ended in a crash (Segmentation fault)"},
      {"parallelize-vectorize-unroll | exits",
       "misbehaves.so: module exits ended in a crash (exit status 0)"},
      {"each-block(throws-when-made size=3)",
       "misbehaves.so: module throws-when-made ended in a crash (Aborted; "
       "exception: vector::_M_range_check"},
  };
  for (const BadModule& module : modules) {
    SCOPED_TRACE(module.space);
    const Ran ran = SpaceWith("misbehaves", module.space);
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    ASSERT_FALSE(ran.json().is_discarded()) << ran.out;
    EXPECT_THAT(ran.json()["error"].get<std::string>(), HasSubstr(module.says));
    EXPECT_THAT(ran.err,
                AllOf(HasSubstr(module.says), HasSubstr("hint: a plugin runs in a process of its own")));
  }
}

TEST(PluginProcess, AHandlePastTheEndThatIsReadBeforeAnyStepIsToldWithItsLine) {
  const Ran ran = SpaceWith("misbehaves", "each-block(reads-past-the-end)");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, testing::ContainsRegex(
                           "misbehaves.cc:[0-9]+: \"reads-past-the-end/matmul/\" asks for handle 7 of"));
}

TEST(PluginProcess, OnlyWhatIsLoadedCanCrash) {
  const Ran ran = SpaceWith("aborts_at_load", "cpu");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.json()["error"].get<std::string>(),
              HasSubstr("aborts_at_load.so: loading it ended in a crash (Aborted)"));
  EXPECT_EQ(SpaceWith("misbehaves", "cpu").exit_code, 0) << "modules that the space does not name do not run";
}

TEST(PluginProcess, ACrashInOneTaskLeavesTheOthers) {
  const Ran listed = SpaceWith("misbehaves", "each-block(throws) | parallelize-vectorize-unroll", kTwoTasks);
  EXPECT_EQ(listed.exit_code, 1);
  const nlohmann::json tasks = listed.json()["tasks"];
  ASSERT_EQ(tasks.size(), 2u) << listed.out;
  EXPECT_NE(tasks[0].contains("error"), tasks[1].contains("error"));
  EXPECT_NE(tasks[0].contains("sketches"), tasks[1].contains("sketches"));

  const TemporaryFolder folder;
  const Ran tuned = RunKiln({"tune", kTwoTasks, "--plugin", Plugin("misbehaves"), "--space",
                             "each-block(throws) | parallelize-vectorize-unroll", "--trials", "2", "--db",
                             folder / "a.db", "--json"});
  EXPECT_EQ(tuned.exit_code, 3) << tuned.err;
  int with = 0;
  const nlohmann::json results = tuned.json()["tasks"];
  for (const nlohmann::json& task : results) {
    if (task["record"].get<int>() != 0) {
      ++with;
    } else {
      EXPECT_THAT(task["reason"].get<std::string>(), HasSubstr("module throws ended in a crash"));
    }
  }
  EXPECT_EQ(with, 1) << tuned.out;
}

TEST(PluginProcess, TuneOfOneTaskFailsWithTheName) {
  const TemporaryFolder folder;
  for (const auto& [plugin, says] : {std::pair("misbehaves", "module segfaults ended in a crash"),
                                     std::pair("aborts_at_load", "loading it ended in a crash")}) {
    const Ran ran = RunKiln({"tune", kMatmul, "--plugin", Plugin(plugin), "--space", "each-block(segfaults)",
                             "--trials", "2", "--db", folder / "a.db", "--json"});
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_THAT(ran.json()["error"].get<std::string>(), HasSubstr(says));
  }
}

TEST(PluginProcess, AnInterruptIsNoCrash) {
  const Ran ran = SpaceWith("misbehaves", "interrupts");
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("interrupted during enumeration; go on with\n  kiln space "),
                             Not(HasSubstr("crash"))));
}

TEST(PluginProcess, AnEndlessLoopEndsWithTheCommand) {
  EXPECT_EQ(SpaceWith("misbehaves", "hangs").exit_code, 3) << "a module has ended the command, and hangs";
}

TEST(PluginProcess, WhatAModulePrintsGoesToStandardError) {
  const Ran ran = SpaceWith("misbehaves", "prints | parallelize-vectorize-unroll");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.json()["tasks"].size(), 1u) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("0 choices so far\n"));
}

Ran TuneWith(const TemporaryFolder& folder, const std::string& space, const std::string& file = kMatmul) {
  return RunKiln({"tune", file, "--plugin", Plugin("good"), "--space", space, "--trials", "2", "--quiet",
                  "--db", folder / "a.db", "--json"});
}

TEST(PluginWarnings, NameAModuleThatServesForNothing) {
  const TemporaryFolder folder;
  const Ran served = TuneWith(folder, "each-block(good) | parallelize-vectorize-unroll");
  EXPECT_EQ(served.json()["warnings"], nlohmann::json::array()) << served.err;

  const Ran nowhere = TuneWith(folder, "each-block(good) | parallelize-vectorize-unroll", kSoftmax);
  const std::string says = "module good changes nothing: reads it once";
  ASSERT_EQ(nowhere.json()["warnings"].size(), 1u) << nowhere.out;
  EXPECT_THAT(nowhere.json()["warnings"][0].get<std::string>(),
              AllOf(HasSubstr(says), HasSubstr("; `kiln space` with the same arguments shows more")));
  EXPECT_THAT(nowhere.err, HasSubstr("kiln: warning: " + says));
}

TEST(PluginWarnings, NameAModuleOfWhichEverySketchIsDropped) {
  const TemporaryFolder folder;
  const Ran ran = TuneWith(folder, "each-block(good) | fails-after-splits");
  ASSERT_EQ(ran.json()["warnings"].size(), 2u) << ran.out << ran.err;
  EXPECT_THAT(ran.json()["warnings"][1].get<std::string>(),
              HasSubstr("every sketch with steps of module good was dropped: no more steps, please; "));
}

TEST(PluginWarnings, NameAModuleWhoseCopyIsInlined) {
  const TemporaryFolder folder;
  const Ran before = TuneWith(folder, "each-block(copies-operand) | cpu");
  ASSERT_EQ(before.json()["warnings"].size(), 1u) << before.out << before.err;
  EXPECT_THAT(
      before.json()["warnings"][0].get<std::string>(),
      HasSubstr(
          "in every sketch a later module removes block arg0.cache.1, which module copies-operand makes; "
          "docs/howto/write-a-module.md, section 4, says how to keep it"));
  const Ran after = TuneWith(folder, "cpu with=copies-operand");
  EXPECT_EQ(after.json()["warnings"], nlohmann::json::array()) << after.err;
}

TEST(PluginProcess, MoreThanModulesIsRefused) {
  const Ran ran = SpaceWith("declares_primitive", "cpu");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err,
              HasSubstr("declares_primitive.so declares a primitive or an intrinsic, but a plugin may "
                        "bring modules only"));
}

TEST(PluginProcess, AnOptionThatIsNotAllowedIsAMistakeOfTheCommandLine) {
  const Ran ran = SpaceWith("good", "each-block(good innermost=0)");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("option innermost of module good is \"0\"; it takes a number"));
}

TEST(PluginProcess, GivesTheSketchesThatTheSameModulesGiveHere) {
  api::Source file;
  file.path = kTwoTasks;
  const auto input = api::LoadInput(file, {});
  ASSERT_TRUE(input.ok()) << input.status();
  const std::string so = Plugin("good");
  const api::PluginSpace space{.files = {so},
                               .objects = {so},
                               .text = "each-block(auto-inline | good innermost=8) | random-compute-location",
                               .target = CpuTarget()};
  std::vector<Enumeration> there;
  api::ModuleUses uses;
  for (const Task& task : input->tasks) {
    auto sketches = api::EnumerateInChild(space, task.program, {}, &uses);
    ASSERT_TRUE(sketches.ok()) << sketches.status();
    there.push_back(*std::move(sketches));
  }
  EXPECT_EQ(FindModule("good"), nullptr) << "no code of it runs here";

  ASSERT_TRUE(api::LoadPlugin(so, so).ok());
  const auto parsed = ParseSpace(space.text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  size_t sketches = 0, dropped = 0, declined = 0;
  for (size_t t = 0; t < there.size(); ++t) {
    const auto here = Enumerate(*parsed, input->tasks[t].program, space.target);
    ASSERT_TRUE(here.ok()) << here.status();
    ASSERT_EQ(there[t].sketches.size(), here->sketches.size());
    for (size_t i = 0; i < here->sketches.size(); ++i) {
      const Sketch &a = there[t].sketches[i], &b = here->sketches[i];
      EXPECT_EQ(a.trace, b.trace) << Print(a.trace) << Print(b.trace);
      ASSERT_EQ(a.sites.size(), b.sites.size());
      for (size_t s = 0; s < a.sites.size(); ++s) {
        EXPECT_EQ(a.sites[s].name, b.sites[s].name);
        EXPECT_EQ(a.sites[s].support, b.sites[s].support);
      }
      EXPECT_EQ(a.log_support, b.log_support);
      EXPECT_EQ(a.exact_support, b.exact_support);
      EXPECT_EQ(a.sequences, b.sequences);
    }
    ASSERT_EQ(there[t].dropped.size(), here->dropped.size());
    for (size_t i = 0; i < here->dropped.size(); ++i) {
      EXPECT_EQ(there[t].dropped[i].reason, here->dropped[i].reason);
      EXPECT_EQ(there[t].dropped[i].choices, here->dropped[i].choices);
    }
    EXPECT_EQ(there[t].declined, here->declined);
    EXPECT_EQ(there[t].complete, here->complete);
    sketches += here->sketches.size(), dropped += here->dropped.size(), declined += here->declined.size();
  }
  EXPECT_GT(sketches, there.size());
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(declined, 0u);
}

}  // namespace
}  // namespace kiln
