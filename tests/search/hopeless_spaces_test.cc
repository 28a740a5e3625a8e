// Tests faulty spaces: a search of one ends with a result or a message, and never hangs.
#include <gmock/gmock.h>

#include <chrono>
#include <future>

#include "absl/strings/str_cat.h"
#include "search/cost/xgboost_model.h"
#include "search/database/memory_store.h"
#include "search/measure/simulated_machine.h"
#include "search/propose/prefilter.h"
#include "search/run/tune.h"
#include "tests/search/tiling_space.h"
#include "tests/search/toy_spaces.h"

namespace kiln {
namespace {

constexpr int kSpaces = 50;
constexpr std::chrono::seconds kPatience(60);

// A faulty search space, with a strategy and a machine. The faults are drawn from `number`: a site without decisions,
// modules and choices that fail, refused programs, failing builds, crashes and hangs.
struct Faults {
  explicit Faults(int number) : dice(Engine{static_cast<uint64_t>(number), 77}) {
    empty_site = dice.Flip(0.2);
    failing_module = dice.Flip(0.2);
    failing_choice = dice.Flip(0.3);
    refused = std::vector<double>{0, 0, 0.5, 0.95, 1}[dice.Below(5)];
    machine = {.seed = static_cast<uint64_t>(number),
               .build_failures = dice.Flip(0.2) ? 1.0 : 0.1,
               .crashes = 0.2,
               .hangs = dice.Flip(0.2) ? 0.7 : 0.0};
    strategy = StrategyNames()[number % StrategyNames().size()];
  }

  SpaceFunction Space() const {
    return [f = *this](Schedule& s) {
      const Block block = s.GetBlock("matmul");
      const std::vector<Loop> loops = s.GetLoops(block);
      if (!s.ok()) return;
      if (f.failing_module) s.GetBlock("nobody");
      if (f.failing_choice && s.Choose("applies", 2) == 1) s.ReverseComputeInline(block);
      Schedule::TileOptions options;
      options.parts = 2;
      if (f.empty_site) options.multiple = {7, 7};
      if (s.ok()) s.Split(loops[0], std::vector<Factor>{s.SamplePerfectTile(loops[0], options, "i")});
      if (s.ok()) s.Split(loops[1], std::vector<Factor>{toy::Tile(s, loops[1], 2, 0, "j")});
    };
  }

  std::function<Prefilter()> Prefilters() const {
    return [share = refused] {
      return [share, prefilter = MakePrefilter(Target())](const Replayed& replayed, FeatureSet& features) {
        int64_t sum = 1;
        for (const ReplayedSite& site : replayed.sites) {
          for (const int64_t factor : site.decision) sum = sum * 31 + factor;
        }
        if (static_cast<double>(sum % 1009) < 1009 * share) return absl::FailedPreconditionError("refused");
        return prefilter(replayed, features);
      };
    };
  }

  RandomDice dice;
  bool empty_site = false, failing_module = false, failing_choice = false;
  double refused = 0;
  SimulatedOptions machine;
  std::string strategy;
};

absl::StatusOr<std::vector<TuneResult>> TuneOne(const Faults& faults, int number) {
  const auto store = MakeMemoryStore();
  const FakeClock clock;
  TuneOptions options;
  options.strategy = faults.strategy;
  options.trials = 48;
  options.seed = static_cast<uint64_t>(number);
  options.prefilter = faults.Prefilters();
  options.search.population.chains = 16;
  options.search.population.steps = 8;
  options.clock = &clock;
  options.model = [](int dim) {
    return MakeXgboostModel(dim, {.first_trees = 5, .more_trees = 2, .depth = 3});
  };
  SimulatedMachine machine(Target(), faults.machine);
  return Tune({{"matmul", Matmul(16, 16, 16), 0}}, faults.Space(), Target(), options, machine, *store);
}

TEST(HopelessSpaces, EndWithAResultOrAMessage) {
  int errors = 0, empty = 0, found = 0;
  for (int number = 0; number < kSpaces; ++number) {
    const Faults faults(number);
    auto tuned = std::async(std::launch::async, [&] { return TuneOne(faults, number); });
    if (tuned.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "space " << number << " hangs, " << faults.strategy;
      std::abort();
    }
    const auto results = tuned.get();
    if (!results.ok()) {
      ++errors;
      EXPECT_TRUE(absl::IsFailedPrecondition(results.status())) << number << ": " << results.status();
      EXPECT_THAT(std::string(results.status().message()), testing::StartsWith("task matmul: "));
    } else if (results->at(0).record == 0) {
      ++empty;
      EXPECT_FALSE(results->at(0).failures.empty()) << number;
    } else {
      ++found;
      EXPECT_FALSE(faults.empty_site || faults.failing_module || faults.refused == 1) << number;
    }
  }
  EXPECT_GT(errors, 10);
  EXPECT_GT(empty, 0);
  EXPECT_GE(found, 10);
}

}  // namespace
}  // namespace kiln
