// Tests that docs/fuzzing.md lists exactly the faults that tests inject into GPU kernels
// (tests/gpu/*injections_test.cc), and the defects that are planted in Kiln's code, with what found each
// (tests/fuzz/results/defects.json).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tests/house/source_tree.h"
#include "tests/support/page.h"

namespace kiln {
namespace {

const std::string kPage = "docs/fuzzing.md";

// The rows of a table: one row for each key, in the order in which keys were first added, with all entries that were
// added for the key.
class Rows {
 public:
  using Row = std::pair<std::string, std::vector<std::string>>;
  void Add(const std::string& key, const std::string& what) {
    const auto same = [&](const auto& row) { return row.first == key; };
    auto row = std::find_if(rows_.begin(), rows_.end(), same);
    if (row == rows_.end()) row = rows_.insert(row, {key, {}});
    row->second.push_back(what);
  }
  // Sorts the rows by their number of entries, most entries first. The sort is stable.
  void SortBySize() {
    std::vector<Row> sorted;
    for (size_t size = 0; sorted.size() < rows_.size(); ++size)
      for (auto row = rows_.rbegin(); row != rows_.rend(); ++row)
        if (row->second.size() == size) sorted.insert(sorted.begin(), *row);
    rows_ = sorted;
  }
  std::vector<std::string> Text(const char* separator) const {
    std::vector<std::string> text;
    for (const auto& [key, all] : rows_)
      text.push_back(absl::StrCat("| ", key, " | ", absl::StrJoin(all, separator), " |"));
    return text;
  }

 private:
  std::vector<Row> rows_;
};

std::string TextOf(const std::string& path) { return absl::StrJoin(LinesOf(path), "\n"); }

TEST(FuzzingPage, ListsTheFaultsThatAreInjectedIntoKernels) {
  const std::string source =
      TextOf("tests/gpu/injections_test.cc") + TextOf("tests/gpu/swizzle_injections_test.cc");
  const std::regex injection(R"re(\{"([^"]+)",\s*(k\w+(?:\s*\|\s*k\w+)*),)re"), finder("k([A-Z]\\w*)");
  Rows rows;
  int64_t faults = 0;
  for (std::sregex_iterator it(source.begin(), source.end(), injection); it != std::sregex_iterator(); ++it) {
    const std::string finders = (*it)[2];
    std::vector<std::string> names;
    for (std::sregex_iterator f(finders.begin(), finders.end(), finder); f != std::sregex_iterator(); ++f) {
      names.push_back((*f)[1]);
      names.back()[0] = static_cast<char>(std::tolower(names.back()[0]));
    }
    rows.Add(absl::StrJoin(names, ", "), (*it)[1]);
    ++faults;
  }
  EXPECT_GE(faults, 36);
  ExpectTable(kPage, "| found by | injected faults |", rows.Text("; "));
}

TEST(FuzzingPage, ListsWhatFoundEachPlantedDefect) {
  const auto found = nlohmann::json::parse(TextOf("tests/fuzz/results/defects.json"));
  Rows rows;
  int64_t pairs = 0, of_plans = 0;
  for (const auto& row : found) {
    const std::string defect = row["defect"];
    if (absl::StartsWith(defect, "plan.")) {
      ++of_plans;
    } else {
      pairs += row["pairs"].get<int64_t>();
      rows.Add(row["property"], absl::StrCat(defect, " ", row["pairs"].get<int64_t>()));
    }
  }
  rows.SortBySize();
  ExpectTable(kPage, "| found by | defects, and after how many pairs |", rows.Text(", "));
  const std::string page = absl::StrJoin(LinesOf(kPage), " ");
  for (const std::string& part :
       {absl::StrCat("all ", found.size(), " must be found"),
        absl::StrCat("without the ", of_plans, " of loop plans"), absl::StrCat(pairs, " pairs in all"),
        absl::StrCat("The ", of_plans, " planted defects of the passes")})
    EXPECT_TRUE(absl::StrContains(page, part)) << part;
}

TEST(FuzzingPage, EachPlantedDefectIsFoundByTheFuzzerOrByATest) {
  const auto names = [](const std::string& text, const std::string& pattern) {
    std::set<std::string> names;
    const std::regex name(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), name); it != std::sregex_iterator(); ++it)
      names.insert((*it)[1]);
    return names;
  };
  std::set<std::string> planted, found;
  for (const house::TextFile& file : house::ReadTree()) {
    if (absl::EndsWith(file.path, ".cc") && !absl::StartsWith(file.path, "tests/"))
      planted.merge(names(absl::StrJoin(file.lines, "\n"), "KILN_DEFECT\\(\"([^\"]+)\"\\)"));
  }
  found.merge(names(TextOf("tests/fuzz/results/defects.json"), "\"defect\": \"([^\"]+)\""));
  found.merge(names(TextOf("tests/lang/planted_defects_test.cc"), "PlantDefect\\(\"([^\"]+)\"\\)"));
  EXPECT_EQ(planted, found);
}

}  // namespace
}  // namespace kiln
