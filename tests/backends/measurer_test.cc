// Tests CpuMeasurer, which builds, runs, checks and times programs on this machine: correct programs are timed, and
// each failure (build, wrong result, crash, time limit, ...) gives a result with its own status.
#include "backends/measure/measurer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/targets.h"
#include "backends/workers/scratch_folder.h"
#include "testing/scheduled.h"
#include "testing/softmax.h"
#include "tests/backends/with_loops.h"
#include "tests/backends/workers.h"
#include "tests/runner/kernels.h"

namespace kiln {
namespace {

CpuMeasurerOptions Options() {
  return {.run_seconds = 3,
          .builder_path = ProgramPath("kiln-builder"),
          .runner_path = ProgramPath("kiln-runner")};
}

CpuMeasurer StartMeasurer(const CpuMeasurerOptions& options = Options()) {
  return CpuMeasurer::Start(options).value();
}

CpuMeasurer& Shared() {
  static auto* const measurer = new CpuMeasurer(StartMeasurer());
  return *measurer;
}

Program Unrolled(Program p) { return WithLoops(std::move(p), LoopKind::kUnrolled); }

// Returns the flags of a result as text, without those that other processes on this machine may set, such as `noisy`.
std::string HowMeasured(const MeasureResult& result) {
  RecordFlags flags = result.flags;
  flags.disturbed = flags.noisy = false;
  flags.retaken = flags.preempted = flags.others = 0;
  return flags.Print();
}

// Returns the scratch folders that this process made for temporary files if `prefix` is empty, otherwise the files in
// these folders whose names begin with `prefix`.
std::vector<std::filesystem::path> ScratchFiles(const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  for (const auto& folder : std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
    if (!absl::StrContains(folder.path().filename().string(), absl::StrCat("kiln-scratch-", getpid(), "-")))
      continue;
    if (prefix.empty()) {
      found.push_back(folder);
      continue;
    }
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (absl::StartsWith(file.path().filename().string(), prefix)) found.push_back(file);
    }
  }
  return found;
}

TEST(CpuMeasurer, KnowsItsMachine) {
  const Target& target = Shared().target();
  EXPECT_EQ(target.name, "cpu");
  EXPECT_FALSE(target.triple.empty());
  EXPECT_FALSE(target.fingerprint.empty());
  EXPECT_EQ(target.cores, 1);
  EXPECT_EQ(CpuTarget(0).cores, static_cast<int>(UsableCores().size()));
}

TEST(CpuMeasurer, KeepsBuildsOffTheCoresOfTimedRuns) {
  const CoreShares one = ShareCores({{0, 4}, {1, 5}, {2, 6}}, 1);
  EXPECT_EQ(one.timed, std::vector<int>{2});
  EXPECT_EQ(one.builds, (std::vector<std::vector<int>>{{0, 4}, {1, 5}}));
  EXPECT_TRUE(one.apart);
  const CoreShares all = ShareCores({{0}, {1}}, 0);
  EXPECT_EQ(all.timed, (std::vector<int>{0, 1}));
  EXPECT_EQ(all.builds.size(), 2);
  EXPECT_FALSE(all.apart);
}

TEST(CpuMeasurer, BuildsWhatIsAnnouncedAtOnce) {
  const auto folder = ScratchFolder::Make().value();
  CpuMeasurerOptions options = Options();
  options.object_folder = folder->path();
  CpuMeasurer measurer = StartMeasurer(options);
  const auto files = [&] {
    const std::filesystem::directory_iterator all(folder->path());
    return std::distance(begin(all), end(all));
  };
  const Program original = Matmul(16, 16, 16), scheduled = Unrolled(original);
  const MeasureRequest request{.original = &original, .scheduled = &scheduled};
  const auto before = files();
  measurer.Announce(request);
  for (int i = 0; i < 1000 && files() == before; ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_GT(files(), before);
  EXPECT_EQ(measurer.Measure({request}).front().status, outcome::kOk);
}

TEST(CpuMeasurer, TimesWhatComputesTheSame) {
  const Program original = Matmul(16, 16, 16), scheduled = Unrolled(original);
  const auto results = Shared().Measure(std::vector<MeasureRequest>{
      {.original = &original, .scheduled = &original}, {.original = &original, .scheduled = &scheduled}});
  for (const MeasureResult& result : results) {
    EXPECT_EQ(result.status, outcome::kOk) << result.error;
    EXPECT_GE(result.samples.size(), 2);
    EXPECT_GT(*std::min_element(result.samples.begin(), result.samples.end()), 0);
    EXPECT_TRUE(result.verified);
    EXPECT_FALSE(result.lower_bound);
    EXPECT_EQ(HowMeasured(result), "threads=1 contract relative");
  }
}

TEST(CpuMeasurer, SaysThatCachesWereCold) {
  CpuMeasurerOptions options = Options();
  options.cold_cache = true;
  CpuMeasurer cold = StartMeasurer(options);
  const Program program = Affine(1 << 13);
  const std::vector<MeasureRequest> requests = {{.original = &program, .scheduled = &program}};
  EXPECT_EQ(HowMeasured(cold.Measure(requests)[0]), "threads=1 contract cold-cache relative");
  EXPECT_EQ(HowMeasured(Shared().Measure(requests)[0]), "threads=1 contract relative");
}

TEST(CpuMeasurer, RunsParallelLoopsOnAsManyThreadsAsItHasCores) {
  CpuMeasurerOptions options = Options();
  options.threads = 2;
  bool told = false;
  options.before_run = [&](const MeasureRequest&, KernelObject* kernel) {
    if (told)
      kernel->shared_object =
          CompileC("int n; void kernel_set_threads(int t) { n = t; } int kernel() { return n; }");
  };
  CpuMeasurer measurer = StartMeasurer(options);
  const Program original = Matmul(64, 64, 64);
  Program parallel = original;
  parallel.loop(1).kind = LoopKind::kParallel;
  const MeasureRequest request{.original = &original, .scheduled = &parallel};
  const int cores = measurer.target().cores;
  EXPECT_EQ(cores, std::min<int>(2, static_cast<int>(UsableCores().size())));
  for (const MeasureResult& result :
       {measurer.Measure({request}).front(), measurer.Race({request}).front()}) {
    EXPECT_EQ(result.status, outcome::kOk) << result.error;
    EXPECT_EQ(HowMeasured(result), absl::StrCat("threads=", cores, " contract relative"));
  }
  told = true;
  EXPECT_EQ(measurer.Measure({request}).front().error, absl::StrCat("the kernel returned ", cores));
}

TEST(CpuMeasurer, FlagsSayWhatRounds) {
  CpuMeasurerOptions options = Options();
  options.contract = false;
  CpuMeasurer measurer = StartMeasurer(options);
  EXPECT_FALSE(measurer.target().contract);
  const Program original = Matmul(4, 4, 16);
  Schedule s = Scheduled(original);
  s.Vectorize(s.GetLoops(s.GetBlock("matmul"))[2]);
  ASSERT_TRUE(s.ok()) << s.status();
  const MeasureResult as_it_came =
      measurer.Measure({{.original = &original, .scheduled = &original}}).front();
  EXPECT_EQ(HowMeasured(as_it_came), "threads=1 relative");
  const MeasureResult in_lanes =
      measurer.Measure({{.original = &original, .scheduled = &s.program()}}).front();
  EXPECT_TRUE(in_lanes.verified) << in_lanes.error;
  EXPECT_EQ(HowMeasured(in_lanes), "threads=1 reassociated relative");
}

TEST(CpuMeasurer, StopsWhatIsFarFromTheBest) {
  const Program p = Matmul(64, 64, 64);
  const MeasureRequest slow{.original = &p, .scheduled = &p, .best_seconds = 1e-7};
  const MeasureResult result = Shared().Measure({slow}).front();
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_TRUE(result.lower_bound);
  EXPECT_EQ(result.samples.size(), 1);
}

TEST(CpuMeasurer, TakesMoreSamplesWhenThorough) {
  const Program p = Matmul(32, 32, 32);
  const MeasureResult result =
      Shared().Measure({{.original = &p, .scheduled = &p, .thorough = true}}).front();
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_GE(result.samples.size(), 3);
}

TEST(CpuMeasurer, FindsWrongResults) {
  const Program original = Affine(1000), wrong = Affine(1000, 2, 1.001);
  const MeasureResult result = Shared().Measure({{.original = &original, .scheduled = &wrong}}).front();
  EXPECT_EQ(result.status, outcome::kWrongResult);
  EXPECT_TRUE(absl::StrContains(result.error, "1000 of 1000 elements differ too much")) << result.error;
  EXPECT_FALSE(result.verified);
  EXPECT_TRUE(result.samples.empty());
}

TEST(CpuMeasurer, FindsASingleMissingTermOfAReduction) {
  const Program original = Matmul(8, 8, 512), shorter = [] {
    Program p = Matmul(8, 8, 512);
    for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
      if (p.IsLoop(node) && p.loop(node).extent.Known() == 512) p.loop(node).extent = Extent(511);
    }
    return p;
  }();
  const MeasureResult result = Shared().Measure({{.original = &original, .scheduled = &shorter}}).front();
  EXPECT_EQ(result.status, outcome::kWrongResult) << result.error;
}

TEST(CpuMeasurer, FindsAWrongMaximumThatIsSubtracted) {
  const Program original = Softmax(64, 64);
  Schedule right = Scheduled(Softmax(64, 64)), wrong = Scheduled(Softmax(64, 64));
  for (Schedule* s : {&right, &wrong}) s->Split(s->GetLoops(s->GetBlock("max"))[1], {8, 8});
  Program shorter = wrong.program();
  for (Id node = 0; node < static_cast<Id>(shorter.nodes.size()); ++node) {
    if (shorter.IsLoop(node) && shorter.loop(node).extent.Known() == 8) shorter.loop(node).extent = Extent(7);
  }
  const auto results = Shared().Measure({{.original = &original, .scheduled = &right.program()},
                                         {.original = &original, .scheduled = &shorter}});
  EXPECT_TRUE(results[0].ok()) << results[0].error;
  EXPECT_EQ(results[1].status, outcome::kWrongResult);
  EXPECT_TRUE(absl::StrContains(results[1].error, "inputs that lie far apart")) << results[1].error;
}

TEST(CpuMeasurer, RunsThePreparePhase) {
  const Program p = WithPrepare(100);
  const MeasureResult result = Shared().Measure({{.original = &p, .scheduled = &p}}).front();
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(HowMeasured(result), "threads=1 contract relative prepare");
}

TEST(CpuMeasurer, GivesEachMisfortuneItsClass) {
  const std::map<std::string, std::string> bodies = {
      {"crashed", "int kernel(float* x, float* y) { abort(); }"},
      {"timed_out", "int kernel(float* x, float* y) { for (;;) __asm__ volatile(\"\"); }"},
      {"out_of_memory",
       "int kernel(float* x, float* y) { for (;;) { char* p = malloc(1 << 26); if (!p) abort(); *p = 1; } }"},
      {"guard_violated", "int kernel(float* x, float* y) { x[0] = 1; return 0; }"},
      {"non_zero_status", "int kernel(float* x, float* y) { return 3; }"},
      {"wrong_result", "int kernel(float* x, float* y) { return 0; }"},
      {"load_failed", "int something(float* x, float* y) { return 0; }"},
      {"ok",
       "int kernel(float* x, float* y) { for (int i = 0; i < 100; ++i) y[i] = 2 * x[i] + 1; return 0; }"}};
  std::string body;
  CpuMeasurerOptions options = Options();
  options.run_bytes = 512 << 20;
  options.before_run = [&](const MeasureRequest&, KernelObject* kernel) {
    kernel->shared_object = CompileC("#include <stdlib.h>\n" + body);
  };
  CpuMeasurer measurer = StartMeasurer(options);
  const Program p = Affine(100);
  for (const auto& [status, text] : bodies) {
    body = text;
    const MeasureResult result = measurer.Measure({{.original = &p, .scheduled = &p}}).front();
    EXPECT_EQ(result.status, status) << result.error;
    EXPECT_EQ(result.error.empty(), status == "ok") << result.error;
  }
}

TEST(CpuMeasurer, AFailedBuildIsAResultBesideOthers) {
  const Program p = Affine(100);
  const Program gpu = WithLoops(p, LoopKind::kThreadX);
  const auto results = Shared().Measure(
      std::vector<MeasureRequest>{{.original = &p, .scheduled = &gpu}, {.original = &p, .scheduled = &p}});
  EXPECT_EQ(results[0].status, outcome::kBuildFailed);
  EXPECT_EQ(results[0].error, "loop i is thread-x, which a CPU does not have");
  EXPECT_TRUE(results[1].ok()) << results[1].error;
}

TEST(CpuMeasurer, AnOriginalThatCannotBeBuiltFailsItsCandidates) {
  const Program p = Affine(100);
  const Program gpu = WithLoops(p, LoopKind::kThreadX);
  const MeasureResult result = Shared().Measure({{.original = &gpu, .scheduled = &p}}).front();
  EXPECT_EQ(result.status, outcome::kBuildFailed);
  EXPECT_TRUE(absl::StartsWith(result.error, "the untransformed program: ")) << result.error;
}

TEST(CpuMeasurer, ComparesChosenElementsWhereTheOriginalIsTooSlow) {
  CpuMeasurerOptions options = Options();
  options.run_seconds = 30;
  options.reference_seconds = 1e-3;
  options.race_rounds = 2;
  CpuMeasurer measurer = StartMeasurer(options);
  const Program original = Matmul(512, 512, 256);
  Program wrong = original;
  for (Id node = 0; node < static_cast<Id>(wrong.nodes.size()); ++node) {
    if (wrong.IsLoop(node) && wrong.loop(node).extent.Known() == 256) wrong.loop(node).extent = Extent(255);
  }
  const std::vector<MeasureRequest> requests = {{.original = &original, .scheduled = &original},
                                                {.original = &original, .scheduled = &wrong}};
  for (int i = 0; i < 2; ++i) {
    const auto results = i == 0 ? measurer.Measure(requests) : measurer.Race(requests);
    EXPECT_EQ(results[0].status, outcome::kOk) << results[0].error;
    EXPECT_EQ(HowMeasured(results[0]), "threads=1 contract relative spot-checked");
    EXPECT_EQ(results[1].status, outcome::kWrongResult);
    EXPECT_TRUE(absl::StrContains(results[1].error, "but the interpreter says")) << results[1].error;
  }
}

TEST(CpuMeasurer, FindsAnOffByOneAtAnEdgeOfACandidatesTiles) {
  CpuMeasurerOptions options = Options();
  options.run_seconds = 30;
  options.reference_seconds = 1e-6;  // no original is that fast, so only chosen elements are compared
  options.before_run = [](const MeasureRequest&, KernelObject* kernel) {
    kernel->shared_object = CompileC(R"(int kernel(float* x, float* y) {
      for (int i = 0; i < 100000; ++i) y[i] = 2 * x[i == 1000 ? 999 : i] + 1;
      return 0;
    })");
  };
  CpuMeasurer measurer = StartMeasurer(options);
  const Program p = Affine(100000);
  Schedule s = Scheduled(p);
  s.Split(s.GetLoops(s.GetBlock("affine"))[0], {100, 1000});
  const MeasureResult plain = measurer.Measure({{.original = &p, .scheduled = &p}}).front(),
                      tiled = measurer.Measure({{.original = &p, .scheduled = &s.program()}}).front();
  EXPECT_TRUE(plain.ok()) << plain.error;  // without tiles, Y[1000] is not among the chosen elements
  EXPECT_EQ(tiled.status, outcome::kWrongResult);
  EXPECT_TRUE(absl::StrContains(tiled.error, "Y[1000] is ")) << tiled.error;
}

