// Values of elements as expressions over points:
// bodies of blocks with sums for their iters. A part of validator/proof/proof.h.
#pragma once

#include <memory>

#include "validator/proof/decide.h"
#include "validator/proof/model.h"

namespace kiln::proof {

using Iters = std::shared_ptr<const std::vector<Sum>>;

// An expression of a block's body.
struct Value {
  const Model* model = nullptr;
  Id block = kNone;
  Id expr = kNone;
  Iters iters;
};

// What a value is when looked at.
struct Look {
  enum class Kind : uint8_t {
    kOperation,  // `value`, whose expression is no load and no kWithin
    kElement,    // of `buffer`, at `index`
    kReduction,  // of a unit, at spatial iters `value.iters` of its first writer
    kSplit,      // it depends on conditions that hold at some points and not at others
    kUnknown     // `why`
  };
  Kind kind = Kind::kUnknown;
  Value value;
  Id buffer = kNone;
  std::vector<Sum> index;
  const Unit* unit = nullptr;
  std::vector<Condition> conditions;
  std::string why;
};

// Decides guards; loads are not followed.
Look LookAt(Decider& decider, Points& points, Value value);
// What made an element of a buffer that is written.
Look Follow(Decider& decider, Points& points, const Look& element);

// Iters of a block that writes the element at `index`; iters that the index does not name are 0. nullopt
// where they cannot be expressed. The element may be one that the block does not write: `open` gets the
// conditions under which it does; without it, that too is nullopt.
std::optional<std::vector<Sum>> ItersOf(Decider& decider, Points& points, const Model& model,
                                        const Writer& writer, const std::vector<Sum>& index,
                                        std::vector<Condition>* open = nullptr);
// Conditions under which a writer has an instance with these iters.
std::optional<std::vector<Condition>> Exists(Points& points, const Model& model, Id block,
                                             const std::vector<Sum>& iters);

}  // namespace kiln::proof
