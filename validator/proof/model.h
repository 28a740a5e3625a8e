// How the elements of each buffer of a program come about. A part of validator/proof/proof.h.
//
// The proof rests on one claim for each buffer: that whatever is read from an element is a function of the
// element, its *value*, whenever it is read. A buffer has units that make values whole:
// - one unit of stores: the value is what the last of them (in program order) stores that has an instance for
//   the element;
// - one or more units of reductions: a block that starts itself, or blocks that accumulate with those that
//   initialize. Several units make the same values.
// While the nodes of a unit's stretch run, its elements are incomplete.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validator/proof/spaces.h"

namespace kiln::proof {

struct Writer {
  Id block = kNone;
  int result = 0;  // which of its destinations
};

struct Unit {
  bool reduces = false;
  std::vector<Writer> starters;  // of a reduction: what initializes; empty if the one writer does
  std::vector<Writer> writers;   // in program order
  size_t around = 0;  // number of loops around all of it: each of their iterations makes elements anew
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
  // What the proof does not speak of.
  const std::optional<std::string>& problem() const { return problem_; }

  // Sets `around` and `stretch` to what runs from the first to the last of the blocks.
  void Enclose(const std::vector<Writer>& writers, Unit& unit) const;
  const Access& Dest(const Writer& writer) const {
    return program().Accesses(program().block(writer.block).dests)[writer.result];
  }

 private:
  std::vector<Unit> Reductions(const std::vector<Writer>& writers);
  Id Around(Id a, Id b) const;  // the lowest node that both are below or are

  Spaces spaces_;
  std::vector<std::vector<Unit>> units_;
  std::optional<std::string> problem_;
};

}  // namespace kiln::proof
