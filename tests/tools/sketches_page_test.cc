// Tests that docs/sketches.md has the right numbers of sketches, sites and programs in the default space for AVX2 with
// one core. `kiln_tools_test --gtest_filter='SketchesPage.*' --update-goldens` writes the numbers to the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/internal/input.h"
#include "backends/cpu/targets.h"
#include "modules/space.h"
#include "test_paths.h"
#include "tests/support/golden.h"
#include "tests/support/run_kiln.h"
#include "trace/enumerate.h"

namespace kiln {
namespace {

const std::string kSource = KILN_SOURCE_DIR;

// Enumerates the default space of an operator's MLIR file and returns cells of a table: the number of sketches, the
// fewest and the most sites of a sketch, the number of programs, and the number of dropped sketches.
std::string Counts(const std::string& file) {
  const auto input = api::LoadInput({.path = file, .text = "", .name = "", .function = ""}, {});
  EXPECT_TRUE(input.ok() && input->tasks.size() == 1) << file << " " << input.status();
  const Target target = NamedTarget("x86-64-v3").value();
  const auto space = Enumerate(ParseSpace(DefaultSpace(target)).value(), input->tasks[0].program, target);
  EXPECT_TRUE(space.ok() && !space->sketches.empty()) << file << " " << space.status();
  size_t least = space->sketches[0].sites.size(), most = 0;
  double programs = 0;
  for (const Sketch& sketch : space->sketches) {
    least = std::min(least, sketch.sites.size());
    most = std::max(most, sketch.sites.size());
    programs += std::exp(sketch.log_support);
  }
  return absl::StrFormat("%d | %d–%d | %.2g | %d", space->sketches.size(), least, most, programs,
                         space->dropped.size());
}

// Computes Kiln's columns in the first table of docs/sketches.md again and expects that the page is unchanged. The
// other columns are the operator and TVM's number of sketches.
TEST(SketchesPage, CountsWhatTheDefaultSpaceMakes) {
  std::vector<std::string> lines = absl::StrSplit(ReadText(kSource + "/docs/sketches.md"), '\n');
  int rows = 0;
  for (std::string& line : lines) {
    const std::vector<std::string> cells = absl::StrSplit(line, " | ");
    if (cells.size() != 6 || !absl::StrContains(cells[0], ",")) continue;
    const std::string name = absl::StrReplaceAll(cells[0], {{"| ", ""}, {",", ""}});
    if (name.empty() || !std::isdigit(static_cast<unsigned char>(name.back()))) continue;
    line = absl::StrCat(cells[0], " | ", cells[1], " | ",
                        Counts(absl::StrCat(kSource, "/bench/operators/", name, ".mlir")), " |");
    ++rows;
  }
  EXPECT_EQ(rows, 26);
  ExpectGolden("../../docs/sketches.md", absl::StrJoin(lines, "\n"));
}

}  // namespace
}  // namespace kiln
