// Tests that the sources of modules/ never read the expressions, index sums and accesses of a Program directly (such as
// `exprs[..]` or SumOf), but use analyses (lang/analysis/access.h, lang/analysis/axes.h). They may read buffers and
// nodes.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/house/source_tree.h"

namespace kiln::house {
namespace {

// Returns the internal vector of a Program that a line of C++ reads, such as "exprs[", or the function that reads
// one, such as "List(". Returns "" if there is neither.
std::string PoolReadBy(absl::string_view line) {
  for (const std::string pool : {"exprs[", "marks[", "splits[", "List(", "SumOf(", "Accesses("})
    if (absl::StrContains(line, absl::StrCat(".", pool))) return pool;
  return "";
}

TEST(Modules, AreFoundToReadPools) {
  EXPECT_EQ(PoolReadBy("  const Expr& e = p.exprs[load];"), "exprs[");
  EXPECT_EQ(PoolReadBy("for (const Id mark : s.program().List(dest.index))"), "List(");
  EXPECT_EQ(PoolReadBy("for (const Split& split : result[d].splits)"), "");
}

TEST(Modules, ReadNoPoolsOfPrograms) {
  for (const TextFile& file : ReadTree()) {
    if (!file.IsSource() || !absl::StartsWith(file.path, "modules/")) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_EQ(PoolReadBy(file.lines[i]), "")
          << file.path << ":" << i + 1
          << " reads a pool of the program; use lang/analysis/access.h or axes.h, "
          << "or write the analysis that is missing there";
    }
  }
}

}  // namespace
}  // namespace kiln::house
