// Tests every search strategy on the simulated machine: equal seeds give equal records with any number of threads, a
// stopped search resumes as if it had not stopped, and the best program of a small space is found. Also tests the names
// of strategies, and errors and traces of `exhaustive` and `replay`.
#include "search/strategies/strategy.h"

#include <gmock/gmock.h>

#include <set>

#include "absl/strings/str_join.h"
#include "search/measure/recorded_measurer.h"
#include "search/strategies/strategies.h"
#include "tests/search/small_searches.h"
#include "tests/search/toy_spaces.h"
#include "tests/support/page.h"
#include "trace/text.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Generates a space with a tile of two factors and an unroll choice: 36 programs in two sketches.
void SmallSpace(Schedule& s) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("matmul"));
  if (!s.ok()) return;
  if (s.Choose("order", 2) == 1) s.Reorder({loops[1], loops[0]});
  s.Split(loops[2], std::vector<Factor>{toy::Tile(s, loops[2], 2, 0, "k")});
  s.UnrollUpTo(s.SampleCategorical({1, 16, 64}, {}, "unroll"));
}

TuneOptions Options(const std::string& strategy, int trials, uint64_t seed = 3) {
  TuneOptions options = Small(trials, seed);
  options.strategy = strategy;
  options.finalists = 0;
  return options;
}

absl::StatusOr<std::vector<TuneResult>> TuneOn(const TuneOptions& options, const SpaceFunction& space,
                                               Store& store, const Program& program = Matmul(32, 32, 32)) {
  SimulatedMachine machine(Target(), {.noise = 0.01, .crashes = 0.05});
  return Tune({{"matmul", program, 0}}, space, Target(), options, machine, store);
}

std::vector<Trace> SomeTraces(const SpaceFunction& space, int n) {
  const auto store = MakeMemoryStore();
  EXPECT_TRUE(TuneOn(Options("random", n, 9), space, *store).ok());
  std::vector<Trace> traces;
  const StoreContents all = store->ReadAll().value();
  for (const RecordRow& row : all.records) traces.push_back(ParseTrace(row.trace).value());
  return traces;
}

class StrategyTest : public testing::TestWithParam<std::string> {
 protected:
  TuneOptions Own(int trials) const {
    TuneOptions options = Options(GetParam(), trials);
    if (GetParam() == "replay") options.search.replay = SomeTraces(TilingSpace, trials);
    if (GetParam() == "exhaustive") options.search.exhaustive_limit = 1 << 20;
    return options;
  }
  SpaceFunction Space() const { return GetParam() == "exhaustive" ? SmallSpace : TilingSpace; }
};

TEST_P(StrategyTest, SameSeedSameRecordsWithAnyNumberOfThreads) {
  TuneOptions options = Own(64);
  std::vector<std::vector<RecordRow>> records;
  for (const int threads : {1, 3}) {
    const auto store = MakeMemoryStore();
    options.threads = threads;
    const auto tuned = TuneOn(options, Space(), *store);
    ASSERT_TRUE(tuned.ok()) << tuned.status();
    records.push_back(store->ReadAll()->records);
  }
  EXPECT_GE(records[0].size(), 16u);
  EXPECT_EQ(records[0], records[1]);
}

TEST_P(StrategyTest, GoesOnAfterAnyBatchAsIfItHadNotStopped) {
  TuneOptions options = Own(64);
  const auto straight = MakeMemoryStore();
  int batches = 0;
  options.progress = [&](const TuneProgress&) { ++batches; };
  ASSERT_TRUE(TuneOn(options, Space(), *straight).ok());
  ASSERT_GE(batches, 2);
  for (int stop_after = 1; stop_after < batches; ++stop_after) {
    const auto store = MakeMemoryStore();
    std::atomic<bool> stop = false;
    int seen = 0;
    options.stop = &stop;
    options.progress = [&](const TuneProgress&) { stop = ++seen == stop_after; };
    EXPECT_TRUE(TuneOn(options, Space(), *store)->at(0).interrupted);
    stop = false;
    ASSERT_TRUE(TuneOn(options, Space(), *store).ok());
    EXPECT_EQ(store->ReadAll()->records, straight->ReadAll()->records) << "stopped after " << stop_after;
    EXPECT_THAT(store->Rounds(1).value(), SizeIs(batches));
  }
}

TEST_P(StrategyTest, FindsTheBestOfASmallSpace) {
  TuneOptions options = Options(GetParam(), 400);
  if (GetParam() == "replay") options.search.replay = SomeTraces(SmallSpace, 400);
  const auto store = MakeMemoryStore();
  const auto found = TuneOn(options, SmallSpace, *store);
  ASSERT_TRUE(found.ok()) << found.status();
  std::set<std::string> hashes;
  const StoreContents contents = store->ReadAll().value();
  for (const RecordRow& record : contents.records) EXPECT_TRUE(hashes.insert(record.program_hash).second);
  EXPECT_EQ(found->at(0).ended, "exhausted");

  const auto all = MakeMemoryStore();
  const TuneResult best = TuneOn(Options("exhaustive", 400), SmallSpace, *all)->at(0);
  EXPECT_EQ(found->at(0).latency, best.latency);
  EXPECT_EQ(hashes.size(), all->ReadAll()->records.size());
}

INSTANTIATE_TEST_SUITE_P(All, StrategyTest, testing::ValuesIn(StrategyNames()), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

TEST(Strategies, AreKnownByName) {
  const auto store = MakeMemoryStore();
  const absl::Status status = TuneOn(Options("luck", 16), TilingSpace, *store).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "unknown strategy \"luck\"; known: " + absl::StrJoin(StrategyNames(), ", "));
}

TEST(Strategies, ExhaustiveNamesTheSizeOfASpaceThatIsTooLarge) {
  TuneOptions options = Options("exhaustive", 16);
  options.search.exhaustive_limit = 30;
  const auto store = MakeMemoryStore();
  const absl::Status status = TuneOn(options, SmallSpace, *store).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the space has about 36 programs; exhaustive search lists at most 30"));
}

TEST(Strategies, ReplayTakesTracesOfOtherSpacesToo) {
  TuneOptions options = Options("replay", 100);
  options.search.replay = SomeTraces(SmallSpace, 5);
  const auto store = MakeMemoryStore();
  const TuneResult found = TuneOn(options, TilingSpace, *store)->at(0);
  EXPECT_EQ(found.trials, 5);
  std::set<std::string> wanted, measured;
  for (const Trace& trace : options.search.replay) wanted.insert(Print(trace));
  const StoreContents contents = store->ReadAll().value();
  for (const RecordRow& row : contents.records) measured.insert(row.trace);
  EXPECT_EQ(measured, wanted);
}

TEST(Strategies, ReplayWithoutTracesSaysSo) {
  const auto store = MakeMemoryStore();
  const absl::Status status = TuneOn(Options("replay", 16), TilingSpace, *store).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("none of the 0 traces to be replayed may be measured"));
}

TEST(Strategies, TheReferenceListsThem) {
#define KILN_ROW(name, make, proposes) "| `" name "` | " proposes " |",
  ExpectTable("docs/reference/cli.md", "| strategy | proposes |", {KILN_STRATEGIES(KILN_ROW)});
#undef KILN_ROW
}

}  // namespace
}  // namespace kiln
