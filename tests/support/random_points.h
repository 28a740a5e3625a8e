// Random questions for provers.
#pragma once

#include <string>

#include "lang/base/random.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

// Whether f has no point, whether g covers it, and whether its results determine its variables.
struct RandomQuestion {
  Relation f;
  std::vector<Relation> g;
  std::vector<Sum> variables;
};
RandomQuestion DrawQuestion(Dice& dice);
std::string ToString(const RandomQuestion& question);

}  // namespace kiln::proof
