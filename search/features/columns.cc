#include "search/features/columns.h"

#include "absl/strings/str_cat.h"
#include "search/features/features.h"

namespace kiln {
namespace {

constexpr const char* kNames[] = {
    "float_add",
    "float_mul",
    "float_fma",
    "float_div",
    "float_compare",
    "float_special",
    "float_other",
    "int_add",
    "int_mul",
    "int_div",
    "int_compare",
    "int_other",
    "select",
    "cast",
    "within",
    "vectorized.loops",
    "vectorized.product",
    "vectorized.extent",
    "vectorized.spatial",
    "vectorized.reduction",
    "vectorized.inside",
    "unrolled.loops",
    "unrolled.product",
    "unrolled.extent",
    "unrolled.spatial",
    "unrolled.reduction",
    "unrolled.inside",
    "parallel.loops",
    "parallel.product",
    "parallel.extent",
    "parallel.spatial",
    "parallel.reduction",
    "parallel.inside",
    "nest.instances",
    "nest.loops",
    "nest.innermost_extent",
    "nest.innermost_reduces",
    "nest.straight_line",
    "nest.unrolled_code",
    "vector.lanes",
    "vector.registers",
    "vector.use",
    "tile.accumulators",
    "tile.register_need",
    "tile.loads_per_operation",
    "tile.stores_per_operation",
    "tile.vector_loads",
    "tile.broadcasts",
    "tile.gathers",
    "tile.result_stands",
    "masked.lanes",
    "masked.unrolled",
    "masked.innermost",
    "masked.outer",
    "masked.within_inner",
    "masked.within_outer",
    "access.contiguous",
    "access.standing",
    "access.strided",
    "store.stack",
    "store.register",
    "store.copy",
    "store.init",
    "store.partial",
    "store.reduces",
    "store.accumulates",
    "store.element",
    "parallel_chunks",
    "parallel_imbalance",
    "traffic.l1",
    "traffic.l2",
    "traffic.l3",
    "scattered.l1",
    "scattered.l2",
    "scattered.l3",
    "inside.l1",
    "inside.l2",
    "inside.l3",
};
static_assert(sizeof(kNames) / sizeof(kNames[0]) == kIntensity);

constexpr const char* kScalarNames[] = {"alloc.bytes",     "alloc.total",     "alloc.allocations",
                                        "alloc.instances", "roofline.inside", "roofline.outside",
                                        "roofline.cycles", "roofline.program"};
static_assert(kAllocBytes + 8 == kBuffers);

constexpr const char* kBufferNames[] = {
    "read",
    "write",
    "bytes",
    "unique_bytes",
    "lines",
    "unique_lines",
    "loop_reuse",
    "serial_reuse",
    "distance_iterations",
    "distance_bytes",
    "reuses",
    "bytes_per_reuse",
    "unique_bytes_per_reuse",
    "lines_per_reuse",
    "unique_lines_per_reuse",
    "stride",
};
static_assert(sizeof(kBufferNames) / sizeof(kBufferNames[0]) == kBufferColumns);

std::vector<std::string> MakeNames() {
  std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  for (int i = 1; i <= kIntensitySamples; ++i) names.push_back(absl::StrCat("intensity.", i));
  names.insert(names.end(), std::begin(kScalarNames), std::end(kScalarNames));
  for (int slot = 0; slot < kBufferSlots; ++slot) {
    for (const char* name : kBufferNames) names.push_back(absl::StrCat("buffer", slot, ".", name));
  }
  return names;
}

}  // namespace

int FeatureDim() { return kFeatureDim; }

const std::vector<std::string>& FeatureNames() {
  static const std::vector<std::string> names = MakeNames();
  return names;
}

}  // namespace kiln
