// Tests whole searches on the simulated machine.
#include "search/run/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "lang/base/defect.h"
#include "lang/text/hash.h"
#include "nlohmann/json.hpp"
#include "search/cost/xgboost_model.h"
#include "search/database/memory_store.h"
#include "search/measure/recorded_measurer.h"
#include "search/measure/simulated_machine.h"
#include "tests/search/small_searches.h"
#include "tests/search/tiling_space.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Tune, BeginsWithWhatAnInformedModelPrefers) {
  SimulatedMachine machine{Target()};
  double informed = 0, blind = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    const auto first = MakeMemoryStore(), second = MakeMemoryStore();
    TuneOptions options = Small(16, seed);
    blind += std::log(machine.Seconds(MustTune(options, machine, *first)[0].program));
    options.model = nullptr;
    informed += std::log(machine.Seconds(MustTune(options, machine, *second)[0].program));
  }
  EXPECT_LT(informed, blind);
}

TEST(Tune, FindsAFasterProgramThanRandomSearch) {
  SimulatedMachine machine{Target()};
  double annealed = 0, random = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    const auto first = MakeMemoryStore(), second = MakeMemoryStore();
    TuneOptions options = Small(96, seed);
    annealed += std::log(machine.Seconds(MustTune(options, machine, *first)[0].program));
    options.strategy = "random";
    random += std::log(machine.Seconds(MustTune(options, machine, *second)[0].program));
  }
  EXPECT_LT(annealed, random);
}

TEST(Tune, DrawsFromThePriorAloneInRandomSearch) {
  const auto traces = [](double neighbour_share) {
    SimulatedMachine machine{Target()};
    const auto store = MakeMemoryStore();
    TuneOptions options = Small(48, 1);
    options.strategy = "random";
    options.search.neighbour_share = neighbour_share;
    MustTune(options, machine, *store);
    std::vector<std::string> traces;
    for (const RecordRow& record : RecordsOf(*store)) traces.push_back(record.trace);
    return traces;
  };
  EXPECT_EQ(traces(1), traces(0));
}

// Returns tasks with matmuls of different sizes, so that no two are equal.
std::vector<TuneTask> Products(int count) {
  std::vector<TuneTask> tasks;
  for (int i = 0; i < count; ++i)
    tasks.push_back({absl::StrCat("matmul_", i), Matmul(32, 32, 16 * (i + 1)), 0});
  return tasks;
}

TEST(Tune, GivesEachTaskATurnBeforeAnyGetsASecond) {
  for (const auto& [trials, count] : {std::pair{16, 2}, {32, 3}, {12, 22}, {7, 7}, {100, 3}}) {
    SimulatedMachine machine{Target()};
    const auto store = MakeMemoryStore();
    int total = 0, with_turn = 0;
    for (const TuneResult& result : MustTune(Small(trials, 1), machine, *store, Products(count))) {
      total += result.trials;
      with_turn += result.trials > 0;
    }
    EXPECT_EQ(total, trials) << count;
    EXPECT_EQ(with_turn, std::min(trials, count)) << trials;
  }
}

// Returns a program to which TilingSpace does not apply, because it has no block called matmul.
Program WithoutSchedule() {
  Builder b("scale");
  const Id X = b.Input("X", DType::kF32, {8}), Y = b.Output("Y", DType::kF32, {8});
  b.Compute("scale", {{"i", 8}}, {Y, {b.Iter(0)}}, b.Add(b.Load(X, {b.Iter(0)}), b.Float(DType::kF32, 1)));
  return b.Finish();
}

TEST(Tune, GoesOnWithoutATaskThatFailsAndSaysWhy) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  const auto results = MustTune(Small(20, 1), machine, *store,
                                {{"scale", WithoutSchedule()}, OneTask()[0], {"last", Matmul(60, 60, 60)}});
  EXPECT_EQ(results[0].trials, 0);
  EXPECT_EQ(results[0].ended, "failed");
  EXPECT_EQ(results[0].failed, "the space gives no sketch that applies");
  EXPECT_EQ(results[1].trials + results[2].trials, 20);
  EXPECT_GT(results[2].record, 0);
}

TEST(Tune, FailsWhereEveryTaskFails) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  const auto results =
      Tune({{"scale", WithoutSchedule()}}, TilingSpace, Target(), Small(20, 1), machine, *store);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(results.status().message(), "task scale: the space gives no sketch that applies");
}

