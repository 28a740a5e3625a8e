#include <gtest/gtest.h>

#include "api/internal/store/record.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "tests/trace/matmul.h"

namespace kiln::api {
namespace {

TEST(BestOf, TakesARecordOfTheSamePoliciesAndCaches) {
  const Program task = Matmul(8, 8, 8);
  const Policies usual, without = Policies::Without("short-loops").value();
  RecordEntry entry;
  entry.workload.hash = ToString(HashOf(task));
  entry.workload.program = ToString(task);
  entry.target.fingerprint = "here";
  std::vector<RecordEntry> records;
  for (const auto& [id, seconds, policies, in_model] :
       {std::tuple(1, 3.0, usual, false), std::tuple(2, 2.0, usual, true),
        std::tuple(3, 1.0, without, false)}) {
    entry.record.id = id;
    entry.record.samples = {seconds};
    entry.record.flags.policies = policies;
    entry.record.flags.in_model = in_model;
    records.push_back(entry);
  }
  const auto best = [&](const std::string& fingerprint, const Policies& policies, Caches caches) {
    const RecordEntry* entry = BestOf(records, task, fingerprint, policies, caches);
    return entry != nullptr ? entry->record.id : 0;
  };
  EXPECT_EQ(best("here", usual, Caches::kWarm), 1);
  EXPECT_EQ(best("here", usual, Caches::kInModel), 2);
  EXPECT_EQ(best("here", without, Caches::kWarm), 3);
  EXPECT_EQ(best("here", without, Caches::kInModel), 0);
  EXPECT_EQ(best("there", usual, Caches::kWarm), 0);
}

}  // namespace
}  // namespace kiln::api
