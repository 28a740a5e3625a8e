// The random engines of a search. Each has a key of its own, so that no two draw the same numbers, and
// results depend neither on the number of threads nor on where a run was interrupted.
#pragma once

#include <cstdint>

#include "lang/base/random.h"

namespace kiln {

// What an engine is for. A new use gets a new number. Numbers never change: interrupted runs go on with them.
enum class Purpose : uint64_t {
  kPrior = 1,      // draws that give chains their places, and energies their scale
  kFresh = 2,      // chains that start a round anew
  kPropose = 4,    // proposals of chains
  kAccept = 5,     // whether a chain goes where it proposed
  kResample = 6,   // which chains go on
  kSelect = 100,   // from which source a slot of a batch is filled
  kDraw = 101,     // draws from the prior for a batch
  kScout = 102,    // draws that the scout looks at
  kBreed = 110,    // children of the genetic strategy
  kWalk = 120,     // proposals of simulated annealing
  kTake = 121,     // whether one of its chains goes where it proposed
  kDescend = 130,  // the neighbours that coordinate descent tries
};

// `index` tells engines of one purpose apart: a chain, a draw, a sketch.
inline Engine EngineOf(uint64_t seed, uint64_t task, uint64_t round, uint64_t index, uint64_t step,
                       Purpose purpose) {
  return Engine{seed, task, round, index, step, static_cast<uint64_t>(purpose)};
}

}  // namespace kiln
