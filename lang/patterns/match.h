// Decides whether a tile is equal to an intrinsic's description. tensorize and Verify use it.
//
// A tile matches if, for some order of its iters, its instances correspond one to one to those of the
// description; if the bodies are equal (operands of commutative operations in any order); and if each operand
// is a part of a buffer with constant strides and with the dtype, storage and layout of the description.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/tile.h"
#include "lang/patterns/intrinsic.h"
#include "lang/program/program.h"

namespace kiln {

// An operand as a part of a buffer. `index` gives the index in each dimension over Source::Iter(i), the tile number
// along the block's i-th iter, and Source::Iter(iters + d), the operand's index in dimension d, where `iters` is the
// number of the block's iters.
struct OperandView {
  Id buffer = kNone;
  std::vector<IndexSum> index;
};

struct IntrinsicMatch {
  Id block = kNone;                   // the block within the tile
  Tile tile;                          // the tile's instances
  std::vector<int> iter_of;           // by iter of the description: the block's iter; -1 for extent 1
  std::vector<OperandView> operands;  // by buffer of the description
};

// Matches the tile with the intrinsic's description. Returns which iters and operands correspond. Returns
// kFailedPrecondition, with the difference, if they do not match.
absl::StatusOr<IntrinsicMatch> MatchIntrinsic(const Program& program, Id tile, const Intrinsic& intrinsic);

// LoopsOf returns the loops of a description, outermost first, BlockOf its only block.
std::vector<Id> LoopsOf(const Program& description);
Id BlockOf(const Program& description);

// OK if every call in the program still matches its intrinsic, and its loops are those of the description. Otherwise
// kFailedPrecondition, also for an intrinsic that is not declared. Does not check calls again that are the same in
// `before`, a program whose calls match.
absl::Status CheckCalls(const Program& program, const Program* before = nullptr);
bool HasCalls(const Program& program);
// Returns the innermost block around a node, the node itself excluded, that is a call of an intrinsic; kNone if there
// is none.
Id CallAround(const Program& program, Id node);

}  // namespace kiln
