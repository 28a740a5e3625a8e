// Evaluates the indices of a plan at a place of the code: loops that run have an atom as their value, unrolled
// loops a constant, the vectorized loop a list of lanes.
//
//   IndexEvaluator indices(plan);
//   indices.Bind(i, IndexValue::OfAtom(indices.AddAtom(/*level=*/1, {0, 63})));
//   indices.Bind(f, IndexValue::Lanes(8));
//   const IndexValue at = indices.Eval(plan.blocks.at(block).dests[0]);
//
// Digits of atoms that cannot be divided are atoms too, with a definition; equal ones are one atom. The passes
// of lowering ask ranges and strides of values; the emitter computes the atoms that its code needs. An index
// must be over bound loops. Not thread-safe.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "backends/lower/plan/index_plan.h"
#include "backends/lower/plan/index_value.h"

namespace kiln {

// How an atom is computed from other values. kGiven: it is not; the caller that added it knows its value (a
// loop variable, a loaded index).
struct AtomDefinition {
  enum class Kind { kGiven, kDigit, kSwizzle };
  Kind kind = Kind::kGiven;
  IndexValue of = {};
  int64_t lower = 1, extent = 0;  // kDigit: (of / lower) % extent
  Swizzle swizzle = {};           // kSwizzle: how bits of `of` change others
};

struct Atom {
  int level = 0;  // the loop body that it is computed in; 0 is the function
  Interval range;
  AtomDefinition definition = {};
};

// An atom with a value for each lane.
struct LaneAtom {
  Interval range;
  AtomDefinition definition = {};
};

class IndexEvaluator {
 public:
  // Keeps a reference to the plan.
  explicit IndexEvaluator(const IndexPlan& plan) : plan_(plan) {}

  void Bind(Id loop, IndexValue value) { loops_[loop] = std::move(value); }
  void Unbind(Id loop) { loops_.erase(loop); }
  bool IsBound(Id loop) const { return loops_.contains(loop); }
  const IndexValue& Of(Id loop) const { return loops_.at(loop); }
  // Sets the value of a mark without a definition: an index that the code computes.
  void BindMark(Id mark, IndexValue value) { computed_[mark] = std::move(value); }

  int AddAtom(int level, Interval range) { return Add({level, range}); }
  int AddLaneAtom(Interval range) { return Add(LaneAtom{range}); }
  int num_atoms() const { return static_cast<int>(atoms_.size()); }
  const Atom& atom(int id) const { return atoms_[id]; }
  const LaneAtom& lane_atom(int id) const { return lane_atoms_[id]; }

  IndexValue Eval(const IndexSum& sum);
  // Returns the address of an element after the buffer's swizzle, where `at` is its address before.
  IndexValue Swizzled(const Swizzle& swizzle, int64_t elements, const IndexValue& at);
  Interval RangeOf(const IndexValue& value) const;
  // Returns the level of the innermost loop body that the value depends on, apart from its lane atoms.
  int LevelOf(const IndexValue& value) const;

 private:
  int Add(Atom atom);
  int Add(LaneAtom atom);
  IndexValue Digit(const IndexValue& value, int64_t lower, int64_t extent);
  std::optional<IndexValue> DigitOfLess(const IndexValue& value, int64_t lower, int64_t extent);
  IndexValue Defined(AtomDefinition definition, Interval range);

  const IndexPlan& plan_;
  std::unordered_map<Id, IndexValue> loops_;
  std::unordered_map<Id, IndexValue> computed_;
  std::vector<Atom> atoms_;
  std::vector<LaneAtom> lane_atoms_;
  std::map<std::vector<int64_t>, int> defined_;  // atoms with a definition, by its key
};

}  // namespace kiln
