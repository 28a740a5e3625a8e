// Draws random questions for provers.
#pragma once

#include <string>

#include "lang/base/random.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

// A question about integer relations: is f empty, does g cover it, and do its results determine `variables`?
struct RandomQuestion {
  Relation f;
  std::vector<Relation> g;
  std::vector<IndexSum> variables;
};
RandomQuestion DrawQuestion(Dice& dice);
std::string ToString(const RandomQuestion& question);

}  // namespace kiln::proof
