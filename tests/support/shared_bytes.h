// Compares the shared memory that the validator's check gpu-shared counts for each GPU kernel of a program with the
// bytes that the compiled kernel takes. A search without a GPU trusts the check.
//
//   for (const SharedOfKernel& kernel : SharedOfKernels(program, planned)) EXPECT_GE(kernel.counted, kernel.taken);
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/kernel_plan.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "lang/analysis/legality.h"
#include "lang/threads/synchronization.h"
#include "validator/checks/check.h"

namespace kiln {

struct SharedOfKernel {
  std::string name;
  int64_t counted = 0, taken = 0;  // bytes
};

// Returns the first block at or below a node of the plan that is a block of the program; kNone if there is none, since
// plans have blocks of their own, too.
inline Id BlockBelow(const Program& program, const plan::Node& node) {
  if (const auto* leaf = node.As<plan::Leaf>())
    return leaf->block < std::ssize(program.nodes) && program.IsBlock(leaf->block) ? leaf->block : kNone;
  for (const plan::Nodes& arm : node.arms)
    for (const plan::Node& child : arm)
      if (const Id block = BlockBelow(program, child); block != kNone) return block;
  return kNone;
}

// Returns, for each kernel that PlanKernels made of the program, its name, the bytes of shared memory that the check
// gpu-shared counts, and the bytes of its launch. A kernel that only the plan has, without a block of the program, has
// 0 counted bytes. Returns an empty list if the program has no synchronization plan or the kernels cannot be listed.
inline std::vector<SharedOfKernel> SharedOfKernels(const Program& program, const plan::Planned& planned) {
  const auto kernels = Kernels(planned.program, planned.plan);
  const auto points = PlanSynchronization(program);
  if (!kernels.ok() || !points.ok()) return {};
  LoopNestSummary nests;
  nests.Read(program);
  const LaunchList list = LaunchesOf(planned.program, planned.plan.indices, *kernels);
  std::vector<SharedOfKernel> all;
  for (size_t k = 0; k < kernels->size(); ++k) {
    const Id block = BlockBelow(program, *(*kernels)[k].node);
    const int64_t counted = block == kNone ? 0 : SharedBytes(nests, NestOf(program, block), points->places);
    all.push_back({(*kernels)[k].name, counted, list.launches[k].shared_bytes});
  }
  return all;
}

// Returns an error message if a kernel takes more shared memory than the check gpu-shared counts. Returns "" if none
// does, or if SharedOfKernels returns an empty list.
inline std::string MoreSharedThanCounted(const Program& program, const plan::Planned& planned) {
  for (const SharedOfKernel& kernel : SharedOfKernels(program, planned)) {
    if (kernel.taken > kernel.counted)
      return absl::StrCat("kernel ", kernel.name, " takes ", kernel.taken,
                          " bytes of shared memory; the check counts ", kernel.counted);
  }
  return "";
}

}  // namespace kiln