TEST(CpuMeasurer, RacesInTurns) {
  const Program original = Matmul(8, 8, 8), other = Unrolled(Matmul(8, 8, 8)), wrong = [] {
    Program p = Matmul(8, 8, 8);
    for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
      if (p.IsLoop(node)) p.loop(node).extent = Extent(7);
    }
    return p;
  }();
  const auto results =
      Shared().Race(std::vector<MeasureRequest>{{.original = &original, .scheduled = &original},
                                                {.original = &original, .scheduled = &wrong},
                                                {.original = &original, .scheduled = &other}});
  EXPECT_GE(results[0].samples.size(), 2) << results[0].error;  // the faster half of one process's samples
  EXPECT_EQ(results[1].status, outcome::kWrongResult) << results[1].error;
  EXPECT_GE(results[2].samples.size(), 2) << results[2].error;
  EXPECT_GE(results[0].raw_samples.size(), 2 * 20);
  EXPECT_GE(results[0].raw_samples.size(), 2 * results[0].samples.size());
  EXPECT_EQ(results[0].raw_samples.size(), results[2].raw_samples.size());
  EXPECT_TRUE(results[0].verified);
  EXPECT_TRUE(results[2].verified);
}

TEST(CpuMeasurer, GoesOnAfterItsWorkersAreKilled) {
  CpuMeasurer measurer = StartMeasurer();
  const Program p = Affine(100), q = Affine(100, 3);
  EXPECT_TRUE(measurer.Measure({{.original = &p, .scheduled = &p}}).front().ok());
  for (const pid_t pid : measurer.worker_pids()) kill(pid, SIGKILL);
  const MeasureResult result = measurer.Measure({{.original = &q, .scheduled = &q}}).front();
  EXPECT_TRUE(result.ok()) << result.status << " " << result.error;
}

