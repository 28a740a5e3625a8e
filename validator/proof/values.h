// Values of elements as expressions over points: a block's body with sums for its iters. A part of
// validator/proof/proof.h.
#pragma once

#include <memory>

#include "validator/proof/decide.h"
#include "validator/proof/model.h"

namespace kiln::proof {

using Iters = std::shared_ptr<const std::vector<IndexSum>>;

// An expression of a block's body, in which sums over the variables of Points stand for the block's iters.
struct Value {
  const Model* model = nullptr;
  Id block = kNone;
  Id expr = kNone;
  Iters iters;
};

// What a value is after its guards are decided: an operation, an element of a buffer, or a reduction. Or the conditions
// that are not decided, or the reason why it is not known.
struct Look {
  enum class Kind : uint8_t {
    kOperation,  // `value`, whose expression is neither a load nor kWithin
    kElement,    // of `buffer`, at `index`
    kReduction,  // of a unit, at the spatial iters `value.iters` of its first writer
    kSplit,      // some of `conditions` hold at some points and not at others
    kUnknown     // for the reason `why`
  };
  Kind kind = Kind::kUnknown;
  Value value;
  Id buffer = kNone;
  std::vector<IndexSum> index;
  const Unit* unit = nullptr;
  std::vector<Condition> conditions;
  std::string why;
};

// Returns the outermost form of a value: replaces each kWithin by the branch that its conditions choose at the points.
// Returns kSplit if the conditions do not choose the same branch at all points. Does not follow loads.
Look LookAt(Decider& decider, Points& points, Value value);
// Returns the outermost form of the expression that computes the given element, which is of a buffer that blocks write.
// Returns kSplit if it depends on the points which block writes the element last. If several reductions compute the
// buffer, takes the first.
Look Follow(Decider& decider, Points& points, const Look& element);

// Returns the iters of the instance that writes the element at `index`. Iters that the index does not name
// are 0. Returns nullopt if the iters cannot be expressed. The block may not write this element: then `open`
// gets the conditions under which it does; without `open`, the function returns nullopt.
std::optional<std::vector<IndexSum>> ItersOf(Decider& decider, Points& points, const Model& model,
                                             const Writer& writer, const std::vector<IndexSum>& index,
                                             std::vector<Condition>* open = nullptr);
// Returns the conditions under which the block has an instance with these iters: they lie in their extents and in the
// block's domain. Returns nullopt if the domain divides a sum that may be negative.
std::optional<std::vector<Condition>> Exists(Points& points, const Model& model, Id block,
                                             const std::vector<IndexSum>& iters);

}  // namespace kiln::proof
