// Questions about integer points, which equivalence is reduced to (validator/proof/proof.h), and who answers them.
//
// The sets are those that loops, guards and indices make: points of a box whose sums (lang/index/index_map.h) lie
// in ranges. The proof asks the algebra of index maps first, then looks at every point where these are few,
// and asks a Prover last: give it one that decides Presburger sets (backends/prove) to decide the rest.
//
// A prover never guesses: kYes and kNo are theorems, kUnknown is always allowed. Not thread safe unless it
// says so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lang/index/index_map.h"

namespace kiln::proof {

// 0 <= value < extent.
struct Condition {
  Sum value;
  int64_t extent = 1;
};

// The points (v0, v1, ...) with 0 <= v < extent for each variable that satisfy the conditions. Sums are over
// Source::Iter(variable). A variable may be defined by those before it: points where its value is out of its
// range are none.
struct Points {
  struct Variable {
    int64_t extent = 1;
    std::optional<Sum> value;
  };
  std::vector<Variable> variables;
  std::vector<Condition> conditions;

  // As ExtentOf.
  int64_t operator()(Source source) const { return variables[source.id].extent; }
  // A new variable, as a sum.
  Sum Add(int64_t extent);
  Sum Define(const Sum& value, int64_t extent);  // or one that is there, with this definition
};

// What the points give.
struct Relation {
  Points points;
  std::vector<Sum> results;
};

enum class Answer : uint8_t { kYes, kNo, kUnknown };
struct Reply {
  Answer answer = Answer::kUnknown;
  std::vector<int64_t> point = {};  // kNo: a point of the first argument that shows it
};

class Prover {
 public:
  virtual ~Prover() = default;

  // There is no point.
  virtual Reply Empty(const Points& points) = 0;
  // The results of each point of f are those of some point of some g.
  virtual Reply Covers(const Relation& f, const std::vector<Relation>& g) = 0;
  // Two points (of all the f) with equal results are points of one f with equal `values`, which has a list
  // for each f.
  virtual Reply Determines(const std::vector<Relation>& f, const std::vector<std::vector<Sum>>& values) = 0;
};

}  // namespace kiln::proof
