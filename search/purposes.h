// Makes the random engines of a search. Each use of random numbers has an engine with a key of its own (seed, task,
// round, index, step, purpose), so that no two uses draw the same numbers. Results depend neither on the number of
// threads nor on where a run was interrupted.
#pragma once

#include <cstdint>

#include "lang/base/random.h"

namespace kiln {

// What the numbers of a random engine are used for. A new use outside of strategies gets a new number. Numbers never
// change, because interrupted runs continue with them.
enum class Purpose : uint64_t {
  kPrior = 1,       // prior draws that initialize chains and scale energies
  kFresh = 2,       // chains that restart in a round
  kPropose = 4,     // proposals of chains
  kAccept = 5,      // whether a chain accepts its proposal
  kResample = 6,    // which chains survive resampling
  kSelect = 100,    // which source fills a slot of a batch
  kDraw = 101,      // draws from the prior for a batch
  kScout = 102,     // draws for the stratified prior
  kBreed = 110,     // children of the genetic strategy
  kStrategy = 120,  // proposals of simulated annealing, and draws of a strategy without a purpose of its own
  kTake = 121,      // whether a chain of simulated annealing accepts
  kDescend = 130,   // neighbours in coordinate descent
  kDefault = 140,   // draws for default schedules
  kChange = 141,    // changes of their best draws
};

// Returns the random engine for one use of random numbers. `index` is the number of a chain, a draw or a sketch, so
// that engines with the same purpose differ.
inline Engine EngineOf(uint64_t seed, uint64_t task, uint64_t round, uint64_t index, uint64_t step,
                       Purpose purpose) {
  return Engine{seed, task, round, index, step, static_cast<uint64_t>(purpose)};
}

}  // namespace kiln
