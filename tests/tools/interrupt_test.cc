// Tests how kiln handles SIGINT, SIGTERM and SIGHUP: work ends or stops in time, and messages and JSON documents say
// how to resume.
#include "tools/interrupt.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"
#include "tools/common.h"

namespace kiln::tools {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;

constexpr double kLimit = 2;  // seconds
const std::chrono::seconds kLong(20);
const char* const kLine[] = {"kiln", "train", "-o", "a file"};

class Interrupts : public testing::Test {
 protected:
  // Makes death tests start a new process, since forking a process with several threads is unsafe.
  Interrupts() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void Say(const absl::Status& interrupted) {
    dprintf(STDERR_FILENO, "%s\n", std::string(interrupted.message()).c_str());
  }
};

TEST_F(Interrupts, WorkEndsAtOnceWithItsPhaseAndTheCommand) {
  EXPECT_EXIT(
      {
        SetCommand(4, kLine);
        const Interrupt interrupt(Say);
        const Phase phase("training");
        raise(SIGHUP);
        std::this_thread::sleep_for(kLong);
      },
      ExitedWithCode(kExitInterrupted),
      "interrupted during training; go on with\n  kiln train -o 'a file'\n");
}

TEST_F(Interrupts, StoppableWorkIsAskedAndGoesOnToItsEnd) {
  EXPECT_EXIT(
      {
        const Interrupt interrupt(Say);
        std::atomic<bool> asked = false;
        const Stoppable stoppable([&] { asked = true; });
        raise(SIGTERM);
        while (!asked || !*stoppable.flag()) std::this_thread::yield();
        _exit(17);
      },
      ExitedWithCode(17), "");
}

TEST_F(Interrupts, WorkThatDoesNotStopEndsInTime) {
  for (const bool may_ask : {true, false}) {
    double seconds = 0;
    {
      const Stopwatch watch(&seconds);
      EXPECT_EXIT(
          {
            const Interrupt interrupt(Say);
            const Stoppable stoppable([&] {
              if (!may_ask) std::this_thread::sleep_for(kLong);
            });
            raise(SIGINT);
            std::this_thread::sleep_for(kLong);
          },
          ExitedWithCode(kExitInterrupted), "interrupted; go on with");
    }
    EXPECT_LT(seconds, kLimit);
  }
}

TEST_F(Interrupts, LastWordsThatCannotBeSaidHoldNothingUp) {
  double seconds = 0;
  {
    const Stopwatch watch(&seconds);
    EXPECT_EXIT(
        {
          const Interrupt interrupt([](const absl::Status&) { std::this_thread::sleep_for(kLong); });
          raise(SIGINT);
          std::this_thread::sleep_for(kLong);
        },
        ExitedWithCode(kExitInterrupted), "");
  }
  EXPECT_LT(seconds, kLimit);
}

TEST_F(Interrupts, TheSecondOneKills) {
  EXPECT_EXIT(
      {
        const Interrupt interrupt(Say);
        const Stoppable stoppable;
        raise(SIGINT);
        raise(SIGINT);
        std::this_thread::sleep_for(kLong);
      },
      KilledBySignal(SIGINT), "");
}

TEST_F(Interrupts, WorkThatFailsAfterASignalWasInterrupted) {
  EXPECT_TRUE(absl::IsNotFound(OrInterrupted(absl::NotFoundError("no file"))));
  EXPECT_EXIT(
      {
        const Interrupt interrupt(Say);
        const Stoppable stoppable;
        raise(SIGINT);
        if (!OrInterrupted(absl::OkStatus()).ok()) _exit(20);
        Say(OrInterrupted(absl::NotFoundError("a worker does not answer")));
        _exit(19);
      },
      ExitedWithCode(19), "^interrupted; go on with");
}

TEST_F(Interrupts, WhatIsDoneIsNotInterrupted) {
  EXPECT_EXIT(
      {
        {
          const Interrupt interrupt(Say);
        }
        raise(SIGHUP);
        _exit(18);
      },
      ExitedWithCode(18), "");
}

// Simulates work that finishes while an interrupted command ends. Tests that only the JSON document of the interrupt is
// printed, and the results of the work, before or after it, are not.
TEST_F(Interrupts, TheDocumentOfAnInterruptReplacesThatOfWorkWhichFinishesMeanwhile) {
  EXPECT_EXIT(
      {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        const bool reserved = ReserveJson();
        Print("result");
        PrintReserved("interrupted");
        Print("result");
        _exit(reserved && !ReserveJson() ? 0 : 1);
      },
      testing::ExitedWithCode(0),
      testing::AllOf(HasSubstr("interrupted\n"), testing::Not(HasSubstr("result"))));
}

TEST_F(Interrupts, WhatWasIgnoredStaysIgnored) {
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_IGN);
        const Interrupt interrupt(Say);
        raise(SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        _exit(18);
      },
      ExitedWithCode(18), "");
}

// Sends signals to commands that wait for their input, a pipe into which nobody writes. Expects that each ends at once
// and prints the command that resumes.
TEST(InterruptedCommands, EndWithTheCommandThatGoesOn) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe.mlir";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string trace = folder.Write("a.trace", "kiln.trace v2\n"), db = folder / "kiln.db";
  setenv("KILN_PHASES", "1", 1);
  const std::vector<std::string> lines[] = {{"space", pipe},
                                            {"tune", pipe, "--db", db},
                                            {"bench", pipe, "--db", db},
                                            {"check", pipe, trace, "--json"}};
  int next = 0;
  for (const std::vector<std::string>& line : lines) {
    const std::string command = absl::StrCat("kiln ", absl::StrJoin(line, " "));
    SCOPED_TRACE(command);
    KilnProcess process(line);
    while (process.Errors().find("phase: import") == std::string::npos && kill(process.pid(), 0) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    double seconds = 0;
    Ran ran;
    {
      const Stopwatch watch(&seconds);
      const int signals[] = {SIGINT, SIGTERM, SIGHUP};
      kill(process.pid(), signals[next++ % 3]);
      ran = process.Wait();
    }
    EXPECT_EQ(ran.exit_code, kExitInterrupted);
    EXPECT_LT(seconds, kLimit);
    EXPECT_THAT(ran.err, HasSubstr(absl::StrCat("interrupted during import; go on with\n  ", command, "\n")));
    if (line.back() == "--json") EXPECT_EQ(ran.json()["resume"], command);
  }
  unsetenv("KILN_PHASES");
}

}  // namespace
}  // namespace kiln::tools
