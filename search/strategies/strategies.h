// The table of all strategies. strategy.cc finds them by name.
#pragma once

#include <memory>

#include "search/strategies/strategy.h"

// The name of each strategy, the function that makes it, and what it proposes; the default first.
#define KILN_STRATEGIES(ROW)                                                                                    \
  ROW("annealed", MakeAnnealed,                                                                                 \
      "chains of Metropolis-Hastings steps, annealed, resampled and guided by the model; then everything that " \
      "is one decision away from the best: the default")                                                        \
  ROW("simulated-annealing", MakeSimulatedAnnealing,                                                            \
      "chains that go on from round to round and minimize what the model predicts, like AutoTVM's")             \
  ROW("genetic", MakeGenetic,                                                                                   \
      "children of what was measured, by crossover of sites of one name and mutation; no model")                \
  ROW("random", MakeRandom, "draws from the prior; no model")                                                   \
  ROW("replay", MakeReplay, "the traces of a list, in order")                                                   \
  ROW("exhaustive", MakeExhaustive, "every program, in order, if there are at most 65,536")

namespace kiln {

#define KILN_DECLARE(name, make, proposes) std::unique_ptr<Strategy> make(const StrategyContext& context);
KILN_STRATEGIES(KILN_DECLARE)
#undef KILN_DECLARE

}  // namespace kiln
