// The instances of the blocks of a program as points of the loops around them, and the order in which they
// run. Reads bindings as they stand, without the analyses that primitives ask. A part of validator/proof/proof.h.
#pragma once

#include <map>
#include <vector>

#include "lang/program/program.h"
#include "validator/proof/prover.h"

namespace kiln::proof {

struct Space {
  Id block = kNone;
  std::vector<Id> loops;   // around it, those of enclosing blocks too, outermost first
  std::vector<Sum> at;     // the variables of these
  Points points;           // the instances: one for each iteration of the loops that runs one
  std::vector<Sum> iters;  // of the block
};

// A place in the order of the program's nodes: begin <= that of what is below < end.
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
  // Number of loops around both.
  size_t Common(Id a, Id b) const;
  // Outermost loop that feeds a reduction iter, as the interpreter finds it; kNone if none does.
  Id StartOf(Id block) const;

 private:
  void Add(Id node, std::vector<Id>& around, int& next);
  const Program& p_;
  std::vector<Id> blocks_;
  std::map<Id, Space> spaces_;
  std::map<Id, Stretch> places_;
};

// A block's own box: its iters as variables, with the conditions of its domain.
Points BoxOf(const Program& program, Id block);

// The marks as sums over the points, the iters of the block being `iters`; nullopt where Replace gives none.
std::optional<std::vector<Sum>> IndicesAt(const Program& program, Id block, Range marks, Points& points,
                                          const std::vector<Sum>& iters);
// The conditions that marks of a block make.
std::optional<std::vector<Condition>> ConditionsAt(const Program& program, Id block, Range marks,
                                                   Points& points, const std::vector<Sum>& iters);

bool MayRunAtOnce(LoopKind kind);  // iterations may not see each other
bool Combines(LoopKind kind);      // of these, but for what they reduce, which is combined at the end

}  // namespace kiln::proof
