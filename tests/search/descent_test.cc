#include "search/sampler/descent.h"

#include <gmock/gmock.h>

#include <set>

#include "search/cost/random_model.h"
#include "search/propose/prefilter.h"
#include "search/sampler/prior.h"
#include "tests/search/exact_chain.h"

namespace kiln {
namespace {

TEST(Descent, VisitsEveryValueOfEverySiteAndEverySketchOnce) {
  SearchSpace space = toy::Structured();
  space.make_prefilter = [target = space.target] { return MakePrefilter(target); };
  ThreadPool pool(2);
  RandomDice dice(Engine{1});
  const Point centre = DrawValid(space, space.make_prefilter(), 2, dice).value();
  const RandomModel model(1);
  const auto found = Neighbourhood({space, 1, 0, 0, pool}, {CandidateOf(centre, 0)}, model);
  ASSERT_TRUE(found.ok()) << found.status();
  std::set<std::vector<Decision>> seen;
  std::multiset<int> sketches;
  for (const Candidate& candidate : *found) {
    if (candidate.sketch != centre.sketch) {
      sketches.insert(candidate.sketch);
      continue;
    }
    int changed = 0;
    for (size_t i = 0; i < candidate.decisions.size(); ++i)
      changed += candidate.decisions[i] != centre.replayed.sites[i].decision;
    EXPECT_GE(changed, 1);
    EXPECT_TRUE(seen.insert(candidate.decisions).second);
  }
  double values = 0;
  for (const ReplayedSite& site : centre.replayed.sites) values += site.distribution.SupportSize() - 1;
  EXPECT_EQ(static_cast<double>(seen.size()), values);
  std::multiset<int> others;
  for (int i = 0; i < static_cast<int>(space.sketches.size()); ++i) {
    if (i != centre.sketch) others.insert(i);
  }
  EXPECT_EQ(sketches, others);
}

}  // namespace
}  // namespace kiln
