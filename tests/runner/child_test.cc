// Tests how the runner reports kernels that are wrong, crash, hang, use too much memory, write outside of their
// buffers, or start processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_replace.h"
#include "backends/runner/data.h"
#include "tests/runner/kernels.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

using testing::HasSubstr;

TEST(Candidate, ThatIsRightHasSamplesAndNoError) {
  RunRequest request = Request(kTwice);
  request.reference = TwiceReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.seconds.size(), 3u);
  EXPECT_GT(*std::min_element(result.seconds.begin(), result.seconds.end()), 0);
  EXPECT_EQ(result.max_error, 0);
  EXPECT_FALSE(result.lower_bound);
}

TEST(Candidate, ReadsTheInputsThatTheDataHeaderDescribes) {
  const std::string bytes = ReadFile(TwiceReference());
  ASSERT_EQ(bytes.size(), 4000u);
  for (int64_t i : {0, 1, 999})
    EXPECT_EQ(LoadElement("f32", bytes.data(), i), 2 * InputValue(7, 0, "f32", i));
}

TEST(Candidate, ThatIsWrongInOneElementIsWrong) {
  RunRequest request = Request(
      "int f(float* a, float* b) { for (int i = 0; i < 1000; ++i) b[i] = 2 * a[i] + (i == 617); return 0; }");
  request.reference = TwiceReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "wrong_result");
  EXPECT_THAT(result.detail, HasSubstr("parameter 1: element 617 is "));
  EXPECT_THAT(result.detail, HasSubstr("; 1 of 1000 elements differ too much"));
  EXPECT_GT(result.max_error, 1);
}

TEST(Candidate, ThatLeavesOneElementOutIsWrong) {
  RunRequest request =
      Request("int f(float* a, float* b) { for (int i = 0; i < 999; ++i) b[i] = 2 * a[i]; return 0; }");
  request.reference = TwiceReference();
  EXPECT_EQ(Name(RunOne(request)), "wrong_result");
}

TEST(Candidate, ThatIsRightOnlyTheFirstTimeIsWrong) {
  RunRequest request = Request(
      "int n; int f(float* a, float* b) { for (int i = 0; i < 1000; ++i) b[i] = 2 * a[i] + (n > 0); ++n; "
      "return 0; }");
  request.reference = TwiceReference();
  EXPECT_EQ(Name(RunOne(request)), "wrong_result");
}

// Returns C code that computes 0 * exp(x - max) for ten rows of a hundred elements, where max is the maximum of the
// elements of the row from `first` on.
std::string RowsOfExp(int first) {
  return absl::StrCat(
      "#include <math.h>\nint f(float* a, float* b) { for (int r = 0; r < 1000; r += 100) { float m = "
      "-INFINITY; for (int i = ",
      first,
      "; i < 100; ++i) m = fmaxf(m, a[r + i]); "
      "for (int i = 0; i < 100; ++i) b[r + i] = 0 * expf(a[r + i] - m); } return 0; }");
}

TEST(Candidate, WhoseMaximumIsWrongIsFoundWithWideInputs) {
  RunRequest original = Request(RowsOfExp(0));
  original.stress = {.sets = 20, .write_reference_to = TestFolder() / "wide"};
  ASSERT_EQ(Name(RunOne(original)), "ok");
  for (const int first : {0, 1, 50}) {
    RunRequest request = Request(RowsOfExp(first));
    request.stress = {.sets = 20, .reference = original.stress.write_reference_to};
    const RunResult result = RunOne(request);
    EXPECT_EQ(Name(result), first == 0 ? "ok" : "wrong_result") << result.detail;
    if (first > 0)
      EXPECT_THAT(result.detail, HasSubstr(" or any other number, of inputs that lie far apart"));
    request.timing.stop_rules = {{.after_runs = 1, .over_seconds = 1e-12}};
    EXPECT_EQ(Name(RunOne(request)), "ok") << "its time is not accepted";
  }
}

