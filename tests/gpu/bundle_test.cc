// Draws programs from the space of a GPU, bundles them, measures the bundle with the fake driver, and imports the
// results. Also tests the measurer of GPUs.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/session.h"
#include "backends/cpu/targets.h"
#include "backends/measure/gpu_measurer.h"
#include "backends/measure/kernel.h"
#include "backends/measure/reference_kernel.h"
#include "nlohmann/json.hpp"
#include "search/database/sqlite_store.h"
#include "testing/compiled/hash_of_image.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/backends/workers.h"
#include "tests/support/product_mlir.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

using Json = nlohmann::json;

class OnFakeGpu : public testing::Test {
 protected:
  OnFakeGpu() {
    setenv("LD_LIBRARY_PATH", KILN_BUILD_DIR "/tests/fake_cuda", 1);
    setenv("KILN_FAKE_CUDA", folder_.c_str(), 1);
  }

  static std::string FreshFolder() {
    std::string name = testing::TempDir() + "kiln-on-gpu-XXXXXX";
    return mkdtemp(name.data());
  }
  // Writes what the fake driver runs in place of the program's cubin.
  void StandIn(BuilderPool& builders, const Program& scheduled) const {
    const BuildResult cubin = builders.Submit(GpuKernelBuild(target_, scheduled, BuildOutput::kCubin)).get();
    const BuildResult emulated =
        builders.Submit(GpuKernelBuild(target_, scheduled, BuildOutput::kEmulated)).get();
    ASSERT_TRUE(cubin.ok() && emulated.ok()) << cubin.error << emulated.error;
    std::ofstream(absl::StrCat(folder_, "/", HashOfImage(ImageAt(cubin.outputs[0].data())), ".so"),
                  std::ios::binary)
        << emulated.outputs[0];
  }

  const Target target_ = *NamedTarget("h100");
  const std::string folder_ = FreshFolder();
};

TEST_F(OnFakeGpu, ABundleIsMeasuredAndImported) {
  const std::string database = folder_ + "/kiln.db", bundle = folder_ + "/bundle";
  api::Session session({.database = database});
  ASSERT_EQ(session.Load({.text = kProduct}), absl::OkStatus());
  const auto report =
      session.Bundle({.target = "h100", .programs = 4, .seed = 11, .runs = 3, .folder = bundle});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->tasks.size(), 1);
  EXPECT_EQ(report->tasks[0].programs, 4);
  EXPECT_GE(report->tasks[0].drawn, 4);

  const auto builders = StartBuilders();
  std::ifstream index(bundle + "/bundle.txt");
  for (std::string line; std::getline(index, line);) {
    const Json item = Json::parse(line.substr(line.find('\t') + 1));
    if (item["item"] != "time") continue;
    const auto trace = ParseTrace(item["trace"].get<std::string>());
    ASSERT_TRUE(trace.ok()) << trace.status();
    const auto replayed = Replay(*trace, session.tasks()[0].program, target_, {.snapshots = false});
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    StandIn(*builders, replayed->program());
  }
  const std::string results = folder_ + "/results.json";
  ASSERT_EQ(system(absl::StrCat(KILN_BUILD_DIR "/kiln-gpu-runner --bundle ", bundle, " >", results).c_str()),
            0);
  const auto imported = session.ImportRecords(results);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->added, 4);
  const auto contents = (*OpenStore(database))->ReadAll();
  ASSERT_TRUE(contents.ok()) << contents.status();
  for (const RecordRow& record : contents->records) {
    EXPECT_EQ(record.status, "ok") << record.error;
    EXPECT_EQ(record.samples.size(), 3);
    EXPECT_FALSE(record.flags.is_static);
  }
  EXPECT_EQ(contents->targets[0].fingerprint, "Emulated GPU, sm_90, 4 SMs");
}

TEST_F(OnFakeGpu, TheMeasurerGoesOnAfterAFault) {
  auto measurer = GpuMeasurer::Start(target_, {.reference_kernel = false, .race_samples = 3});
  ASSERT_TRUE(measurer.ok()) << measurer.status();
  EXPECT_EQ(measurer->target().fingerprint, "Emulated GPU, sm_90, 4 SMs");
  const Program original = Matmul(32, 24, 16);
  const Program tiled = SimtMatmul(original).program();
  Schedule s = Scheduled(original);
  s.Bind(s.GetLoops(s.GetBlock("matmul"))[0], LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  const Program rows = s.program(), unknown = [&] {
    Schedule other = Scheduled(original);
    other.Bind(other.GetLoops(other.GetBlock("matmul"))[0], LoopKind::kBlockX);
    return other.program();
  }();
  StandIn(measurer->builders(), tiled);
  StandIn(measurer->builders(), rows);
  // The driver has nothing that runs `unknown`, which so fails.
  const auto request = [&](const Program& scheduled) {
    return MeasureRequest{.original = &original, .scheduled = &scheduled};
  };
  const std::vector<MeasureRequest> requests = {request(tiled), request(unknown), request(rows)};
  const std::vector<MeasureResult> measured = measurer->Measure(requests);
  EXPECT_EQ(measured[0].status, "ok") << measured[0].error;
  EXPECT_TRUE(measured[0].verified);
  EXPECT_EQ(measured[0].samples.size(), 3);
  EXPECT_EQ(measured[1].status, "load_failed");
  EXPECT_EQ(measured[2].status, "ok") << measured[2].error;
  const std::vector<MeasureResult> raced = measurer->Race(requests);
  EXPECT_EQ(raced[0].status, "ok") << raced[0].error;
  EXPECT_GE(raced[0].samples.size(), 3);
  EXPECT_EQ(raced[1].status, "load_failed");
  EXPECT_EQ(raced[2].samples.size(), raced[0].samples.size());
}

TEST_F(OnFakeGpu, TheReferenceKernelOfGpusIsCompiled) {
  const auto builders = StartBuilders();
  const BuildResult built =
      builders->Submit(GpuKernelBuild(target_, GpuReferenceKernelProgram(), BuildOutput::kCubin)).get();
  ASSERT_TRUE(built.ok()) << built.error;
  EXPECT_EQ(built.launches.launches.size(), 1);
  EXPECT_EQ(built.launches.launches[0].blocks, 512);
}

TEST(GpuMeasurers, SayThatThereIsNoGpu) {
  setenv("LD_LIBRARY_PATH", "", 1);
  const auto none = GpuOfThisMachine();
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(none.status().message(), "no GPU: kiln-gpu-runner: ")) << none.status();
}

}  // namespace
}  // namespace kiln
