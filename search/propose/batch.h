// Selects the candidates that are measured next.
//
// The selection is greedy by predicted energy, with four corrections:
//
//   prior        a small share of the slots goes to draws from the prior, so that the model also learns about
//                programs that it would not choose (epsilon-greedy)
//   neighbours   a share goes to neighbours of the best measured programs, other sketches included, whatever the
//                model predicts for them
//   doubt        a share goes to the candidates about which the model is least sure
//   diversity    a candidate gains rank for each decision that the batch does not have yet (AutoTVM, NeurIPS'18, the
//                submodular objective of section 3, maximized greedily)
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

// Small at first, for the model must be used early: half of what is done, between 16 and 64.
int BatchSize(int done);

struct BatchOptions {
  int size = 16;
  double random_share = 0.05;    // probability that a slot goes to a draw from the prior
  double neighbour_share = 0.2;  // probability that it goes to a neighbour of one of the best
  double doubt_share = 0;        // probability that it goes to what the model doubts most, if it doubts any
  double diversity = 0.2;        // energy that a candidate gains if none of its decisions is in the batch yet
  bool fill = true;              // with draws from the prior, when nothing else is left
};

// Sources give candidates that the validator accepts.
struct BatchSources {
  CandidateSource& prior;
  CandidateSource& neighbours;  // of the best measured programs
  // The structural hash of the candidate's program; none if it turns out not to be valid.
  std::function<std::optional<std::string>(const Candidate&)> hash;
};

struct Picked {
  Candidate candidate;
  std::string hash;
  bool random = false;  // a draw from the prior
};

// A batch has up to options.size new programs; fewer only if the sources seem exhausted. Their hashes are added to
// `measured`. First come those of a list, then the slots of draws and neighbours, which wait for no search, then those
// that the search fills, which come after the latter in `batch`.
std::vector<Picked> SelectListed(absl::Span<const Candidate> candidates, const BatchSources& sources,
                                 const BatchOptions& options, absl::flat_hash_set<std::string>& measured);
std::vector<Picked> SelectUnsearched(const BatchSources& sources, const BatchOptions& options, Dice& dice,
                                     absl::flat_hash_set<std::string>& measured);
void SelectSearched(std::vector<Candidate> candidates, const BatchSources& sources,
                    const BatchOptions& options, Dice& dice, absl::flat_hash_set<std::string>& measured,
                    std::vector<Picked>* batch);

}  // namespace kiln
