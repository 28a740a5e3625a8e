// pin: fixed decisions and restricted sites and choices.
#include <gtest/gtest.h>

#include "modules/space.h"
#include "testing/matmul.h"
#include "tests/support/expect_module.h"
#include "trace/enumerate.h"

namespace kiln {
namespace {

constexpr char kSpace[] =
    "pin site=write-reuse to=1 | pin site=matmul/read-reuse to=0,2 | pin site=R2 to=2,8,4,4 |"
    " pin site=multi-level-tiling/matmul/S1 to=1,1,2,16 | each-block(multi-level-tiling) |"
    " pin site=max-unroll to=16 | parallelize-vectorize-unroll";

TEST(Pin, LeavesAPartOfSitesAndChoices) { ExpectModule("pin", kSpace, Matmul(12, 32, 16)); }

std::string WhyNot(const std::string& space) {
  const auto sketches = Enumerate(ParseSpace(space).value(), Matmul(12, 32, 16), Target());
  if (!sketches.ok()) return std::string(sketches.status().message());
  KILN_CHECK(sketches->sketches.empty() && !sketches->dropped.empty());
  const std::string why(sketches->dropped[0].reason.message());
  return why.substr(0, why.find('\n'));
}

TEST(Pin, SaysWhatCannotBeLeft) {
  EXPECT_EQ(
      WhyNot("pin site=R2 to=3,5 | each-block(multi-level-tiling)"),
      "step 3 does not apply: none of the decisions that are left, 3 5, is one of the support: 2 factors "
      "of 16, the last at most 256");
  EXPECT_EQ(WhyNot("pin site=write-reuse to=7 | each-block(multi-level-tiling)"),
            "choice multi-level-tiling/matmul/write-reuse is pinned to 7, but has 3 alternatives, from 0 on");
  EXPECT_EQ(WhyNot("pin site=R2 | each-block(multi-level-tiling)"), "the pin of R2 leaves nothing");
}

}  // namespace
}  // namespace kiln
