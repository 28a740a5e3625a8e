// Draws programs from the space `cuda` into a bundle, measures the bundle on the GPU of the fake driver
// (fake_cuda/fake_cuda.cc), and imports the results. Also tests GpuMeasurer, FindThisGpu, the reference kernel and
// JsonNumber.
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/session.h"
#include "backends/gpu/driver/json_text.h"
#include "backends/measure/gpu_measurer.h"
#include "backends/measure/this_gpu.h"
#include "search/database/sqlite_store.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/gpu/on_fake_gpu.h"
#include "tests/gpu/on_gpu.h"
#include "tests/support/product_mlir.h"

namespace kiln {
namespace {

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
  StandInForBundle(*builders, session.tasks()[0].program, bundle);
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
  auto started = GpuMeasurer::Start(target_, {.reference_kernel = false, .race_samples = 3});
  ASSERT_TRUE(started.ok()) << started.status();
  const auto measurer = *std::move(started);
  EXPECT_EQ(measurer->target().fingerprint, "Emulated GPU, sm_90, 4 SMs");
  const Program original = Matmul(32, 24, 16);
  const auto bound = [&](LoopKind axis) {
    Schedule s = Scheduled(original);
    s.Bind(s.GetLoops(s.GetBlock("matmul"))[0], axis);
    EXPECT_TRUE(s.ok()) << s.status();
    ExpectSameOnGpu(original, s.program());
    return s.program();
  };
  const Program tiled = SimtMatmul(original).program(), rows = bound(LoopKind::kThreadX),
                unknown = bound(LoopKind::kBlockX);
  StandIn(measurer->builders(), tiled);
  StandIn(measurer->builders(), rows);
  // The fake driver has no library to run in place of the cubin of `unknown`, so loading that program fails.
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
  const auto none = FindThisGpu();
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(none.status().message(), "no driver of NVIDIA: ")) << none.status();
}

TEST_F(OnFakeGpu, ADriverThatFailsIsNoAbsentOne) {
  const auto there = FindThisGpu();
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ(there->fingerprint, "Emulated GPU, sm_90, 4 SMs");
  EXPECT_TRUE(there->Runs(*FindGpu("h200")));
  EXPECT_FALSE(there->Runs(*FindGpu("a100")));
  setenv("KILN_FAKE_CUDA_INIT", "100", 1);
  EXPECT_EQ(FindThisGpu().status(),
            absl::NotFoundError("cuInit: no CUDA-capable device is detected (CUresult 100)"));
  setenv("KILN_FAKE_CUDA_INIT", "999", 1);
  EXPECT_EQ(FindThisGpu().status(),
            absl::FailedPreconditionError("NVIDIA's driver fails: cuInit: unknown error (CUresult 999)"));
}

// The untransformed program gets a microsecond to compute the outputs to compare with, which is too little. Tests that
// some elements are compared with the interpreter instead, and that the flag `spot_checked` says so.
TEST_F(OnFakeGpu, ChosenElementsAreComparedIfTheOriginalTakesTooLong) {
  auto started =
      GpuMeasurer::Start(target_, {.reference_seconds = 1e-6, .reference_kernel = false, .race_samples = 3});
  ASSERT_TRUE(started.ok()) << started.status();
  const Program original = Matmul(32, 24, 16), tiled = SimtMatmul(original).program();
  StandIn((*started)->builders(), tiled);
  const MeasureResult result = (*started)->Measure({{.original = &original, .scheduled = &tiled}})[0];
  EXPECT_EQ(result.status, "ok") << result.error;
  EXPECT_TRUE(result.verified);
  EXPECT_TRUE(result.flags.spot_checked);
}

TEST(JsonNumber, IsNullOnlyForWhatIsNotFinite) {
  EXPECT_EQ(JsonNumber(1.5), "1.5");
  EXPECT_EQ(JsonNumber(-0.0), "-0");
  EXPECT_EQ(JsonNumber(-1.5e308), "-1.5e+308");
  EXPECT_EQ(JsonNumber(INFINITY), "null");
  EXPECT_EQ(JsonNumber(-INFINITY), "null");
  EXPECT_EQ(JsonNumber(NAN), "null");
}

}  // namespace
}  // namespace kiln
