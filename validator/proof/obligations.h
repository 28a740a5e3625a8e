// What must hold of a program so that its elements have values (validator/proof/model.h). A part of
// validator/proof/proof.h.
//
//   values      what a block stores is the element's value, or is overwritten before it can be read
//   reductions  each instance enters once, after an initialization and before a read
//   reads       what a block reads was written before: in the same iterations of loops around both, or in an
//               earlier one of a serial loop; not while it is incomplete
//   parallel    elements of reductions are made by one iteration of a parallel loop, or are private to each
//   pipelines   children of a pipelined loop share only what a ring carries, made anew in each iteration
//   layouts     different elements lie at different places
#pragma once

#include <set>

#include "validator/proof/compare.h"

namespace kiln::proof {

class Obligations {
 public:
  // reference: the model whose values the elements of shared buffers must have;
  // the model itself for the original.
  Obligations(Decider& decider, Comparison& comparison, const Model& model, const Model& reference);

  // The first that does not hold.
  Finding Check();

 private:
  struct Read {
    Id block, buffer;
    Range index;  // of any element if it is a gather
    std::vector<Range> within;
    bool gathers = false;
  };

  Finding Values(Id buffer);
  Finding StoredValues(Id buffer, const Unit& unit);
  Finding Overwritten(const Unit& unit, size_t writer, Points points, size_t later, const Look& wanted);
  Finding ReducedValues(Id buffer, const Unit& unit);
  Finding Instances(const Unit& unit);
  Finding Reads(const Read& read);
  Finding Complete(const Read& read, const Points& points, const std::vector<Sum>& index, const Unit& unit);
  Finding Parallel(Id buffer, const Unit& unit);
  Finding Pipelines();
  Finding Pipelined(Id buffer, Id loop);
  Finding Layout(Id buffer);
  Finding Fail(const Reply& reply, std::string why) const;

  // Of a writer's instances: the variables of the loops around all of a unit, then the element.
  Relation Written(const Writer& writer, size_t around) const;
  Relation WrittenBefore(const Writer& writer, const Read& read, size_t shared, size_t k) const;
  Look Wanted(Id buffer, const std::vector<Sum>& index, const Value& writer) const;
  Finding StartsAfterWhatItReads(Id block) const;
  // `seen`: expressions whose reads under the same guards are in `reads`.
  void CollectReads(Id block, Id expr, std::vector<Range>& within, std::set<Id>& seen,
                    std::vector<Read>& reads) const;
  std::string BlockText(Id block) const;
  std::string At(Id block, const Reply& reply) const;  // " at (i=3, k=7)"
  bool Runs(const Unit& unit, Id block) const;         // within its stretch
  bool IsPrivate(Id buffer, Id loop) const;
  bool Below(Id node, Id block) const;
  // Number of loops around a block whose iterations each have the buffer anew, by a ring.
  size_t Anew(Id buffer, Id block) const;

  Decider& decider_;
  Comparison& comparison_;
  const Model& model_;
  const Model& reference_;
  const Program& p_;
  std::vector<Read> reads_;
  std::vector<Unit> incomplete_;        // stores that are overwritten
  std::vector<Id> incomplete_buffers_;  // of these
};

// What the outputs of one program have is written by the other.
Finding SameOutputs(Decider& decider, const Model& made, const Model& original);

}  // namespace kiln::proof
