// The table of all strategies. strategy.cc finds them by name.
#pragma once

#include <memory>

#include "search/strategies/strategy.h"

// The name of each and the function that makes it, the default first.
#define KILN_STRATEGIES(ROW)                         \
  ROW("annealed", MakeAnnealed)                      \
  ROW("simulated-annealing", MakeSimulatedAnnealing) \
  ROW("genetic", MakeGenetic)                        \
  ROW("random", MakeRandom)                          \
  ROW("replay", MakeReplay)                          \
  ROW("exhaustive", MakeExhaustive)

namespace kiln {

#define KILN_DECLARE(name, make) std::unique_ptr<Strategy> make(const StrategyContext& context);
KILN_STRATEGIES(KILN_DECLARE)
#undef KILN_DECLARE

}  // namespace kiln