TEST(Candidate, NeedNotBeFiniteWhereRoundingDecides) {
  RunRequest original = Request(
      "#include <math.h>\nint f(float* a, float* b) { for (int i = 0; i < 1000; ++i) b[i] = expf(a[i] / 32); "
      "return 0; }");
  original.stress = {.sets = 4, .write_reference_to = TestFolder() / "exp"};
  ASSERT_EQ(Name(RunOne(original)), "ok");
  RunRequest larger = Request(
      "#include <math.h>\nint f(float* a, float* b) { for (int i = 0; i < 1000; ++i) b[i] = expf(a[i] / 30); "
      "return 0; }");
  larger.stress = {.sets = 4, .reference = original.stress.write_reference_to};
  const RunResult result = RunOne(larger);
  EXPECT_EQ(Name(result), "ok") << result.detail;
}

TEST(Candidate, ThatCrashesSaysWithWhichSignalAndWhen) {
  RunResult result = RunOne(Request("int f(float* a, float* b) { *(volatile int*)64 = 1; return 0; }"));
  EXPECT_EQ(Name(result), "crashed");
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_EQ(result.detail, "SIGSEGV at address 0x40, in the warm-up");

  result = RunOne(Request("int f(float* a, float* b) { abort(); }"));
  EXPECT_EQ(Name(result), "crashed");
  EXPECT_EQ(result.signal, SIGABRT);

  result = RunOne(Request("int f(float* a, float* b) { __builtin_trap(); }"));
  EXPECT_EQ(result.signal, SIGILL);

  result =
      RunOne(Request("int g(int n) { volatile char x[4096]; x[0] = n; return g(n + 1) + x[0]; } int f(float* "
                     "a, float* b) { return g(0); }"));
  EXPECT_EQ(Name(result), "crashed");
  EXPECT_EQ(result.signal, SIGSEGV);
}

TEST(Candidate, ThatLoopsForeverIsStoppedAtItsLimit) {
  RunRequest request = Request("int f(float* a, float* b) { for (;;) __asm__ volatile(\"\"); }");
  request.limits.seconds = 0.3;
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "timed_out");
  EXPECT_EQ(result.detail, "not done after 0.3 s, in the warm-up");
}

TEST(Candidate, ThatLoopsWhileItIsLoadedIsStoppedToo) {
  RunRequest request = Request(
      "__attribute__((constructor)) void g() { for (;;) __asm__ volatile(\"\"); } int f(float* a, float* b) "
      "{ return 0; }");
  request.limits.seconds = 0.3;
  EXPECT_EQ(RunOne(request).detail, "not done after 0.3 s, while it was loaded");
}

TEST(Candidate, ThatStopsItselfIsStoppedAtItsLimit) {
  RunRequest request = Request("int f(float* a, float* b) { raise(SIGSTOP); return 0; }");
  request.limits.seconds = 0.3;
  EXPECT_EQ(Name(RunOne(request)), "timed_out");
}

TEST(Candidate, ThatAllocatesWithoutEndRunsOutOfMemory) {
  if (kSanitized) GTEST_SKIP() << "memory is not limited";
  const RunResult result =
      RunOne(Request("int f(float* a, float* b) { for (;;) { volatile char* p = malloc(1 << 20); for (int i "
                     "= 0; i < 1 << 20; i += 4096) p[i] = 1; } }"));
  EXPECT_EQ(Name(result), "out_of_memory") << result.detail;
  EXPECT_THAT(result.detail, HasSubstr("SIGSEGV after an allocation beyond 268435456 bytes was refused"));
}

TEST(Candidate, ThatWantsTooMuchAtOnceRunsOutOfMemory) {
  if (kSanitized) GTEST_SKIP() << "memory is not limited";
  EXPECT_EQ(Name(RunOne(Request("int f(float* a, float* b) { char* p = aligned_alloc(64, 64l << 30); "
                                "*(volatile char*)p = 1; return 0; }"))),
            "out_of_memory");
  EXPECT_EQ(Name(RunOne(Request("int f(float* a, float* b) { return malloc(64l << 30) == 0; }"))),
            "out_of_memory");
}

