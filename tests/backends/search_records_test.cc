// Searches of imported operators on the simulated machine measure the same candidates as they always did.
#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "gtest/gtest.h"
#include "lang/mixer.h"
#include "modules/tiling.h"
#include "search/database/memory_store.h"
#include "search/simulated_machine.h"
#include "search/tune.h"
#include "test_paths.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

// "NAME COUNT HASH": how many candidates were measured, and a hash of their traces in order.
std::string Line(const std::string& name) {
  const auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops/", name, ".mlir"));
  EXPECT_TRUE(imported.ok()) << imported.status();
  if (!imported.ok()) return "";
  const Target target;
  SimulatedMachine machine(target);
  const auto store = MakeMemoryStore();
  TuneOptions options;
  options.trials = 48;
  options.seed = 1;
  options.search.population.chains = 32;
  options.search.population.steps = 8;
  const auto results = Tune({{name, imported->program}}, CpuSpace, target, options, machine, *store);
  EXPECT_TRUE(results.ok()) << results.status();
  const std::vector<RecordRow> records = store->ReadAll()->records;
  Mixer all;
  for (const RecordRow& record : records)
    for (const char c : record.trace) all.Add(static_cast<uint64_t>(c));
  const Hash128 hash = all.Finish();
  return absl::StrCat(name, " ", records.size(), " ", absl::Hex(hash.high, absl::kZeroPad16),
                      absl::Hex(hash.low, absl::kZeroPad16), "\n");
}

TEST(SearchRecords, OfTwelveOperatorsAreTheSame) {
  std::string lines;
  for (const char* name : {"torch_matmul_128x3072x768", "torch_bmm_12x128x64", "torch_matvec_4096",
                           "jax_matmul_u8s8", "jax_conv2d_nhwc_3x3_bias_relu", "torch_conv2d_depthwise",
                           "onnx_Conv_group4", "torch_conv2d_transposed", "torch_softmax", "torch_layernorm",
                           "torch_maxpool", "torch_dense_bias_gelu"})
    lines += Line(name);
  ExpectGolden("search/records.txt", lines);
}

}  // namespace
}  // namespace kiln
