// Tests RunnerPool, which runs kernels in runner processes: results come in the order of requests, killed and stopped
// runners are replaced, and no process remains at the end.
#include "backends/runner/pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "tests/runner/kernels.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

constexpr char kForever[] = "int f(float* a, float* b) { for (;;) __asm__ volatile(\"\"); }";

bool IsRunning(pid_t pid) {
  std::string state;
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("State:", 0) == 0) state = line;
  }
  return !state.empty() && state.find('Z') == std::string::npos;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/task/", pid, "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

template <typename Condition>
bool Soon(Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

// Waits until the runner process has a child, the process of a candidate. Returns the pid of the child; 0 if none
// starts in time.
pid_t CandidateOf(pid_t runner) {
  EXPECT_TRUE(Soon([&] { return !ChildrenOf(runner).empty(); }));
  return ChildrenOf(runner).empty() ? 0 : ChildrenOf(runner).front();
}

TEST(RunnerPool, GivesResultsInTheOrderOfRequests) {
  auto pool = StartPool({.cores = {{}, {}}});
  std::vector<RunRequest> requests;
  for (int i = 0; i < 12; ++i) {
    requests.push_back(Request(
        absl::StrCat("int f(float* a, float* b) { usleep(", i % 3 * 3000, "); return ", i % 3, "; }")));
  }
  const auto results = pool->RunAll(requests);
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].detail, i % 3 == 0 ? "" : absl::StrCat("the kernel returned ", i % 3)) << i;
  }
}

TEST(RunnerPool, KeepsCandidatesOnTheirCores) {
  auto pool = StartPool({.cores = {{0}}});
  const RunRequest request = Request(
      "#include <sched.h>\nint f(float* a, float* b) { cpu_set_t s; sched_getaffinity(0, sizeof s, &s); "
      "return CPU_COUNT(&s) == 1 && CPU_ISSET(0, &s) ? 0 : 1; }");
  EXPECT_EQ(Name(pool->RunAll({request}).front()), "ok");
}

TEST(RunnerPool, SaysWhatPreventsARunnerFromStarting) {
  auto pool = RunnerPool::Start({.runner_path = "/no/such/runner"});
  EXPECT_EQ(pool.status().message(), "cannot start /no/such/runner: No such file or directory");
  pool = RunnerPool::Start({.runner_path = "/bin/true"});
  EXPECT_EQ(pool.status().message(), "/bin/true does not work: it does not answer");
  pool = RunnerPool::Start({.runner_path = RunnerPath(), .cores = {{1000}}});
  EXPECT_EQ(pool.status().message(), RunnerPath() + " does not work: cores 1000 cannot be used");
}

TEST(RunnerPool, RecoversWhenARunnerIsKilledDuringARun) {
  auto pool = StartPool();
  const pid_t runner = pool->runner_pids().front();
  auto lost = pool->Submit(Request(kForever));
  auto next = pool->Submit(Request(kTwice));
  const pid_t candidate = CandidateOf(runner);
  kill(runner, SIGKILL);
  const RunResult result = lost.get();
  EXPECT_EQ(Name(result), "interrupted");
  EXPECT_EQ(result.detail, "the runner process was ended by SIGKILL");
  EXPECT_EQ(Name(next.get()), "ok");
  EXPECT_NE(pool->runner_pids().front(), runner);
  EXPECT_TRUE(Soon([&] { return !IsRunning(candidate); }));
}

TEST(RunnerPool, RecoversWhenARunnerStopsAnswering) {
  auto pool = StartPool({.grace_seconds = 0.2});
  const pid_t runner = pool->runner_pids().front();
  kill(runner, SIGSTOP);
  RunRequest request = Request(kTwice);
  request.limits.seconds = 0.3;
  const auto results = pool->RunAll({request, request});
  EXPECT_EQ(results[0].detail, "the runner process does not answer");
  EXPECT_EQ(Name(results[1]), "ok") << results[1].detail;
  EXPECT_FALSE(IsRunning(runner));
}

TEST(RunnerPool, RunsOnAfterACandidateIsKilledFromOutside) {
  auto pool = StartPool();
  auto lost = pool->Submit(Request(kForever));
  const pid_t runner = pool->runner_pids().front();
  kill(CandidateOf(runner), SIGKILL);
  EXPECT_EQ(Name(lost.get()), "interrupted");
  EXPECT_EQ(Name(pool->RunAll({Request(kTwice)}).front()), "ok");
  EXPECT_EQ(pool->runner_pids().front(), runner);
}

TEST(RunnerPool, InterruptEndsWhatRunsAndWhatWaitsButNotWhatComes) {
  auto pool = StartPool();
  auto running = pool->Submit(Request(kForever));
  auto waiting = pool->Submit(Request(kTwice));
  CandidateOf(pool->runner_pids().front());
  pool->Interrupt();
  EXPECT_EQ(running.get().detail, "stopped");
  EXPECT_EQ(waiting.get().detail, "stopped");
  EXPECT_EQ(Name(pool->RunAll({Request(kTwice)}).front()), "ok");
}

TEST(RunnerPool, LeavesNothingRunningWhenItEnds) {
  auto pool = StartPool({.cores = {{}, {}}});
  std::vector<pid_t> processes = pool->runner_pids();
  auto first = pool->Submit(Request(kForever));
  auto second = pool->Submit(Request(kForever));
  for (pid_t runner : pool->runner_pids()) processes.push_back(CandidateOf(runner));
  pool.reset();
  for (pid_t pid : processes) EXPECT_FALSE(IsRunning(pid));
  EXPECT_EQ(Name(first.get()), "interrupted");
}

TEST(RunnerPool, LeavesNothingRunningWhenItsProcessIsKilled) {
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const RunRequest request = Request(kForever);
  const pid_t client = fork();
  if (client == 0) {
    auto pool = StartPool({.cores = {{}, {}}});
    auto first = pool->Submit(request);
    auto second = pool->Submit(request);
    std::vector<pid_t> processes = pool->runner_pids();
    for (pid_t runner : pool->runner_pids()) processes.push_back(CandidateOf(runner));
    static_cast<void>(!write(report[1], processes.data(), processes.size() * sizeof(pid_t)));
    for (;;) pause();
  }
  pid_t processes[4] = {};
  ASSERT_EQ(read(report[0], processes, sizeof(processes)), static_cast<ssize_t>(sizeof(processes)));
  for (pid_t pid : processes) EXPECT_TRUE(IsRunning(pid));
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  for (pid_t pid : processes) EXPECT_TRUE(Soon([&] { return !IsRunning(pid); }));
  close(report[0]);
  close(report[1]);
}

TEST(RunnerPool, DoesNotGrowWithTheNumberOfRequests) {
  if (kSanitized) GTEST_SKIP() << "freed memory is kept";
  auto pool = StartPool();
  const std::string statm = absl::StrCat("/proc/", pool->runner_pids().front(), "/statm");
  const auto pages = [&] {
    int64_t size = 0, resident = 0;
    std::istringstream(ReadFile(statm)) >> size >> resident;
    return resident;
  };
  const std::vector<RunRequest> requests(100, Request(kTwice));
  pool->RunAll(requests);
  const int64_t before = pages();
  pool->RunAll(requests);
  EXPECT_LT(pages(), before * 1.05);
}

}  // namespace
}  // namespace kiln
