#include "backends/measure/noise_sources.h"

#include "gmock/gmock.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MachineState Quiet() {
  return {.load = 0.1, .cores = 4, .governors = {"performance"}, .huge_pages = "madvise"};
}

std::vector<std::string> Disturbing(const MachineState& state) {
  std::vector<std::string> names;
  for (const Finding& f : NoiseSources(state)) {
    EXPECT_EQ(f.advice.empty(), !f.disturbs) << f.what;
    if (f.disturbs) names.push_back(f.what);
  }
  return names;
}

TEST(NoiseSources, AreNoneOnAQuietMachine) { EXPECT_THAT(Disturbing(Quiet()), IsEmpty()); }

TEST(NoiseSources, AreToldByWhatCausesThem) {
  MachineState busy = Quiet();
  busy.load = 3;
  EXPECT_THAT(Disturbing(busy), ElementsAre("load"));
  MachineState shared = Quiet();
  shared.stolen = 0.1, shared.threads_share_cores = true, shared.cache_spread = 1.5;
  EXPECT_THAT(Disturbing(shared),
              ElementsAre("other guests", "hardware threads", "a loop in the second cache"));
  MachineState slow = Quiet();
  slow.governors = {"performance", "powersave"}, slow.huge_pages = "never", slow.register_spread = 1.2;
  EXPECT_THAT(Disturbing(slow), ElementsAre("frequency", "huge pages", "a loop in registers"));
}

TEST(NoiseSources, AreObservedHere) {
  const MachineState state = ObserveMachine();
  EXPECT_GE(state.cores, 1);
  EXPECT_GE(state.register_spread, 1);
  EXPECT_GE(state.cache_spread, 1);
  EXPECT_GE(state.stolen, 0);
  EXPECT_EQ(NoiseSources(state).size(), 8u);
}

}  // namespace
}  // namespace kiln
