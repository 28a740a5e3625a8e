// Draws at least 2,000 random traces from the default space of each of three CPUs, for the operators of
// tests/inputs/ops and bench/operators. Expects that the prover proves 99 of 100 equal to the original program. Prints
// how many draws the validator refused.
#include <filesystem>

#include "backends/import/import.h"
#include "test_paths.h"
#include "tests/backends/space_proofs.h"

namespace kiln {
namespace {

struct Machine {
  const char* space;
  int vector_bytes, vector_registers, cores;
  const char* features;
};

class DefaultSpaces : public testing::TestWithParam<Machine> {};

TEST_P(DefaultSpaces, ComputeWhatTheOriginalsCompute) {
  Target target;
  target.vector_bytes = GetParam().vector_bytes;
  target.vector_registers = GetParam().vector_registers;
  target.cores = GetParam().cores;
  target.features = GetParam().features;
  proof::PresburgerProver prover({.limit = absl::Seconds(20)});
  ProvenTraces total;
  for (const char* folder : {"/tests/inputs/ops", "/bench/operators"}) {
    for (const auto& file : std::filesystem::directory_iterator(absl::StrCat(KILN_SOURCE_DIR, folder))) {
      if (file.path().extension() != ".mlir") continue;
      const auto imported = ImportFile(file.path().string());
      if (!imported.ok()) continue;
      const ProvenTraces proven =
          ProveTraces(file.path(), GetParam().space, imported->program, target, 16, prover, 2'000'000);
      total.traces += proven.traces;
      total.proven += proven.proven;
      total.refused += proven.refused;
    }
  }
  RecordProperty("traces", total.traces);
  RecordProperty("refused", total.refused);
  std::cout << GetParam().space << ": " << total.traces << " traces, " << total.refused << " refused\n";
  EXPECT_GE(total.traces, 2000);
  EXPECT_GE(total.proven, total.traces * 99 / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, DefaultSpaces,
    testing::Values(Machine{"cpu dots=0", 32, 16, 1, ""}, Machine{"cpu dots=0", 64, 32, 4, ""},
                    Machine{"cpu", 64, 32, 1,
                            "+avx512vnni,+avx512bf16,+avx10.2,+amx-int8,+amx-bf16,+amx-fp16"}));

}  // namespace
}  // namespace kiln