TEST(Candidate, WhoseParametersAreTooLargeRunsOutOfMemory) {
  EXPECT_EQ(Name(RunOne(Request(kTwice, 200 << 20))), "out_of_memory");
  EXPECT_EQ(Name(RunOne(Request(kTwice, 60 << 20))), "out_of_memory");
}

TEST(Candidate, FindsLargeParametersOnHugePagesUpToTheirGuards) {
  constexpr char kPast[] = "int f(float* a, float* b) { ((volatile float*)b)[1048592] = 1; return 0; }";
  EXPECT_EQ(RunOne(Request(kPast, 1048592)).detail,
            "access 0 bytes past the end of parameter 1 (output, 1048592 of f32), in the warm-up");
  EXPECT_EQ(Name(RunOne(Request(kTwice, 1048592))), "ok");
}

TEST(Candidate, ThatWritesOneElementPastTheEndViolatesAGuard) {
  constexpr char kPast[] = "int f(float* a, float* b) { ((volatile float*)b)[1008] = 1; return 0; }";
  RunResult result = RunOne(Request(kPast, 1008));
  EXPECT_EQ(Name(result), "guard_violated");
  EXPECT_EQ(result.detail,
            "access 0 bytes past the end of parameter 1 (output, 1008 of f32), in the warm-up");
  result = RunOne(Request(kPast, 1007));
  EXPECT_EQ(Name(result), "guard_violated");
  result = RunOne(Request("int f(float* a, float* b) { ((volatile float*)b)[1000] = 1; return 0; }", 1000));
  EXPECT_EQ(Name(result), "guard_violated");
  EXPECT_EQ(result.detail, "wrote next to parameter 1, outside of its 4000 bytes");
}

TEST(Candidate, ThatWritesBeforeTheStartViolatesAGuard) {
  const RunResult result =
      RunOne(Request("int f(float* a, float* b) { ((volatile float*)b)[-1] = 1; return 0; }"));
  EXPECT_EQ(Name(result), "guard_violated");
}

// Returns C code of a function f(a, b). It allocates a temporary `t` of 1000 floats with malloc, and then runs the
// statement `first`, which may use `t`. Then it copies `a` to `t`, and writes the elements of `t`, doubled, to `b`.
std::string ThroughTemporary(const std::string& first) {
  return absl::StrCat("int f(float* a, float* b) { volatile float* t = malloc(4000);\n", first,
                      "for (int i = 0; i < 1000; ++i) t[i] = a[i];\n"
                      "for (int i = 0; i < 1000; ++i) b[i] = 2 * t[i];  free((void*)t); return 0; }");
}

TEST(Candidate, ThatWritesBesideATemporaryViolatesAGuard) {
  if (kSanitized) GTEST_SKIP() << "memory is not watched";
  for (const char* beside : {"t[1000] = 1;", "t[-1] = 1;"}) {
    const RunResult result = RunOne(Request(ThroughTemporary(beside)));
    EXPECT_EQ(Name(result), "guard_violated");
    EXPECT_EQ(result.detail, "wrote next to a temporary, outside of its 4000 bytes");
  }
  const RunResult far = RunOne(Request(ThroughTemporary("t[1008] = 1;")));
  EXPECT_EQ(Name(far), "guard_violated");
  EXPECT_EQ(far.detail, "access 32 bytes past the end of a temporary, in the warm-up");
}

TEST(Candidate, ThatKeepsToItsTemporariesIsRight) {
  RunRequest request = Request(ThroughTemporary("t = realloc((void*)t, 8000); t[1999] = 1;"));
  request.reference = TwiceReference();
  EXPECT_EQ(Name(RunOne(request)), "ok");
}

TEST(Candidate, ThatNeverFreesATemporaryIsWatchedToo) {
  if (kSanitized) GTEST_SKIP() << "memory is not watched";
  constexpr char kLeaks[] =
      "int f(float* a, float* b) { static volatile float* t; if (!t) t = malloc(4000); t[%s] = 1; return 0; "
      "}";
  EXPECT_EQ(Name(RunOne(Request(absl::StrReplaceAll(kLeaks, {{"%s", "999"}})))), "ok");
  EXPECT_EQ(Name(RunOne(Request(absl::StrReplaceAll(kLeaks, {{"%s", "1000"}})))), "guard_violated");
}

