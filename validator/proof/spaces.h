// Describes the instances of a program's blocks as points of the loops around them, and the order in which
// they run. Reads bindings directly, independent of the analyses that primitives use. A part of
// validator/proof/proof.h.
#pragma once

#include <map>
#include <vector>

#include "lang/program/program.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

struct Space {
  Id block = kNone;
  std::vector<Id> loops;        // around the block and its enclosing blocks, outermost first
  std::vector<IndexSum> at;     // the variable of each loop
  Points points;                // the loop iterations that run an instance of the block
  std::vector<IndexSum> iters;  // the block's iters
};

// The range of positions that a node and its descendants take in program order.
struct Stretch {
  int begin = 0, end = 0;
};

class Spaces {
 public:
  explicit Spaces(const Program& program);

  const Program& program() const { return p_; }
  const std::vector<Id>& blocks() const { return blocks_; }  // in program order
  const Space& of(Id block) const { return spaces_.at(block); }
  bool Before(Id a, Id b) const { return places_.at(a).begin < places_.at(b).begin; }
  const Stretch& place(Id node) const { return places_.at(node); }
  // Returns the number of loops around both blocks.
  size_t Common(Id a, Id b) const;
  // Returns the outermost loop that feeds a reduction iter of the block, as the interpreter finds it, or kNone.
  Id StartOf(Id block) const;

 private:
  void Add(Id node, std::vector<Id>& around, int& next);
  const Program& p_;
  std::vector<Id> blocks_;
  std::map<Id, Space> spaces_;
  std::map<Id, Stretch> places_;
};

// Returns the iters of a block as points: one variable for each iter, with the conditions of the block's domain.
Points BoxOf(const Program& program, Id block);

// Returns the values of marks of a block as sums over the points, where `iters` are the values of the block's iters.
// Returns nullopt if a mark divides a number that may be negative.
std::optional<std::vector<IndexSum>> IndicesAt(const Program& program, Id block, Range marks, Points& points,
                                               const std::vector<IndexSum>& iters);
// Returns the conditions that the marks of a block imply: each lies in its extent. `iters` are the values of the
// block's iters. Returns nullopt if a mark divides a number that may be negative.
std::optional<std::vector<Condition>> ConditionsAt(const Program& program, Id block, Range marks,
                                                   Points& points, const std::vector<IndexSum>& iters);

bool MayRunAtOnce(LoopKind kind);  // true if the iterations must not depend on each other
// True if iterations of a loop of this kind may reduce at once, because partial results are combined at its end: for
// vectorized loops and thread axes.
bool Combines(LoopKind kind);

}  // namespace kiln::proof
