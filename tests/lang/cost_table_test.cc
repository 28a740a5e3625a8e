#include "lang/target/cost_table.h"

#include <gtest/gtest.h>

#include <set>

namespace kiln {
namespace {

TEST(CostTable, EachMemberHasARowWithUnitMachineAndCommand) {
  EXPECT_EQ(CostRows().size() * sizeof(int64_t), sizeof(CostTable));
  std::set<absl::string_view> names;
  for (const CostRow& row : CostRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const absl::string_view word : {row.unit, row.machine, row.command}) {
      EXPECT_FALSE(word.empty() || word == "not measured") << row.name;
    }
  }
}

TEST(CostTable, RowsSetOneMemberEach) {
  const CostTable usual;
  CostTable changed;
  for (const CostRow& row : CostRows()) row.SetIn(changed, row.ValueIn(usual) + 1);
  for (const CostRow& row : CostRows()) {
    EXPECT_EQ(row.ValueIn(changed), row.ValueIn(usual) + 1) << row.name;
    row.SetIn(changed, row.ValueIn(usual));
  }
  EXPECT_EQ(changed, usual);
}

}  // namespace
}  // namespace kiln
