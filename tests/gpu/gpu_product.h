// Compiles scheduled programs for the fake driver (fake_cuda/fake_cuda.cc). Needs the headers of MLIR.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "backends/export/gpu_export.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/emulate.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/gpu/ptxas.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "gtest/gtest.h"
#include "test_paths.h"
#include "testing/compiled/hash_of_image.h"
#include "testing/compiled/loaded.h"

namespace kiln {

inline const std::string kFakeCuda =
    KILN_BUILD_DIR "/tests/fake_cuda";  // the folder of the fake libcuda.so.1

// Compiles a scheduled program for sm_90a: kernels, launches, PTX and cubin. Writes the library that the fake driver
// runs in place of the cubin to `folder`. After an error, fails the test and returns a product without code.
inline GpuProduct CompileForGpu(const Program& scheduled, const std::string& folder) {
  GpuProduct product{.chip = "sm_90a"};
  const auto planned = plan::PlanKernels(scheduled);
  EXPECT_TRUE(planned.ok()) << planned.status();
  if (!planned.ok()) return product;
  auto lowered = LowerKernels(planned->program, planned->plan, Context());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  if (!lowered.ok()) return product;
  EXPECT_EQ(ToNvvm(*lowered->module, lowered->launches), absl::OkStatus());
  const auto stages = ToPtx(*lowered->module, product.chip);
  EXPECT_TRUE(stages.ok()) << stages.status();
  const auto cubin = AssemblePtx(stages.ok() ? stages->ptx : "", product.chip);
  EXPECT_TRUE(cubin.ok()) << cubin.status();
  const auto emulated = EmulateKernels(*lowered->module, lowered->launches, "emulated");
  EXPECT_TRUE(emulated.ok()) << emulated.status();
  if (!cubin.ok() || !emulated.ok()) return product;
  product.cubin = cubin->bytes;
  product.ptx = stages->ptx;
  product.launches = lowered->launches;
  std::ofstream(folder + "/" + HashOfImage(ImageAt(product.cubin.data())) + ".so", std::ios::binary)
      << *emulated;
  return product;
}

}  // namespace kiln