// A kernel that allocates a temporary with 64 bytes more and aligns it itself, as compiled code does. Tests that an
// access right behind the aligned temporary is found, although malloc's block goes on.
TEST(Candidate, ThatAlignsItsTemporariesIsWatchedToTheirEnds) {
  if (kSanitized) GTEST_SKIP() << "memory is not watched";
  constexpr char kAligns[] =
      "int f(float* a, float* b) { char* m = malloc(4096 + 64);\n"
      "volatile float* t = (void*)(((unsigned long)m + 63) / 64 * 64); t[%s] = 1; free(m); return 0; }";
  RunRequest good = Request(absl::StrReplaceAll(kAligns, {{"%s", "1023"}})),
             bad = Request(absl::StrReplaceAll(kAligns, {{"%s", "1024"}}));
  good.kernel.heap_alignment = bad.kernel.heap_alignment = 64;
  EXPECT_EQ(Name(RunOne(good)), "ok");
  EXPECT_EQ(RunOne(bad).detail, "access 0 bytes past the end of a temporary, in the warm-up");
}

// Tests that only the first run of a kernel has guards around its temporaries: a write beside a temporary in later
// runs, which are timed, is not found.
TEST(Candidate, FindsPlainMemoryWhereItIsTimed) {
  if (kSanitized) GTEST_SKIP() << "memory is not watched";
  EXPECT_EQ(
      Name(RunOne(Request("int f(float* a, float* b) { static int runs; volatile float* t = malloc(4000);"
                          "if (runs++ > 0) t[1000] = 1; free((void*)t); return 0; }"))),
      "ok");
}

TEST(Candidate, ThatReadsBesideAParameterComputesNoNumber) {
  RunRequest request = Request(kTwice);
  request.reference = TwiceReference();
  for (const char* beside : {"-1", "1000"}) {
    request.kernel.shared_object =
        Request(absl::StrCat("static float max(float x, float y) { return x > y ? x : y; }\n"
                             "int f(float* a, float* b) { for (int i = 0; i < 1000; ++i) b[i] = 2 * a[i];\n"
                             "b[0] = max(b[0], ((volatile float*)a)[",
                             beside, "]); return 0; }"))
            .kernel.shared_object;
    const RunResult result = RunOne(request);
    EXPECT_EQ(Name(result), "wrong_result");
    EXPECT_THAT(result.detail, HasSubstr("element 0 is nan"));
  }
}

TEST(Candidate, ThatWritesToAnInputViolatesAGuard) {
  const RunResult result =
      RunOne(Request("int f(float* a, float* b) { ((volatile float*)a)[3] = 1; return 0; }"));
  EXPECT_EQ(Name(result), "guard_violated");
  EXPECT_EQ(result.detail,
            "write to byte 12 of parameter 0 (input, 1000 of f32), which is read-only, in the warm-up");
}

TEST(Candidate, ThatReturnsNonZeroSaysSo) {
  const RunResult result = RunOne(Request("int f(float* a, float* b) { return 3; }"));
  EXPECT_EQ(Name(result), "non_zero_status");
  EXPECT_EQ(result.detail, "the kernel returned 3");
}

TEST(Candidate, ThatEndsItsProcessCrashed) {
  const RunResult result = RunOne(Request("int f(float* a, float* b) { exit(0); }"));
  EXPECT_EQ(Name(result), "crashed");
  if (!kSanitized) EXPECT_EQ(result.detail, "ended its process with status 0, in the warm-up");
}

TEST(Candidate, ThatClosesAllFilesCrashed) {
  EXPECT_EQ(
      Name(RunOne(Request("int f(float* a, float* b) { for (int i = 0; i < 64; ++i) close(i); return 0; }"))),
      "crashed");
}

