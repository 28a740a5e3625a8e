// Describes which blocks give the elements of each buffer their values. A part of validator/proof/proof.h.
//
// The proof makes one claim for each buffer: every read of an element sees the same *value*, a function of
// the element. A buffer has units. Each unit gives elements their whole value:
// - A unit of stores. The value is the one stored by the last block, in program order, that has an instance
//   for the element.
// - One or more units of reductions. A unit is a block that initializes itself, or a set of blocks that
//   accumulate together with those that initialize. Several units give the same values.
//
// While the nodes of a unit's stretch run, the unit's elements are incomplete.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validator/proof/spaces.h"

namespace kiln::proof {

struct Writer {
  Id block = kNone;
  int result = 0;  // index of the block's destination
};

struct Unit {
  bool reduces = false;
  // Blocks that initialize a reduction; empty if its only writer does so itself.
  std::vector<Writer> starters;
  std::vector<Writer> writers;  // in program order
  // Number of outer loops of which each iteration computes the elements again: the loops around all blocks of the unit.
  // For a reduction that initializes itself, only those outside of its outermost reduction loop count.
  size_t around = 0;
  Stretch stretch;
  const std::vector<Writer>& first() const { return starters.empty() ? writers : starters; }
};

class Model {
 public:
  explicit Model(const Program& program);

  const Program& program() const { return spaces_.program(); }
  const Spaces& spaces() const { return spaces_; }
  const std::vector<Unit>& units(Id buffer) const { return units_[buffer]; }
  bool IsWritten(Id buffer) const { return !units_[buffer].empty(); }
  // Returns why the proof does not handle this program, or nullopt if it does.
  const std::optional<std::string>& problem() const { return problem_; }

  // Finds the lowest node around all writers. Sets `around` to the number of loops from the root to it, and
  // `stretch` to its children from the first that contains a writer to the last.
  void Enclose(const std::vector<Writer>& writers, Unit& unit) const;
  const Access& Dest(const Writer& writer) const {
    return program().Accesses(program().block(writer.block).dests)[writer.result];
  }

 private:
  std::vector<Unit> Reductions(const std::vector<Writer>& writers);
  Id Around(Id a, Id b) const;  // the lowest common ancestor of two nodes

  Spaces spaces_;
  std::vector<std::vector<Unit>> units_;
  std::optional<std::string> problem_;
};

}  // namespace kiln::proof
