// Which candidates are measured next.
//
// Greedy by predicted energy, with four corrections. A small share of the slots goes to draws from the
// prior, so that the model also learns where it does not look (epsilon-greedy). Another goes to neighbours of
// the best programs that were measured, other sketches among them, whatever the model says of them, and one
// to what the model doubts most. And a candidate gains rank by each decision that the batch does not have yet
// (AutoTVM's submodular objective, maximized greedily): sixty-four variations of one program teach little.
//
// No program is measured twice for one task: programs are told apart by their structural hash, since
// different decisions often give equal programs. This is a rule of batches and never of chains, which must be
// free to stay where they are.
//
// Plain functions, deterministic given the dice.
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
