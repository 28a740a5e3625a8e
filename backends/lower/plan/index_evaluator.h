// Evaluates the indices of an IndexPlan (index_plan.h) at a place of the generated code. The caller first binds each
// loop around this place to a value: an atom (a value known only at run time, index_value.h) for a loop that runs, a
// constant for a copy of an unrolled loop, or one number for each vector lane for the vectorized loop.
//
//   IndexEvaluator indices(plan);
//   indices.Bind(i, IndexValue::OfAtom(indices.AddAtom(/*level=*/1, {0, 63})));
//   indices.Bind(f, IndexValue::Lanes(8));
//   const IndexValue at = indices.Eval(plan.blocks.at(block).dests[0]);
//
// If a quotient, a remainder or a swizzled address is no sum of atoms, a new atom with a definition stands for it.
// Equal definitions give one atom, unless they differ between lanes. The passes of lowering ask for ranges and strides
// of values. The emitter generates code for the atoms that it needs. All loops of an index must be bound. Not
// thread-safe.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "backends/lower/plan/index_plan.h"
#include "backends/lower/plan/index_value.h"

namespace kiln {

// How the generated code computes an atom (a value known only at run time) from the value `of`: as (of / lower) %
// extent, or as of / lower if the extent is 0 (kDigit), or as the address to which a swizzle moves the address `of`
// (kSwizzle). kGiven: the caller that added the atom knows its value, such as a loop variable or a loaded index.
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

// A value that is known only at run time and differs between vector lanes.
struct LaneAtom {
  Interval range;
  AtomDefinition definition = {};
};

class IndexEvaluator {
 public:
  // Makes an evaluator for the indices of a plan, without bound loops. Keeps a reference to the plan.
  explicit IndexEvaluator(const IndexPlan& plan) : plan_(plan) {}

  void Bind(Id loop, IndexValue value) { loops_[loop] = std::move(value); }
  void Unbind(Id loop) { loops_.erase(loop); }
  bool IsBound(Id loop) const { return loops_.contains(loop); }
  const IndexValue& Of(Id loop) const { return loops_.at(loop); }
  // Sets the value of a mark that has no definition in the plan. Such a mark (a variable of index sums) stands for an
  // index that the generated code computes, for example by a load.
  void BindMark(Id mark, IndexValue value) { computed_[mark] = std::move(value); }

  int AddAtom(int level, Interval range) { return Add({level, range}); }
  int AddLaneAtom(Interval range) { return Add(LaneAtom{range}); }
  int num_atoms() const { return static_cast<int>(atoms_.size()); }
  const Atom& atom(int id) const { return atoms_[id]; }
  const LaneAtom& lane_atom(int id) const { return lane_atoms_[id]; }

  IndexValue Eval(const IndexSum& sum);
  // Returns the address to which a buffer's swizzle (a permutation of its addresses) moves the element at the address
  // `at`. `elements`: the number of elements of the buffer.
  IndexValue Swizzled(const Swizzle& swizzle, int64_t elements, const IndexValue& at);
  Interval RangeOf(const IndexValue& value) const;
  // Returns the level of the innermost loop body in which the value is known: the number of running loops around it, 0
  // for a value that depends on no such loop. Does not consider parts whose run-time values differ between lanes (lane
  // atoms).
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
