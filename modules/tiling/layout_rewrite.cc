// Layout-Rewrite: a constant that a tiled block reads lies, once and for all, in the order in which the tiles
// walk it.
//
//   for .. tiles of h, f, c, k: Y[..] += X[..] * W[k, c, f]      (W a constant)
//   ->
//   prepare for k, c, f: W.cache[k, c, f] = W[k, c, f]
//     layout (f / width, c / depth, c % depth, k, f % width)
//   for .. tiles of h, f, c, k: Y[..] += X[..] * W.cache[..]
//
// Panels of columns, within them the tiles of the reductions, in the order of their loops, within these the
// elements in the order of the loops inside: what a tile in registers reads is one piece of memory, which the
// next tile's follows. A dimension whose index is not a loop alone stays whole.
//
// Applies to: operands of multi-level-tiling that are constants: of them the alternatives of read-reuse are
// this, in place of pack-operands, whose copy would be made in every call.
#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "modules/tiling/pack_operands.h"

namespace kiln {
namespace {

// When the loop comes, from outside.
int Turn(const Tiles& tiles, Loop loop) {
  int turn = 0;
  for (const std::vector<Loop>& level : tiles.levels) {
    for (const Loop l : level) {
      if (l.number == loop.number) return turn;
      ++turn;
    }
  }
  return turn;
}

// Whether the tiles of reductions are pieces of more than one dimension.
bool ReducesSeveral(const OperandIndex& index, const Tiles& tiles) {
  return std::count_if(index.loops.begin(), index.loops.end(), [&](const std::set<int>& loops) {
           return std::any_of(loops.begin(), loops.end(), [&](int l) { return tiles.depths[l].has_value(); });
         }) > 1;
}

}  // namespace

bool IsConstant(const Program& p, Id buffer) { return p.buffers[buffer].role == Role::kConstant; }

void RewriteLayout(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles) {
  const Block copy = s.CacheRead(block, operand);
  constexpr int kFirst = -1, kTogether = std::numeric_limits<int>::max(), kLast = kTogether - 1;
  std::multimap<int, std::string> axes;  // by turn
  std::vector<std::string> names;
  std::vector<Factor> numbers;
  bool columns = false;
  const bool cut = ReducesSeveral(index, tiles);
  for (size_t d = 0; d < index.dims.size(); ++d) {
    const std::string name = absl::StrCat("d", d);
    names.push_back(name);
    const int loop = index.dims[d];
    if (loop >= 0 && (tiles.width[loop] || (cut && tiles.depths[loop]))) {
      const std::vector<Loop>& parts = tiles.parts[loop];
      const bool reduces = tiles.reduces[loop];
      columns = columns || !reduces;
      axes.emplace(reduces ? Turn(tiles, parts.front()) : kFirst, absl::StrCat(name, "/$", numbers.size()));
      axes.emplace(reduces ? Turn(tiles, parts.back()) : kLast, absl::StrCat(name, "%$", numbers.size()));
      numbers.push_back(reduces ? s.Part(*tiles.depths[loop], -1) : *tiles.width[loop]);
      continue;
    }
    int turn = kFirst;
    for (const int l : index.loops[d]) {
      const std::vector<Loop>& parts = tiles.parts[l];
      if (tiles.reduces[l])
        turn = std::max(turn, Turn(tiles, l == tiles.last_window ? parts.back() : parts.front()));
    }
    if (loop >= 0 && tiles.reduces[loop] && index.together > 1) {
      axes.emplace(turn, absl::StrCat(name, "/$", numbers.size()));
      axes.emplace(kTogether, absl::StrCat(name, "%$", numbers.size()));
      numbers.push_back(index.together);
      columns = true;
    } else {
      axes.emplace(turn, name);
    }
  }
  if (columns) {
    std::vector<std::string> in_turn;
    for (const auto& [turn, axis] : axes) in_turn.push_back(axis);
    s.TransformLayout(block, operand, LayoutMap(names, in_turn), numbers);
  }
  s.Prepare(copy);
}

}  // namespace kiln
