// Equivalence becomes questions about integer points (validator/proof/proof.h). A Prover answers them.
//
// Loops, guards and indices define the sets: points of a box whose sums (lang/index/index_map.h) lie in
// ranges. The proof first asks the algebra of index maps, then visits every point if there are few, and asks
// a Prover last. A prover that decides Presburger sets (backends/prove) decides the rest.
//
// A prover never guesses: kYes and kNo are theorems, and kUnknown is always allowed. A prover is not thread
// safe unless it says so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lang/index/index_map.h"

namespace kiln::proof {

// The condition 0 <= value < extent.
struct Condition {
  IndexSum value;
  int64_t extent = 1;
};

// The points (v0, v1, ...) with 0 <= v < extent for each variable that satisfy the conditions. Sums are over
// Source::Iter(variable). Earlier variables may define a variable. The set has no point where a defined
// value is out of its range.
struct Points {
  struct Variable {
    int64_t extent = 1;
    std::optional<IndexSum> value;
  };
  std::vector<Variable> variables;
  std::vector<Condition> conditions;

  // Returns the extent of a variable, so that Points can be passed as ExtentOf.
  int64_t operator()(Source source) const { return variables[source.id].extent; }
  // Adds a variable and returns it as a sum.
  IndexSum Add(int64_t extent);
  IndexSum Define(const IndexSum& value,
                  int64_t extent);  // like Add, but reuses a variable with this definition
};

// A function of the points: each point is mapped to the values of `results`.
struct Relation {
  Points points;
  std::vector<IndexSum> results;
};

enum class Answer : uint8_t { kYes, kNo, kUnknown };
struct Reply {
  Answer answer = Answer::kUnknown;
  std::vector<int64_t> point = {};  // kNo: a counterexample, a point of the first argument
};

class Prover {
 public:
  virtual ~Prover() = default;

  // Asks whether the set has no point (kYes).
  virtual Reply Empty(const Points& points) = 0;
  // Asks whether the results of each point of f are also the results of some point of some g.
  virtual Reply Covers(const Relation& f, const std::vector<Relation>& g) = 0;
  // Asks whether results determine values: two points, of any of the f, with equal results must belong to
  // the same f and have equal `values`. `values` has one list for each f.
  virtual Reply Determines(const std::vector<Relation>& f,
                           const std::vector<std::vector<IndexSum>>& values) = 0;
};

}  // namespace kiln::proof
