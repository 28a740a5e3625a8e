// Whether a tile is a call of an intrinsic: what tensorize asks, and Verify again.
//
// A tile matches a description if its instances are those of the description, one for one, for some order of
// its iters; if the bodies are equal (operands of commutative operations in any order); and if each operand
// is a part of a buffer with constant strides, of the dtype, in the storage and of the layout that are
// described.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/tile.h"
#include "lang/patterns/intrinsic.h"
#include "lang/program/program.h"

namespace kiln {

// An operand as a part of a buffer: the index in each dimension, over Source::Iter(i) (which tile, of the
// i-th iter of the block) and Source::Iter(iters + d) (the operand's d-th index).
struct OperandView {
  Id buffer = kNone;
  std::vector<Sum> index;
};

struct IntrinsicMatch {
  Id block = kNone;          // the block within the tile
  Tile tile;                 // its instances
  std::vector<int> iter_of;  // by iter of the description: the block's, -1 for those of one iteration
  std::vector<OperandView> operands;  // by parameter of the description
};

// kFailedPrecondition with what differs.
absl::StatusOr<IntrinsicMatch> MatchIntrinsic(const Program& program, Id tile, const Intrinsic& intrinsic);

// The loops of a description, outermost first, and its block.
std::vector<Id> LoopsOf(const Program& description);
Id BlockOf(const Program& description);

// OK if every block that is a call still matches, and its loops are those of the description.
absl::Status CheckCalls(const Program& program);
bool HasCalls(const Program& program);
// The block that is a call around a node, or kNone.
Id CallAround(const Program& program, Id node);

}  // namespace kiln
