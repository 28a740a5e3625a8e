#include "search/propose/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Candidate At(int64_t x, int64_t y, double energy, int sketch = 0) {
  return {sketch, {Decision{x}, Decision{y}}, energy};
}

// A source of candidates (x, y), whose n-th candidate is make(n). In these tests, draws from the prior are (100, 0),
// (101, 0), ..., neighbors of the best are (0, 500), (0, 501), ..., and candidates with equal x + y are one program.
class Numbered final : public CandidateSource {
 public:
  explicit Numbered(std::function<Candidate(int)> make) : make_(std::move(make)) {}
  std::optional<Candidate> Next() override { return make_(given_++); }
  int given() const { return given_; }

 private:
  const std::function<Candidate(int)> make_;
  int given_ = 0;
};

struct Fake {
  Numbered prior{[](int n) { return At(100 + n, 0, 0); }};
  Numbered neighbours{[](int n) { return At(0, 500 + n, 0); }};
  BatchSources sources() {
    return {prior, neighbours, [](const Candidate& c) -> std::optional<std::string> {
              if (c.decisions[0][0] < 0) return std::nullopt;
              return absl::StrCat(c.sketch, ":", c.decisions[0][0] + c.decisions[1][0]);
            }};
  }
};

std::vector<std::string> Hashes(const std::vector<Picked>& batch) {
  std::vector<std::string> hashes;
  for (const Picked& picked : batch) hashes.push_back(picked.hash);
  return hashes;
}

std::vector<Picked> SelectBatch(std::vector<Candidate> candidates, const BatchSources& sources,
                                const BatchOptions& options, Dice& dice,
                                absl::flat_hash_set<std::string>& measured) {
  std::vector<Picked> batch = SelectUnsearched(sources, options, dice, measured);
  SelectSearched(std::move(candidates), sources, options, dice, measured, &batch);
  return batch;
}

std::vector<Picked> Select(std::vector<Candidate> candidates, const BatchOptions& options,
                           absl::flat_hash_set<std::string> measured = {}) {
  Fake fake;
  RandomDice dice(Engine{1});
  return SelectBatch(std::move(candidates), fake.sources(), options, dice, measured);
}

TEST(Batch, GrowsWithWhatIsDone) {
  EXPECT_EQ(BatchSize(0), 16);
  EXPECT_EQ(BatchSize(48), 24);
  EXPECT_EQ(BatchSize(1000), 64);
}

TEST(Batch, TakesTheLowestEnergies) {
  const auto batch = Select({At(1, 0, 3), At(2, 0, 1), At(3, 0, 2)},
                            {.size = 2, .random_share = 0, .neighbour_share = 0, .diversity = 0});
  EXPECT_THAT(Hashes(batch), ElementsAre("0:2", "0:3"));
}

TEST(Batch, NeverTakesAProgramTwiceOrOneThatWasMeasured) {
  const auto batch = Select({At(1, 1, 1), At(2, 0, 2), At(3, 0, 3), At(4, 0, 4)},
                            {.size = 2, .random_share = 0, .neighbour_share = 0, .diversity = 0}, {"0:3"});
  EXPECT_THAT(Hashes(batch), ElementsAre("0:2", "0:4"));
}

TEST(Batch, PrefersWhatIsUnlikeThePicked) {
  const auto batch = Select({At(1, 1, 0), At(1, 2, 0.1), At(7, 8, 0.2), At(1, 3, 0.15, 1)},
                            {.size = 3, .random_share = 0, .neighbour_share = 0, .diversity = 0.4});
  EXPECT_THAT(Hashes(batch), ElementsAre("0:2", "1:4", "0:15"));
}

TEST(Batch, FillsUpWithDrawsFromThePrior) {
  const auto batch =
      Select({At(1, 1, 0)}, {.size = 3, .random_share = 0, .neighbour_share = 0, .diversity = 0});
  EXPECT_THAT(Hashes(batch), ElementsAre("0:2", "0:100", "0:101"));
  EXPECT_FALSE(batch[0].random);
  EXPECT_TRUE(batch[1].random);
}

