// A fixture for tests that measure on the GPU of the fake driver (fake_cuda/fake_cuda.cc). It gives the driver emulated
// kernels in place of the cubins that it cannot run.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/targets.h"
#include "backends/measure/kernel.h"
#include "backends/measure/reference_kernel.h"
#include "nlohmann/json.hpp"
#include "test_paths.h"
#include "testing/compiled/hash_of_image.h"
#include "tests/backends/workers.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {

class OnFakeGpu : public testing::Test {
 protected:
  OnFakeGpu() {
    setenv("LD_LIBRARY_PATH", KILN_BUILD_DIR "/tests/fake_cuda", 1);
    setenv("KILN_FAKE_CUDA", folder_.c_str(), 1);
  }
  ~OnFakeGpu() override {
    for (const char* name : {"LD_LIBRARY_PATH", "KILN_FAKE_CUDA", "KILN_FAKE_CUDA_INIT", "KILN_FAKE_CUDA_SM"})
      unsetenv(name);
  }

  static std::string FreshFolder() {
    std::string name = testing::TempDir() + "kiln-on-gpu-XXXXXX";
    return mkdtemp(name.data());
  }

  // Compiles the program for the GPU and for the emulator, and writes the emulated kernels to the file that the fake
  // driver runs in place of the cubin.
  void StandIn(BuilderPool& builders, const Program& scheduled) const {
    const BuildResult cubin = builders.Submit(GpuKernelBuild(target_, scheduled, BuildOutput::kCubin)).get();
    const BuildResult emulated =
        builders.Submit(GpuKernelBuild(target_, scheduled, BuildOutput::kEmulated)).get();
    ASSERT_TRUE(cubin.ok() && emulated.ok()) << cubin.error << emulated.error;
    std::ofstream(PlaceOf(cubin), std::ios::binary) << emulated.outputs[0];
  }

  // Lets the fake driver run a short loop in C in place of the reference kernel, which would take seconds in the
  // emulator.
  void StandInForTheReferenceKernel(BuilderPool& builders) const {
    const BuildResult cubin =
        builders.Submit(GpuKernelBuild(target_, GpuReferenceKernelProgram(), BuildOutput::kCubin)).get();
    ASSERT_TRUE(cubin.ok()) << cubin.error;
    const Launch& launch = cubin.launches.launches.at(0);
    const std::string source = folder_ + "/reference.c";
    std::ofstream(source) << "int " << launch.kernel << "_arguments(void) { return "
                          << launch.arguments.size() << "; }\nint " << launch.kernel
                          << "_launch(void) { for (volatile int i = 0; i < 50000; ++i) {} return 0; }\n";
    ASSERT_EQ(system(absl::StrCat("cc -fPIC -shared ", source, " -o ", PlaceOf(cubin)).c_str()), 0);
  }

  void StandInForTrace(BuilderPool& builders, const Program& original, const std::string& trace) const {
    const auto parsed = ParseTrace(trace);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const auto replayed = Replay(*parsed, original, target_, {.snapshots = false});
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    StandIn(builders, replayed->program());
  }
  // Replays the trace of each program that a bundle times and writes the emulated kernels that the fake driver runs in
  // place of their cubins.
  void StandInForBundle(BuilderPool& builders, const Program& original, const std::string& bundle) const {
    std::ifstream index(bundle + "/bundle.txt");
    for (std::string line; std::getline(index, line);) {
      const auto item = nlohmann::json::parse(line.substr(line.find('\t') + 1));
      if (item["item"] == "time") StandInForTrace(builders, original, item["trace"].get<std::string>());
    }
  }

  const Target target_ = *NamedTarget("h100");
  const std::string folder_ = FreshFolder();

 private:
  std::string PlaceOf(const BuildResult& cubin) const {
    return absl::StrCat(folder_, "/", HashOfImage(ImageAt(cubin.outputs[0].data())), ".so");
  }
};

}  // namespace kiln
