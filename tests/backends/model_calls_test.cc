// Tests the library of a compiled model from a C program: calls allocate nothing, and results have the same bits for
// any number of threads and for two callers at once.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/codegen/pool_files.h"
#include "backends/cpu/targets.h"
#include "backends/model/compile_model.h"
#include "build_info.h"
#include "lang/graph/outline.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "testing/random_model.h"
#include "testing/scheduled.h"
#include "tests/backends/workers.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kColumns = 10000;  // a row has 40,000 bytes, which is too much for a stack

// Returns the model y = max(x * w, 0) * v of two matrix products, with the constants w and v.
Program TwoProducts() {
  constexpr DType kF32 = DType::kF32;
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  Builder b("net");
  const Id x = b.Input("x", kF32, {24, 3}), w = b.Constant("w", kF32, {3, kColumns});
  const Id sums = b.Temporary("sums", kF32, {24, kColumns}), h = b.Temporary("h", kF32, {24, kColumns});
  const Id v = b.Constant("v", kF32, {kColumns, 2}), y = b.Temporary("y", kF32, {24, 2});
  b.Reduce("dense", {{"i", 24}, {"j", kColumns}, {"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum,
           {sums, {i, j}}, b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  b.Compute("relu", {{"i", 24}, {"j", kColumns}}, {h, {i, j}},
            b.Make(Op::kMax, kF32, b.Load(sums, {i, j}), b.Float(kF32, 0)));
  b.Reduce("last", {{"i", 24}, {"j", 2}, {"k", kColumns, IterKind::kReduction}}, Monoid::Kind::kSum,
           {y, {i, j}}, b.Mul(b.Load(h, {i, k}), b.Load(v, {k, j})));
  b.MakeOutput(y);
  return b.Finish();
}

// Schedules a task of TwoProducts with a parallel loop over rows. In the first task, each iteration has a row of sums
// of its own.
Program InParallel(const Program& task) {
  Schedule s = Scheduled(task);
  const bool first = task.name.find("dense") != std::string::npos;
  const Loop rows = s.GetLoops(s.GetBlock(first ? "relu" : "last"))[0];
  s.Parallel(rows);
  if (first) s.ComputeAt(s.GetBlock("dense"), rows);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// A C program that runs the model 31 times for each caller and prints how often it allocated memory, how often results
// were wrong, and whether its memory stayed below a limit:
//   caller THREADS CALLERS
constexpr char kCaller[] = R"(
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef COUNTS
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
#endif
static atomic_int counting, allocations, wrong;
#ifdef COUNTS
static void count(void) { if (counting) ++allocations; }
void* malloc(size_t n) { count(); return __libc_malloc(n); }
void* calloc(size_t n, size_t m) { count(); return __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { count(); return __libc_realloc(p, n); }
void* aligned_alloc(size_t a, size_t n) { count(); return __libc_memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) { count(); return (*p = __libc_memalign(a, n)) ? 0 : 12; }
void free(void* p) { if (p) count(); __libc_free(p); }
#endif
int net_by_table(void* const*), net_prepare_by_table(void* const*), net_set_threads(int);
static char* data[COUNT + 2];
static int callers;
static void run(void** table, int times) {
  while (times--) {
    if (net_by_table(table) != 0) ++wrong;
    for (int i = 0; i < COUNT; ++i)
      if (!given[i] && memcmp(table[i], data[i], size[i]) != 0) ++wrong;
  }
}
static void* call(void* none) {
  void* table[COUNT + 2];
  for (int i = 0; i < COUNT + 2; ++i) table[i] = data[i];
  for (int i = 0; i < COUNT; ++i) if (!given[i]) table[i] = aligned_alloc(64, (size[i] + 63) / 64 * 64);
  table[COUNT + 1] = aligned_alloc(64, size[COUNT + 1]);
  run(table, 1);  /* starts the threads */
  counting = callers == 1;
  run(table, 30);
  return none;
}
int main(int count, char** words) {
  FILE* file = fopen("data", "rb");
  for (int i = 0; i < COUNT + 2; ++i) {
    data[i] = aligned_alloc(64, (size[i] + 63) / 64 * 64);
    if (i < COUNT && fread(data[i], 1, size[i], file) != (size_t)size[i]) return 2;
  }
  if (count != 3 || net_prepare_by_table((void**)data) != 0) return 3;
  net_set_threads(atoi(words[1]));
  callers = atoi(words[2]);
  if (callers == 1) {
    call(NULL);
  } else {
    pthread_t others[2];
    void* none;
    for (int i = 0; i < 2; ++i) pthread_create(&others[i], NULL, call, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(others[i], &none);
  }
  counting = 0;
  long arrays = 0, peak = 0;  /* in bytes; in KiB */
  for (int i = 0; i < COUNT + 2; ++i) arrays += size[i] * (i < COUNT && given[i] ? 1 : 1 + callers);
  char line[256];
  for (FILE* status = fopen("/proc/self/status", "r"); fgets(line, sizeof line, status);)
    sscanf(line, "VmHWM: %ld", &peak);
  printf("%d allocations, %d wrong, %s\n", (int)allocations, (int)wrong,
         peak * 1024 - arrays < 5 << 20 ? "peak below the arrays and 5 MiB" : line);
  return 0;
}
)";

// A fixture: builds the library of the model and the C program to the executable "caller" in a folder, with its data.
class Callers : public testing::Test {
 protected:
  // Compiles the model, writes library, C program and data to the folder, and runs the command line `compile` there.
  // Returns the status of the command.
  int Build(const ModelBuildOptions& options, const std::string& compile) {
    const Program model = TwoProducts();
    const std::vector<Task> tasks = ExtractAllTasks(model).value();
    std::vector<ScheduledTask> scheduled;
    for (const Task& task : tasks) scheduled.push_back({.program = InParallel(task.program)});
    const auto builders = StartBuilders();
    const TaskObjects code = CompileTasks(scheduled, "net", *builders, options).value();
    plan_ = PlanCalls(model, tasks, code.needs).value();
    const ModelLibrary library = LinkModel(model, plan_, code, "net", *builders, options).value();
    folder_.Write("net.so", library.shared_object);
    folder_.Write("net.a", library.archive);
    folder_.Write("kiln_pool.c", PoolSource());
    WriteCaller(model);
    return std::system(absl::StrCat("cd ", folder_.path(), " && ", compile).c_str());
  }

  std::string Run(int threads, int callers, const std::string& machine = "") {
    const std::string line = absl::StrCat("cd ", folder_.path(), " && LD_LIBRARY_PATH=. timeout 300 ",
                                          machine, " ./caller ", threads, " ", callers, " > said.txt");
    EXPECT_EQ(std::system(line.c_str()), 0);
    return ReadText(folder_ / "said.txt");
  }

  ModelPlan plan_;

 private:
  void WriteCaller(const Program& model) {
    const std::vector<std::string> inputs = RandomModelInputs(model, 1);
    const std::vector<std::string> results = kiln::Run(model, inputs).value();
    std::vector<int64_t> size;
    std::vector<int> given;
    std::string data;
    size_t next = 0;
    for (const Id id : model.parameters) {
      size.push_back(BytesOf(model, id));
      given.push_back(IsGiven(model.buffers[id].role) ? 1 : 0);
      data += given.back() != 0 ? inputs[next++] : results[0];
    }
    size.push_back(plan_.weights_bytes), size.push_back(plan_.arena_bytes);
    folder_.Write("data", data);
    folder_.Write("caller.c", absl::StrCat("static const long size[] = {", absl::StrJoin(size, ", "),
                                           "};\nstatic const int given[] = {", absl::StrJoin(given, ", "),
                                           "};\nenum { COUNT = ", given.size(), " };\n", kCaller));
  }

  const TemporaryFolder folder_;
};

constexpr char kHere[] = "cc -std=gnu11 -O1 -Wall -DCOUNTS caller.c ./net.so -lpthread -o caller";
constexpr char kFine[] = "0 allocations, 0 wrong, peak below the arrays and 5 MiB\n";

TEST_F(Callers, ACallAllocatesNothingOnAnyNumberOfThreads) {
  ASSERT_EQ(Build({.pieces = 4}, kHere), 0);
  // The first call has one workspace: a row of sums for each of four threads.
  EXPECT_EQ(plan_.calls[0].workspaces.size(), 1u);
  EXPECT_EQ(plan_.calls[0].workspaces[0].bytes, 4 * kColumns * 4);
  for (const int threads : {1, 2, 8, 64}) EXPECT_EQ(Run(threads, 1), kFine) << threads;
}

TEST_F(Callers, TwoAtOnceGetTheSameBitsOnAnyNumberOfThreads) {
  ASSERT_EQ(Build({.pieces = 4}, kHere), 0);
  for (const int threads : {1, 2, 8, 64}) EXPECT_EQ(Run(threads, 2), kFine) << threads;
}

TEST_F(Callers, ThreadsOfArmGetTheSameBitsUnderQemu) {
  const Target arm = NamedTarget("aarch64").value();
  const std::string compile =
      absl::StrCat(KILN_CXX_COMPILER,
                   " --target=aarch64-linux-gnu -fuse-ld=lld -static -nostdlib++ -x c -std=gnu11"
                   " caller.c kiln_pool.c -x none net.a -lm -lpthread -o caller");
  ASSERT_EQ(Build({.triple = arm.triple, .cpu = arm.cpu, .features = arm.features, .pieces = 4}, compile), 0);
  for (const int threads : {1, 2, 8})
    EXPECT_THAT(Run(threads, 1, "qemu-aarch64"), HasSubstr("0 wrong")) << threads;
}

}  // namespace
}  // namespace kiln
