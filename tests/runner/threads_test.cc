// Tests that the runner runs kernels on several threads, each on a core of its own, and reports crashes, hangs and
// violated guards of any thread.
#include "backends/runner/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/kernels.h"

namespace kiln {
namespace {

using testing::HasSubstr;

// Returns a request for a kernel in which two threads run the C code `body` at the same time. The code has the
// variables a and b, the parameters, and `second`, which is 1 in the second thread. The kernel returns 1 if the body
// sets b[0] equal to b[1].
RunRequest OnTwoThreads(const std::string& body) {
  RunRequest request = Request(
      "#include <sched.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <stdint.h>\n"
      "#include <sys/syscall.h>\n"
      "__attribute__((weak)) void kiln_parallel_for(int, int64_t, int64_t, void (*)(int64_t, int64_t, "
      "void**), void**);\n"
      "static int threads = 1, caller;\nstatic volatile int arrived;\n"
      "void set(int count) { threads = count; }\n"
      "static void each(int64_t begin, int64_t end, void** args) {\n"
      "  volatile float *a = args[0], *b = args[1];\n"
      "  __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);\n"
      "  while (arrived < 2) sched_yield();\n"
      "  int second = syscall(SYS_gettid) != caller;\n" +
      body +
      "\n}\n"
      "int f(float* a, float* b) {\n"
      "  void* args[] = {a, b};\n"
      "  if (threads != 2 || !kiln_parallel_for) return 100;\n"
      "  arrived = 0, caller = syscall(SYS_gettid);\n"
      "  kiln_parallel_for(threads, 2, 1, each, args);\n"
      "  return b[0] == b[1] ? 1 : 0;\n"
      "}");
  request.kernel.threads_symbol = "set";
  request.threads = 2;
  return request;
}

TEST(Threads, ACandidateRunsOnAsManyAsTheRequestSays) {
  const RunResult result = RunOne(OnTwoThreads("b[second] = 1 + second;"));
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.seconds.size(), 3);
}

TEST(Threads, EachKeepsToACoreOfTheRunnerOfItsOwn) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "one core";
  auto pool = StartPool({.cores = {{0, 1}}});
  const RunResult result =
      pool->RunAll({OnTwoThreads("cpu_set_t s; sched_getaffinity(0, sizeof s, &s);\n"
                                 "b[second] = CPU_COUNT(&s) == 1 ? 1 + CPU_ISSET(1, &s) : 0;")})
          .front();
  EXPECT_EQ(Name(result), "ok") << result.detail;
}

TEST(Threads, ASecondThreadThatFaultsIsToldAsTheFirstWouldBe) {
  const RunResult past = RunOne(OnTwoThreads("if (second) b[1000 + 16] = 1; else for (;;) sched_yield();"));
  EXPECT_EQ(Name(past), "guard_violated") << past.detail;
  EXPECT_THAT(past.detail, HasSubstr("past the end of parameter 1 (output, 1000 of f32), in the warm-up"));
  const RunResult input = RunOne(OnTwoThreads("a[3] = second;"));
  EXPECT_EQ(Name(input), "guard_violated") << input.detail;
  EXPECT_THAT(input.detail, HasSubstr("write to byte 12 of parameter 0"));
  const RunResult aborted = RunOne(OnTwoThreads("if (second) abort();"));
  EXPECT_EQ(aborted.detail, "SIGABRT, in the warm-up");
}

TEST(Threads, ASecondThreadWhoseStackOverflowsCrashed) {
  const RunResult result = RunOne(
      OnTwoThreads("volatile char big[4096]; big[0] = 0; void* again[] = {args[0], args[1], (void*)big};\n"
                   "if (second) each(begin, end, again);"));
  EXPECT_EQ(Name(result), "crashed") << result.detail;
  EXPECT_THAT(result.detail, HasSubstr("SIGSEGV at address"));
}

TEST(Threads, NoThreadMayOpenFilesForWriting) {
  const RunResult result = RunOne(
      OnTwoThreads("if (open(\"/tmp/kiln-should-not-exist\", O_WRONLY | O_CREAT, 0600) >= 0) abort();\n"
                   "b[second] = 1 + second;"));
  EXPECT_EQ(Name(result), "ok") << result.detail;
}

TEST(Threads, ACandidateThatHangsInOneIsStopped) {
  RunRequest request = OnTwoThreads("while (second) __asm__ volatile(\"\");");
  request.limits.seconds = 0.5;
  EXPECT_EQ(Name(RunOne(request)), "timed_out");
}

TEST(Threads, ACountThatMakesNoSenseIsRefused) {
  RunRequest request = Request(kTwice);
  request.threads = 0;
  EXPECT_EQ(RunOne(request).detail, "0 threads; there are 1 to 1024");
  request.threads = 2;
  EXPECT_EQ(Name(RunOne(request)), "ok");
}

}  // namespace
}  // namespace kiln