TEST(Tune, BeginsWithTracesOfItsUsers) {
  SimulatedMachine machine{Target()};
  const auto before = MakeMemoryStore(), store = MakeMemoryStore();
  MustTune(Small(16, 7), machine, *before);
  const Trace known = ParseTrace(RecordsOf(*before)[9].trace).value();
  const Trace own = ParseTrace(R"(kiln.trace v2
b0 = get-block "matmul"
l0, l1, l2 = get-loops b0
v0 = sample-perfect-tile l1 n=2 innermost=64 @mine -> 4 32
l3, l4 = split l1 v0
reorder l2 l4
vectorize l4
)")
                        .value();
  TuneOptions options = Small(32, 1);
  options.start = {known, own, known};
  MustTune(options, machine, *store, {OneTask()[0], {"other", Matmul(60, 60, 60), 0}});
  std::vector<std::string> first;
  bool moved = false;  // true if a later trial mutated the start trace with a sketch of its own
  for (const RecordRow& record : RecordsOf(*store)) {
    if (record.task != 0) continue;
    if (record.trial < 2) first.push_back(record.trace);
    moved |= record.trial >= 2 && absl::StrContains(record.trace, "@mine");
  }
  EXPECT_THAT(first, ElementsAre(Print(known), Print(own)));
  EXPECT_TRUE(moved);
}

TEST(Tune, BeginsWithTheTracesOfATask) {
  SimulatedMachine machine{Target()};
  const auto before = MakeMemoryStore(), store = MakeMemoryStore();
  MustTune(Small(16, 7), machine, *before);
  std::vector<TuneTask> tasks = OneTask();
  tasks[0].start = {ParseTrace(RecordsOf(*before)[9].trace).value()};
  MustTune(Small(16, 1), machine, *store, tasks);
  EXPECT_EQ(RecordsOf(*store)[0].trace, Print(tasks[0].start[0]));
}

TEST(Tune, SaysThatATraceToStartFromFitsNoTask) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  TuneOptions options = Small(16, 1);
  options.start = {ParseTrace("kiln.trace v2\nb0 = get-block \"conv\"\n").value()};
  const auto results = Tune(OneTask(), TilingSpace, Target(), options, machine, *store);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(results.status().message(),
              testing::HasSubstr("a trace to start from fits none of the tasks: "));
}

TEST(Tune, ReturnsTheProgramOfItsTraceAndItsRecord) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  const TuneResult best = MustTune(Small(32, 1), machine, *store)[0];
  EXPECT_EQ(best.name, "matmul");
  EXPECT_EQ(best.trials, 32);
  EXPECT_FALSE(best.interrupted);
  EXPECT_NEAR(best.latency, machine.Seconds(best.program), 0.1 * best.latency);
  const auto replayed = Replay(best.trace, OneTask()[0].program, Target());
  ASSERT_TRUE(replayed.ok());
  EXPECT_TRUE(Equal(replayed->program(), best.program));
  EXPECT_EQ(Seconds(store->Get(best.record)->record), best.latency);
  const RunRow run = store->ReadAll()->runs[0];
  EXPECT_TRUE(run.finished);
  EXPECT_EQ(run.xgboost_version, XgboostVersion());
}

TEST(Tune, RacesTheVeryTracesThatWereMeasured) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  MustTune(Small(112, 3), machine, *store, {OneTask()[0], {"wide", Matmul(32, 256, 64), 0}});
  std::set<std::string> measured, raced;
  for (const RecordRow& record : RecordsOf(*store))
    (record.flags.race ? raced : measured).insert(record.trace);
  EXPECT_THAT(raced, SizeIs(12));  // for each task the three fastest, and three that the model prefers
  for (const std::string& trace : raced) EXPECT_TRUE(measured.contains(trace)) << trace;
}

TEST(Tune, TurnsAwayFinalistsThatAreRefuted) {
  if (!HasDefects()) GTEST_SKIP() << "schedules are wrong only where a defect is planted";
  SimulatedMachine machine{Target()};
  const std::vector<TuneTask> tasks = {{"matmul", Matmul(4, 8, 4), 256}};
  const auto store = MakeMemoryStore();
  PlantDefect("split.stride");
  const TuneResult best = MustTune(Small(32, 1), machine, *store, tasks)[0];
  PlantDefect("");
  int refuted = 0;
  for (const RecordRow& record : RecordsOf(*store)) refuted += record.status == outcome::kWrongResult;
  EXPECT_GT(refuted, 0);
  if (best.record == 0) return;
  EXPECT_NE(Prove(tasks[0].program, best.program).verdict, Proof::Verdict::kRefuted) << Print(best.trace);
}