TEST(Batch, GivesAShareToThePrior) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < 2000; ++i) candidates.push_back(At(1000 + i, i, i));
  int random = 0;
  for (const Picked& picked :
       Select(candidates, {.size = 1000, .random_share = 0.05, .neighbour_share = 0, .diversity = 0}))
    random += picked.random;
  EXPECT_GT(random, 25);
  EXPECT_LT(random, 80);
}

TEST(Batch, GivesAShareToNeighboursOfTheBest) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < 2000; ++i) candidates.push_back(At(10000 + i, 0, i));
  int neighbours = 0;
  const BatchOptions options{.size = 1000, .random_share = 0, .neighbour_share = 0.2, .diversity = 0};
  for (const Picked& picked : Select(candidates, options))
    neighbours += picked.candidate.decisions[0][0] == 0;
  EXPECT_GT(neighbours, 150);
  EXPECT_LT(neighbours, 250);
}

TEST(Batch, EndsWhenThereIsNothingNew) {
  absl::flat_hash_set<std::string> measured{"0:1"};
  Numbered prior([](int) { return At(1, 0, 0); }), neighbours([](int) { return At(0, 1, 0); });
  const BatchSources sources{prior, neighbours,
                             [](const Candidate&) { return std::optional<std::string>("0:1"); }};
  RandomDice dice(Engine{1});
  EXPECT_THAT(SelectBatch({At(1, 0, 0)}, sources, {.size = 4}, dice, measured), IsEmpty());
}

TEST(Batch, LeavesOutWhatCannotBeBuiltAgain) {
  EXPECT_THAT(
      Hashes(Select({At(-1, 0, 0), At(5, 0, 1)}, {.size = 1, .random_share = 0, .neighbour_share = 0})),
      ElementsAre("0:5"));
}

TEST(Batch, TakesDrawsAndNeighboursBeforeTheSearch) {
  Fake fake;
  RandomDice dice(Engine{1});
  absl::flat_hash_set<std::string> measured;
  const BatchOptions options{.size = 100, .random_share = 0.2, .neighbour_share = 0.2, .diversity = 0};
  std::vector<Picked> batch = SelectUnsearched(fake.sources(), options, dice, measured);
  const size_t before = batch.size();
  EXPECT_EQ(before, fake.prior.given() + fake.neighbours.given());
  EXPECT_GT(before, 20);
  EXPECT_LT(before, 60);
  std::vector<Candidate> candidates;
  for (int i = 0; i < 100; ++i) candidates.push_back(At(10000 + i, 0, i));
  SelectSearched(candidates, fake.sources(), options, dice, measured, &batch);
  EXPECT_THAT(batch, SizeIs(100));
  EXPECT_EQ(batch[before].hash, "0:10000");
  EXPECT_EQ(fake.prior.given() + fake.neighbours.given(), before);
}

TEST(Batch, GivesAShareToWhatTheModelDoubtsMost) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < 400; ++i) {
    candidates.push_back(At(10000 + i, i, i));
    candidates.back().uncertainty = i;
  }
  int doubted = 0;
  const BatchOptions options{
      .size = 100, .random_share = 0, .neighbour_share = 0, .uncertainty_share = 0.2, .diversity = 0};
  for (const Picked& picked : Select(candidates, options)) doubted += picked.candidate.energy >= 300;
  EXPECT_GT(doubted, 10);
  EXPECT_LT(doubted, 35);
}

TEST(Batch, MayLeaveSlotsEmpty) {
  const auto batch =
      Select({At(1, 1, 0)}, {.size = 3, .random_share = 0, .neighbour_share = 0, .fill = false});
  EXPECT_THAT(Hashes(batch), ElementsAre("0:2"));
}

}  // namespace
}  // namespace kiln