TEST(CpuMeasurer, InterruptsWhatItMeasuresAndGoesOnLater) {
  CpuMeasurerOptions options = Options();
  options.run_seconds = 60;
  bool hang = true;
  options.before_run = [&](const MeasureRequest&, KernelObject* kernel) {
    if (hang)
      kernel->shared_object = CompileC("int kernel(float* x, float* y) { for (;;) __asm__ volatile(\"\"); }");
  };
  CpuMeasurer measurer = StartMeasurer(options);
  const Program p = Affine(100);
  auto measured = std::async(std::launch::async,
                             [&] { return measurer.Measure({{.original = &p, .scheduled = &p}}).front(); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  while (measured.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready) measurer.Interrupt();
  EXPECT_EQ(measured.get().status, outcome::kInterrupted);
  hang = false;
  EXPECT_TRUE(measurer.Measure({{.original = &p, .scheduled = &p}}).front().ok());
}

TEST(CpuMeasurer, InterruptEndsTheReferenceRunForGood) {
  CpuMeasurer measurer = StartMeasurer();
  const Program p = Matmul(2048, 2048, 2048);
  const MeasureRequest request = {.original = &p, .scheduled = &p};
  const size_t before = ScratchFiles("reference").size();
  auto measured =
      std::async(std::launch::async, [&] { return measurer.Measure({request, request, request}); });
  EXPECT_TRUE(Soon([&] { return ScratchFiles("reference").size() > before; }));
  measurer.Interrupt();
  for (const MeasureResult& result : measured.get()) EXPECT_EQ(result.status, outcome::kInterrupted);
}

TEST(CpuMeasurer, LeavesNoProcessAndNoFile) {
  const size_t before = ScratchFiles("").size();
  std::vector<pid_t> pids;
  {
    CpuMeasurer measurer = StartMeasurer();
    const Program p = Affine(100);
    EXPECT_TRUE(measurer.Measure({{.original = &p, .scheduled = &p}}).front().ok());
    pids = measurer.worker_pids();
    EXPECT_EQ(ScratchFiles("").size(), before + 1);
  }
  for (const pid_t pid : pids) EXPECT_FALSE(IsRunning(pid));
  EXPECT_EQ(ScratchFiles("").size(), before);
}

TEST(ScratchFolder, RemovesThoseOfDeadProcesses) {
  const auto base = std::filesystem::temp_directory_path();
  const auto dead = base / "kiln-scratch-999999999-abcdef", other = base / "kiln-scratch-x-abcdef";
  std::filesystem::create_directory(dead);
  std::filesystem::create_directory(other);
  const auto scratch = ScratchFolder::Make();
  ASSERT_TRUE(scratch.ok()) << scratch.status();
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(other));
  std::filesystem::remove(other);
}

}  // namespace
}  // namespace kiln
