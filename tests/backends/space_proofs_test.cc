// Draws at least 2,000 schedules of the default space for the programs of tests/inputs/ops, and expects that 99 of 100
// are proven to compute the same as the originals.
#include "tests/backends/space_proofs.h"

#include <filesystem>

#include "backends/import/import.h"
#include "test_paths.h"

namespace kiln {
namespace {

constexpr int kTraces = 48;  // of each program; 2,000 in all

TEST(DefaultSpace, ComputesWhatTheInputsCompute) {
  int total = 0, proven = 0;
  proof::PresburgerProver prover({.limit = absl::Seconds(20)});
  const std::string folder = absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/ops");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto imported = ImportFile(file.path().string());
    if (!imported.ok()) continue;
    Target target;
    target.cores = 4;
    const ProvenTraces of_file =
        ProveTraces(file.path(), DefaultSpace(target), imported->program, target, kTraces, prover, 0);
    total += of_file.traces;
    proven += of_file.proven;
  }
  EXPECT_GE(total, 2000);
  EXPECT_GE(proven, total * 99 / 100);
  RecordProperty("proven", proven);
  fmt::print("{} of {} traces are proven\n", proven, total);
}

}  // namespace
}  // namespace kiln
