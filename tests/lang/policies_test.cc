#include "lang/target/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "test_paths.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(Policies, AreOnUnlessTheyAreSwitchedOffByName) {
  const auto policies = Policies::Without("prefetch-streams, short-loops");
  ASSERT_TRUE(policies.ok()) << policies.status();
  EXPECT_FALSE(policies->Has(Policy::kPrefetchStreams));
  EXPECT_FALSE(policies->Has(Policy::kShortLoops));
  EXPECT_TRUE(policies->Has(Policy::kPrefetchPanels));
  EXPECT_EQ(policies->WithoutText(), "short-loops,prefetch-streams");
  EXPECT_EQ(Policies::Without(policies->WithoutText()).value(), *policies);
  EXPECT_TRUE(Policies::Without("")->AreUsual());
}

TEST(Policies, AreOffIfTheyAreOnRequestUnlessSomebodyAsks) {
  EXPECT_FALSE(Policies().Has(Policy::kPrefetchNests));
  const auto asked = Policies::Without("+prefetch-nests,short-loops");
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_TRUE(asked->Has(Policy::kPrefetchNests));
  EXPECT_EQ(asked->WithoutText(), "short-loops,+prefetch-nests");
  EXPECT_EQ(Policies::Without(asked->WithoutText()).value(), *asked);
  EXPECT_TRUE(Policies::Without("prefetch-nests")->AreUsual()) << "it is off anyway";
}

TEST(Policies, AnUnknownNameIsRefusedWithTheList) {
  const absl::Status refused = Policies::Without("prefetch").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(refused.message()),
      HasSubstr("unknown policy \"prefetch\"; known: merge-dims, forward-copies, densify-strided-reads,"));
  for (const PolicyRow& row : PolicyRows())
    EXPECT_THAT(std::string(refused.message()), HasSubstr(std::string(row.name)));
}

TEST(Policies, RowsStandInTheOrderOfTheirNumbers) {
  int number = 0;
  for (const PolicyRow& row : PolicyRows()) EXPECT_EQ(static_cast<int>(row.policy), number++) << row.name;
  EXPECT_LE(number, 64);
}

// docs/reference/policies.md has a row "| `NAME` | DOES | .. | [DECISION](..) |" for each policy, and no other rows.
TEST(Policies, ThePageSaysWhatEachDoes) {
  std::ifstream file(absl::StrCat(KILN_SOURCE_DIR, "/docs/reference/policies.md"));
  const std::string page(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> rows;
  for (const absl::string_view line : absl::StrSplit(page, '\n'))
    if (line.substr(0, 3) == "| `") rows.emplace_back(line);
  ASSERT_EQ(rows.size(), PolicyRows().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const PolicyRow& row = PolicyRows()[i];
    EXPECT_THAT(rows[i], ::testing::StartsWith(absl::StrCat("| `", row.name, "` | ", row.does, " | ")));
    const std::string decision =
        row.decision.empty() ? "" : absl::StrCat("[", row.decision, "](../decisions/", row.decision, "-");
    EXPECT_THAT(rows[i], HasSubstr(decision));
  }
}

}  // namespace
}  // namespace kiln