TEST(Tune, NeverMeasuresAProgramTwice) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  TuneOptions options = Small(96, 5);
  options.finalists = 0;
  MustTune(options, machine, *store);
  std::set<std::string> hashes;
  for (const RecordRow& record : RecordsOf(*store)) EXPECT_TRUE(hashes.insert(record.program_hash).second);
  EXPECT_EQ(hashes.size(), 96);
}

TEST(Tune, KnowsWhatEarlierRunsHaveMeasured) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  TuneOptions options = Small(48, 1);
  const TuneResult first = MustTune(options, machine, *store)[0];
  options.seed = 2;
  const TuneResult second = MustTune(options, machine, *store)[0];
  EXPECT_LE(machine.Seconds(second.program), 1.05 * machine.Seconds(first.program));
  std::set<std::string> hashes;
  int trials = 0;
  for (const RecordRow& record : RecordsOf(*store)) {
    if (record.flags.race) continue;
    hashes.insert(record.program_hash);
    ++trials;
  }
  EXPECT_EQ(trials, 96);
  EXPECT_EQ(hashes.size(), 96);
}

// With cold caches, a search ignores records that were measured with warm caches.
TEST(Tune, TakesNothingFromRecordsOfOtherCaches) {
  SimulatedMachine machine{Target()};
  const auto traces = [&](Store& store) {
    TuneOptions options = Small(16, 1);
    options.cold = true;
    const RowId run = MustTune(options, machine, store)[0].run;
    std::vector<std::string> found;
    for (const RecordRow& row : RecordsOf(store)) {
      if (row.run == run) found.push_back(row.trace);
    }
    return found;
  };
  const auto fresh = MakeMemoryStore(), used = MakeMemoryStore();
  MustTune(Small(16, 1), machine, *used);
  EXPECT_EQ(traces(*used), traces(*fresh));
}

TEST(Tune, TakesNothingFromRecordsOfAnotherMachine) {
  SimulatedMachine machine{Target()};
  const auto begin = [&](Store& store, const std::string& fingerprint) {
    Target target;
    target.fingerprint = fingerprint;
    const auto results = Tune(OneTask(), TilingSpace, target, Small(16, 1), machine, store);
    EXPECT_TRUE(results.ok()) << results.status();
    const auto rows = RecordsOf(store);
    std::vector<std::string> traces;
    for (const RecordRow& row : rows) {
      if (row.target == rows.back().target) traces.push_back(row.trace);
    }
    return traces;
  };
  const auto fresh = MakeMemoryStore(), used = MakeMemoryStore();
  begin(*used, "a machine");
  EXPECT_EQ(begin(*used, "another"), begin(*fresh, "another"));
}

TEST(Tune, DoesTheSameWithAnyNumberOfThreads) {
  SimulatedMachine machine{Target()};
  Recording recording;
  RecordedMeasurer recorded(recording, &machine);
  std::vector<std::vector<RecordRow>> records;
  for (const int threads : {1, 2, 4}) {
    const auto store = MakeMemoryStore();
    TuneOptions options = Small(64, 7);
    options.threads = threads;
    MustTune(options, recorded, *store);
    records.push_back(RecordsOf(*store));
  }
  EXPECT_THAT(records[0], SizeIs(64 + 6));
  EXPECT_EQ(records[1], records[0]);
  EXPECT_EQ(records[2], records[0]);
}