TEST(Candidate, WithoutTheSymbolIsNotLoaded) {
  RunRequest request = Request(kTwice);
  request.kernel.symbol = "g";
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "load_failed");
  EXPECT_EQ(result.detail, "the shared object has no symbol 'g'");
}

TEST(Candidate, OfGarbageIsNotLoaded) {
  RunRequest request = Request(kTwice);
  for (const std::string& garbage : {std::string(),
                                     std::string("\x7f"
                                                 "ELF"),
                                     std::string(100000, 'x')}) {
    request.kernel.shared_object = garbage;
    EXPECT_EQ(Name(RunOne(request)), "load_failed");
  }
}

TEST(Candidate, ThatIsCutShortNeverHarmsTheRunner) {
  RunRequest request = Request(kTwice);
  const std::string whole = request.kernel.shared_object;
  for (size_t length = 64; length < whole.size(); length += whole.size() / 16) {
    request.kernel.shared_object = whole.substr(0, length);
    EXPECT_NE(Name(RunOne(request)), "interrupted") << length;
  }
}

TEST(Candidate, ThatPrintsALotIsNotHeard) {
  EXPECT_EQ(Name(RunOne(Request("int f(float* a, float* b) { for (int i = 0; i < 100000; ++i) { puts(\"noise "
                                "noise noise\"); fputs(\"x\", stderr); } "
                                "fflush(stdout); return 0; }"))),
            "ok");
}

TEST(Candidate, CannotStartProcessesOrProgramsOrWriteFilesOrUseTheNetwork) {
  const RunResult result = RunOne(Request(
      "#include <errno.h>\n#include <fcntl.h>\n#include <sys/socket.h>\n#include <sys/prctl.h>\n#include "
      "<sys/wait.h>\n"
      "int f(float* a, float* b) {\n"
      "  for (int i = 0; i < 100; ++i) { int p = fork(); if (p == 0) for (;;); if (p > 0) return 1; }\n"
      "  int v = vfork(); if (v == 0) _exit(0); if (v > 0) return 2;\n"
      "  if (execl(\"/bin/true\", \"true\", (char*)0) == 0 || errno != EPERM) return 3;\n"
      "  if (system(\"true\") == 0) return 4;\n"
      "  if (open(\"/tmp/kiln-should-not-exist\", O_WRONLY | O_CREAT, 0600) >= 0) return 5;\n"
      "  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 6;\n"
      "  if (kill(getppid(), 0) == 0) return 7;\n"
      "  if (setsid() >= 0 || setpgid(0, 0) == 0) return 8;\n"
      "  if (prctl(PR_SET_PDEATHSIG, 0) == 0) return 9;\n"
      "  if (unlink(\"/tmp/nothing\") == 0 || errno != EPERM) return 10;\n"
      "  return 0;\n}"));
  EXPECT_EQ(Name(result), "ok") << result.detail;
}

TEST(Candidate, MayUseThreads) {
  RunRequest request = Request(
      "#include <pthread.h>\n"
      "float *x, *y; void* g(void* n) { for (int i = (long)n; i < 1000; i += 4) y[i] = 2 * x[i]; return 0; "
      "}\n"
      "int f(float* a, float* b) { x = a; y = b; pthread_t t[4];\n"
      "  for (long i = 0; i < 4; ++i) if (pthread_create(&t[i], 0, g, (void*)i)) return 1;\n"
      "  for (int i = 0; i < 4; ++i) pthread_join(t[i], 0); return 0; }");
  request.reference = TwiceReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
}

TEST(Candidate, WithAPreparePhaseReadsWhatItPrepared) {
  RunRequest request = Request(
      "int p(float* a, float* w, float* b) { for (int i = 0; i < 1000; ++i) w[i] = 2 * a[i]; return 0; }\n"
      "int f(float* a, float* w, float* b) { for (int i = 0; i < 1000; ++i) b[i] = w[i]; return 0; }");
  request.kernel.prepare_symbol = "p";
  request.kernel.params.insert(request.kernel.params.begin() + 1,
                               {.dtype = "f32", .elements = 1000, .role = KernelParam::kPrepared});
  request.reference = TwiceReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_GT(result.prepare_seconds, 0);
}

