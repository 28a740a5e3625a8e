// Checks the obligations under which every element of a program has one value (validator/proof/model.h). A
// part of validator/proof/proof.h.
//
//   values      a block stores the element's value, or another store overwrites it before a read
//   reductions  each instance contributes once, after the initialization and before any read
//   reads       a read follows the write: in the same iterations of the common loops or in an earlier
//               iteration of a loop that runs them in order. No block reads an incomplete element. No block writes
//               the initial values of a reduction inside of the reduction's outermost loop
//   parallel    one iteration of a parallel loop computes an element of a reduction, or each iteration has a
//               private copy, or partial results are combined (vector lanes, thread axes)
//   pipelines   children of a pipelined loop share only buffers in rings, written again in each iteration
//   layouts     different elements lie at different addresses
#pragma once

#include <set>

#include "validator/proof/compare.h"

namespace kiln::proof {

class Obligations {
 public:
  // Prepares to check the obligations of the program of `model`. `reference` is the model that defines the values of
  // the buffers that both programs have; for the original it is `model` itself.
  Obligations(Decider& decider, Comparison& comparison, const Model& model, const Model& reference);

  // Checks all obligations. Returns the first that is not proven to hold, with the reason; kYes if all hold.
  Finding Check();

 private:
  struct Read {
    Id block, buffer;
    Range index;  // unused by a gather, which may read any element
    std::vector<Range> within;
    bool gathers = false;
  };

  Finding Values(Id buffer);
  Finding StoredValues(Id buffer, const Unit& unit);
  Finding Overwritten(const Unit& unit, size_t writer, Points points, size_t later, const Look& wanted);
  Finding ReducedValues(Id buffer, const Unit& unit);
  Finding Instances(const Unit& unit);
  Finding Reads(const Read& read);
  Finding Complete(const Read& read, const Points& points, const std::vector<IndexSum>& index,
                   const Unit& unit);
  Finding Parallel(Id buffer, const Unit& unit);
  Finding Pipelines();
  Finding Pipelined(Id buffer, Id loop);
  Finding Layout(Id buffer);
  Finding Fail(const Reply& reply, std::string why) const;

  // Returns the writer's instances as a relation. Its results are the iterations of the first `around`
  // loops, then the written element.
  Relation Written(const Writer& writer, size_t around) const;
  Relation WrittenBefore(const Writer& writer, const Read& read, size_t shared, size_t k) const;
  Look Wanted(Id buffer, const std::vector<IndexSum>& index, const Value& writer) const;
  Finding StartsAfterWhatItReads(Id block) const;
  // Appends the reads of an expression to `reads`, leaving out buffers that no block writes. `seen` holds expressions
  // whose reads under the same guards are already there.
  void CollectReads(Id block, Id expr, std::vector<Range>& within, std::set<Id>& seen,
                    std::vector<Read>& reads) const;
  std::string BlockText(Id block) const;
  std::string At(Id block, const Reply& reply) const;  // for example " at (i=3, k=7)"
  bool Runs(const Unit& unit, Id block) const;         // whether the block lies in the unit's stretch
  bool IsPrivate(Id buffer, Id loop) const;
  bool Below(Id node, Id block) const;
  // Returns the number of loops around the block, down to the innermost pipelined loop that has the buffer in a ring:
  // each of its iterations has a new copy of the buffer. Returns 0 if no loop has.
  size_t Anew(Id buffer, Id block) const;

  Decider& decider_;
  Comparison& comparison_;
  const Model& model_;
  const Model& reference_;
  const Program& p_;
  std::vector<Read> reads_;
  std::vector<Unit> incomplete_;        // units with stores that are overwritten
  std::vector<Id> incomplete_buffers_;  // the buffer of each of these units
};

// Checks that each program writes all output elements that the other writes.
Finding SameOutputs(Decider& decider, const Model& made, const Model& original);

}  // namespace kiln::proof
