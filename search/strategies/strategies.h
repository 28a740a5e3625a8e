// Constructors of all strategies, for the table in strategy.cc.
#pragma once

#include <memory>

#include "search/strategies/strategy.h"

namespace kiln {

std::unique_ptr<Strategy> MakeAnnealed(const StrategyContext& context);
std::unique_ptr<Strategy> MakeSimulatedAnnealing(const StrategyContext& context);
std::unique_ptr<Strategy> MakeGenetic(const StrategyContext& context);
std::unique_ptr<Strategy> MakeRandom(const StrategyContext& context);
std::unique_ptr<Strategy> MakeReplay(const StrategyContext& context);
std::unique_ptr<Strategy> MakeExhaustive(const StrategyContext& context);

}  // namespace kiln