TEST(Race, GivesEachKernelWhatItPreparedItself) {
  const auto prepares = [](int sign) {
    RunRequest request = Request(absl::StrCat(
        "int p(float* a, float* w, float* b) { for (int i = 0; i < 1000; ++i) w[i] = ", sign,
        " * a[i]; return 0; }\nint f(float* a, float* w, float* b) { for (int i = 0; i < 1000; ++i) b[i] = ",
        2 * sign, " * w[i]; return 0; }"));
    request.kernel.prepare_symbol = "p";
    request.kernel.params.insert(request.kernel.params.begin() + 1,
                                 {.dtype = "f32", .elements = 1000, .role = KernelParam::kPrepared});
    return request;
  };
  RunRequest request = prepares(1);
  request.peers = {prepares(-1).kernel};
  request.reference = TwiceReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
}

TEST(Candidate, TakesConstantsWithGivenValuesAndScalarsByAddress) {
  RunRequest request;
  request.kernel = {
      .shared_object = CompileC(
          "int f(int* c, double* s, double* out) { *out = c[0] * 1000 + c[1] + (*s - *s); return 0; }"),
      .symbol = "f",
      .params = {{.dtype = "i32",
                  .elements = 2,
                  .role = KernelParam::kConstant,
                  .data = std::string("\5\0\0\0\7\0\0\0", 8)},
                 {.dtype = "f64", .elements = 1, .role = KernelParam::kScalar},
                 {.dtype = "f64", .elements = 1, .role = KernelParam::kOutput}}};
  request.write_reference_to = TestFolder() / "scalar";
  ASSERT_EQ(Name(RunOne(request)), "ok");
  double out = 0;
  std::memcpy(&out, ReadFile(request.write_reference_to).data(), sizeof(out));
  EXPECT_EQ(out, 5007);
}

TEST(Candidate, MayHaveSixtyFourParametersAndNotOneMore) {
  std::string params, sum;
  for (int i = 0; i < 63; ++i) {
    absl::StrAppend(&params, "long* p", i, ", ");
    absl::StrAppend(&sum, " + ", i + 1, " * *p", i);
  }
  RunRequest request;
  request.kernel = {.shared_object = CompileC(
                        absl::StrCat("int f(", params, "long* out) { *out = 0", sum, "; return 0; }")),
                    .symbol = "f"};
  double wanted = 0;
  for (int i = 0; i < 63; ++i) {
    request.kernel.params.push_back({.dtype = "i64", .elements = 1});
    wanted += (i + 1) * InputValue(0, i, "i64", 0);
  }
  request.kernel.params.push_back({.dtype = "i64", .elements = 1, .role = KernelParam::kOutput});
  request.write_reference_to = TestFolder() / "many";
  ASSERT_EQ(Name(RunOne(request)), "ok");
  EXPECT_EQ(LoadElement("i64", ReadFile(request.write_reference_to).data(), 0), wanted);
  request.kernel.params.push_back({.dtype = "i64", .elements = 1});
  EXPECT_EQ(RunOne(request).detail, "65 parameters, but more than 64 need a function that takes a table");
}

TEST(Request, ThatMakesNoSenseIsNotLoaded) {
  RunRequest request = Request(kTwice);
  request.reference = TestFolder() / "no-such-file";
  EXPECT_THAT(RunOne(request).detail, HasSubstr("no-such-file: No such file or directory"));
  request = Request(kTwice, 999);
  request.reference = TwiceReference();
  EXPECT_EQ(RunOne(request).detail, "the reference has 4000 bytes, the outputs have 3996");
  request = Request(kTwice);
  request.limits.bytes = 0;
  EXPECT_EQ(RunOne(request).detail, "limits must be positive, and below a million seconds");
  request = Request(kTwice);
  request.kernel.params[0].dtype = "f31";
  EXPECT_EQ(RunOne(request).detail, "parameter 0: unknown dtype 'f31'");
}

}  // namespace
}  // namespace kiln
