// Selects the candidates that are measured next.
//
// The selection is greedy by predicted energy, with four corrections:
//
//   prior        a small share of the slots goes to draws from the prior, so that the model also learns about
//                programs that it would not choose (epsilon-greedy)
//   neighbours   a share goes to neighbours of the best measured programs, other sketches included, whatever
//                the model predicts for them
//   uncertainty  a share goes to the candidates about which the model is least sure
//   diversity    a candidate gains rank for each decision that the batch does not have yet (AutoTVM,
//                NeurIPS'18, the submodular objective of section 3, maximized greedily)
//
// A task measures no program twice. Programs are compared by their structural hash, for different decisions
// often give equal programs. This rule holds for batches only. Chains must be free to stay where they are.
//
// The functions are deterministic for given dice.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "lang/base/random.h"
#include "search/candidate.h"
#include "search/propose/source.h"

namespace kiln {

// Returns the size of a batch: half of the trials done so far, between 16 and 64. Batches are small at
// first, so that the model is used early.
int BatchSize(int done);

struct BatchOptions {
  int size = 16;
  double random_share = 0.05;    // probability that a slot takes a draw from the prior
  double neighbour_share = 0.2;  // probability that a slot takes a neighbour of one of the best programs
  double uncertainty_share = 0;  // probability that a slot takes the candidate that the model doubts most
  double diversity = 0.2;        // energy that a candidate gains if none of its decisions is in the batch yet
  bool fill = true;              // whether draws from the prior fill slots that nothing else fills
};

// The sources of a batch's candidates: draws from the prior, and neighbours of the best measured programs. They give
// only candidates that the validator accepts.
struct BatchSources {
  CandidateSource& prior;
  CandidateSource& neighbours;  // neighbours of the best measured programs
  // Returns the structural hash of a candidate's program, or nullopt if the candidate is not valid.
  std::function<std::optional<std::string>(const Candidate&)> hash;
};

struct Picked {
  Candidate candidate;
  std::string hash;
  bool random = false;  // a draw from the prior
};

// These functions select programs that are not in `measured` and add their hashes to it. A batch has options.size
// slots. SelectListed fills them with the candidates of a list, in order. SelectUnsearched decides at random, by the
// shares of BatchOptions, what each slot takes, and fills only those that take a draw or a neighbour. SelectSearched
// fills the rest of `batch` with candidates that the search found, in the order of energy and diversity. Slots of the
// uncertainty share take the most uncertain one. With options.fill, slots that are left then take draws from the prior,
// and stay empty only if 50 draws in a row give no new program.
std::vector<Picked> SelectListed(absl::Span<const Candidate> candidates, const BatchSources& sources,
                                 const BatchOptions& options, absl::flat_hash_set<std::string>& measured);
std::vector<Picked> SelectUnsearched(const BatchSources& sources, const BatchOptions& options, Dice& dice,
                                     absl::flat_hash_set<std::string>& measured);
void SelectSearched(std::vector<Candidate> candidates, const BatchSources& sources,
                    const BatchOptions& options, Dice& dice, absl::flat_hash_set<std::string>& measured,
                    std::vector<Picked>* batch);

}  // namespace kiln