TEST(Tune, GoesOnAfterAnyBatchAsIfItHadNotStopped) {
  SimulatedMachine machine{Target()};
  const std::vector<TuneTask> tasks = {OneTask()[0], {"wide", Matmul(32, 256, 64), 0}};
  Recording recording;
  RecordedMeasurer recorded(recording, &machine);
  const auto straight = MakeMemoryStore();
  int batches = 0;
  TuneOptions options = Small(112, 3);
  options.progress = [&](const TuneProgress&) { ++batches; };
  const auto wanted = MustTune(options, recorded, *straight, tasks);
  ASSERT_GE(batches, 6);
  for (int stop_after = 1; stop_after <= batches; ++stop_after) {
    const auto store = MakeMemoryStore();
    std::atomic<bool> stop = false;
    int seen = 0;
    options.stop = &stop;
    options.progress = [&](const TuneProgress&) { stop = ++seen == stop_after; };
    EXPECT_TRUE(MustTune(options, recorded, *store, tasks)[0].interrupted);
    stop = false;
    options.threads = 2;
    const auto results = MustTune(options, recorded, *store, tasks);
    EXPECT_EQ(RecordsOf(*store), RecordsOf(*straight)) << "stopped after batch " << stop_after;
    for (size_t t = 0; t < tasks.size(); ++t) {
      EXPECT_EQ(results[t].latency, wanted[t].latency);
      EXPECT_EQ(results[t].trace, wanted[t].trace);
      EXPECT_EQ(results[t].trials, wanted[t].trials);
    }
    EXPECT_THAT(store->ReadAll()->runs, SizeIs(1));
  }
}

TEST(Tune, RecordsFailuresByClassAndChoosesNone) {
  SimulatedMachine machine(
      Target(),
      {.build_failures = 0.1, .crashes = 0.1, .hangs = 0.1, .memory_hogs = 0.1, .wrong_results = 0.1});
  const auto store = MakeMemoryStore();
  const TuneResult best = MustTune(Small(96, 1), machine, *store)[0];
  EXPECT_EQ(best.trials, 96);
  EXPECT_EQ(machine.Fate(best.program), outcome::kOk);
  std::map<std::string, int> failures;
  for (const RecordRow& record : RecordsOf(*store)) {
    if (record.status != outcome::kOk) ++failures[record.status];
  }
  EXPECT_EQ(failures, best.failures);
  for (const char* status : {"build_failed", "crashed", "timed_out", "out_of_memory", "wrong_result"})
    EXPECT_GT(failures[status], 0) << status;
}

TEST(Tune, EndsWithoutAResultWhenEverythingFails) {
  SimulatedMachine machine(Target(), {.crashes = 1});
  const auto store = MakeMemoryStore();
  const TuneResult best = MustTune(Small(32, 1), machine, *store)[0];
  EXPECT_EQ(best.record, 0);
  EXPECT_TRUE(std::isinf(best.latency));
  EXPECT_EQ(best.failures.at("crashed"), 32);
}

TEST(Tune, TakesTurnsBetweenTasks) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  std::vector<int> turns;
  TuneOptions options = Small(80, 1);
  options.scheduling = Scheduling::kRoundRobin;
  options.progress = [&](const TuneProgress& p) { turns.push_back(p.task); };
  const auto results = MustTune(options, machine, *store, {OneTask()[0], {"wide", Matmul(32, 256, 64), 0}});
  EXPECT_THAT(turns, ElementsAre(0, 1, 0, 1, 0));
  EXPECT_EQ(results[0].trials + results[1].trials, 80);
}

TEST(Tune, ReportsEachRound) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  std::vector<TuneProgress> rounds;
  TuneOptions options = Small(48, 1);
  options.progress = [&](const TuneProgress& p) { rounds.push_back(p); };
  MustTune(options, machine, *store);
  ASSERT_THAT(rounds, SizeIs(3));
  EXPECT_EQ(rounds[0].rank_accuracy, std::nullopt);
  EXPECT_GT(rounds[2].rank_accuracy.value_or(0), 0);
  EXPECT_EQ(rounds[2].total_trials, 48);
  EXPECT_GT(rounds[2].gflops, 0);
  EXPECT_EQ(rounds[2].chains.proposed, 32 * 8);
}

TEST(Tune, EndsWhenTheSpaceIsExhausted) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  const TuneResult best = MustTune(Small(2000, 1), machine, *store, {{"tiny", Matmul(2, 2, 2), 0}})[0];
  EXPECT_GT(best.trials, 4);
  EXPECT_LT(best.trials, 500);
}

TEST(Tune, EndsBetweenRoundsWhenTheTimeIsUp) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  const FakeClock clock(1);  // each look at the clock adds a second
  TuneOptions options = Small(1000, 1);
  options.clock = &clock;
  options.seconds = 6;
  const TuneResult best = MustTune(options, machine, *store)[0];
  EXPECT_GT(best.record, 0);
  EXPECT_GE(best.trials, 16);
  EXPECT_LT(best.trials, 200);
  EXPECT_TRUE(store->ReadAll()->runs[0].finished);
}

