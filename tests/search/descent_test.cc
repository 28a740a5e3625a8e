#include "search/descent.h"

#include <gmock/gmock.h>

#include <set>

#include "search/cost/random_model.h"
#include "search/judge.h"
#include "search/prior.h"
#include "tests/search/exact_chain.h"

namespace kiln {
namespace {

TEST(Descent, VisitsEveryValueOfEverySiteOnce) {
  SearchSpace space = toy::Structured();
  space.make_judge = [target = space.target] { return MakeJudge(target); };
  ThreadPool pool(2);
  RandomDice dice(Engine{1});
  const Point centre = DrawValid(space, space.make_judge(), 2, dice).value();
  const RandomModel model(1);
  const auto found = Neighbourhood({space, 1, 0, 0, pool}, {CandidateOf(centre, 0)}, model);
  ASSERT_TRUE(found.ok()) << found.status();
  std::set<std::vector<Decision>> seen;
  for (const Candidate& candidate : *found) {
    EXPECT_EQ(candidate.sketch, centre.sketch);
    int changed = 0;
    for (size_t i = 0; i < candidate.decisions.size(); ++i)
      changed += candidate.decisions[i] != centre.replayed.sites[i].decision;
    EXPECT_GE(changed, 1);
    EXPECT_TRUE(seen.insert(candidate.decisions).second);
  }
  double values = 0;
  for (const ReplayedSite& site : centre.replayed.sites) values += site.distribution.SupportSize() - 1;
  EXPECT_EQ(static_cast<double>(seen.size()), values);
}

}  // namespace
}  // namespace kiln
