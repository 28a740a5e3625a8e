// Draws random questions about integer relations, to test provers (validator/proof/prover.h).
#pragma once

#include <string>

#include "lang/base/random.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

// Integer relations for three questions: is f empty, is each result of f a result of some relation of g, and do the
// results of f determine the values of the index sums `variables`?
struct RandomQuestion {
  Relation f;
  std::vector<Relation> g;
  std::vector<IndexSum> variables;
};
RandomQuestion DrawQuestion(Dice& dice);
std::string ToString(const RandomQuestion& question);

}  // namespace kiln::proof