TEST(Tune, SaysWhichTaskHasNoProgramToMeasure) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  TuneOptions options = Small(16, 1);
  options.prefilter = [] {
    return [](const Replayed&, FeatureSet&) { return absl::FailedPreconditionError("no"); };
  };
  const auto results = Tune(OneTask(), TilingSpace, Target(), options, machine, *store);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(results.status().message()), testing::HasSubstr("task matmul: none of 100 draws"));
}

TEST(Tune, TunesEqualTasksOnce) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  std::vector<TuneTask> tasks(3, OneTask()[0]);
  tasks[1] = {"wide", Matmul(32, 256, 64), 0};
  tasks[2].name = "again";
  std::set<int> told;
  TuneOptions options = Small(48, 1);
  options.progress = [&](const TuneProgress& p) { told.insert(p.task); };
  const auto results = MustTune(options, machine, *store, tasks);
  EXPECT_THAT(told, ElementsAre(0, 1));
  EXPECT_EQ(results[2].name, "again");
  EXPECT_EQ(results[2].record, results[0].record);
  EXPECT_EQ(results[0].trials + results[1].trials, 48);
  EXPECT_THAT(store->ReadAll()->workloads, SizeIs(2));
}

TEST(Tune, GivesMostRoundsToTheTaskThatOccursMostOften) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  std::vector<TuneTask> tasks = {OneTask()[0], OneTask()[0]};
  tasks[1].program = Matmul(128, 128, 64);
  tasks[1].weight = 50;
  const auto results = MustTune(Small(192, 1), machine, *store, tasks);
  EXPECT_GT(results[1].trials, 2 * results[0].trials);
}

TEST(Tune, EndsATaskNearItsRoofline) {
  SimulatedMachine machine{Target()};
  const auto unlimited = MakeMemoryStore(), limited = MakeMemoryStore();
  std::vector<TuneTask> tasks = OneTask();
  TuneOptions options = Small(96, 1);
  tasks[0].roofline_seconds = MustTune(options, machine, *unlimited, tasks)[0].latency;
  options.until_roofline = 0.5;
  const TuneResult best = MustTune(options, machine, *limited, tasks)[0];
  EXPECT_EQ(best.ended, "roofline");
  EXPECT_LT(best.trials, 96);
  EXPECT_LE(best.latency, 1.55 * tasks[0].roofline_seconds);
}

TEST(Tune, EndsATaskWhoseLastTrialsGainedTooLittle) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  TuneOptions options = Small(2000, 1);
  options.least_gain = 0.02;
  const TuneResult best = MustTune(options, machine, *store)[0];
  EXPECT_EQ(best.ended, "gain");
  EXPECT_GT(best.trials, 64);
  EXPECT_LT(best.trials, 1000);
}

// Records keep all samples of a program: of a quick measurement, of a thorough one, and of the race of the best
// programs. Expects at least three different numbers of samples, and two raw numbers for each sample.
TEST(Tune, KeepsWholeTimings) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  MustTune(Small(48, 1), machine, *store);
  std::set<size_t> lengths;
  for (const RecordRow& record : RecordsOf(*store)) {
    EXPECT_EQ(record.raw_samples.size(), 2 * record.samples.size());
    lengths.insert(record.samples.size());
  }
  EXPECT_GE(lengths.size(), 3u);
}

TEST(Tune, KeepsWhatIsToldOfRounds) {
  SimulatedMachine machine{Target()};
  const auto store = MakeMemoryStore();
  const TuneResult best = MustTune(Small(48, 1), machine, *store)[0];
  const std::vector<RoundRow> rounds = store->Rounds(best.run).value();
  ASSERT_THAT(rounds, SizeIs(3));
  EXPECT_EQ(rounds[2].trials, 48);
  const auto json = nlohmann::json::parse(rounds[2].statistics);
  EXPECT_EQ(json["batch"], 16);
  EXPECT_GT(json["rank_accuracy"], 0);
  EXPECT_GT(json["chains"]["proposed"], 0);
  for (const char* phase : {"propose", "features", "predict", "run", "train", "store"})
    EXPECT_GT(json["seconds"][phase], 0) << phase;
}

}  // namespace
}  // namespace kiln
