#include "modules/tiling/prepack_constants.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "modules/layout_map.h"

namespace kiln {
namespace {

// Returns the position of a loop among all tile loops, counted from the outermost. Returns their number for any other
// loop.
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

// True if the reduction loops that are split into tiles index more than one dimension of the operand.
bool ReducesSeveral(const AccessPattern& access, const Tiles& tiles) {
  return std::count_if(access.loops.begin(), access.loops.end(), [&](const std::set<int>& loops) {
           return std::any_of(loops.begin(), loops.end(), [&](int l) { return tiles.depths[l].has_value(); });
         }) > 1;
}

}  // namespace

void PrepackConstant(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles) {
  const AccessPattern& access = operand.access;
  const Block copy = s.CacheRead(block, operand.number);
  constexpr int kFirst = -1, kTogether = std::numeric_limits<int>::max(), kLast = kTogether - 1;
  std::multimap<int, std::string> axes;  // by position of the loop that moves along the axis
  const std::vector<std::string> names = DimNames(access.steps.size());
  std::vector<Factor> numbers;
  bool columns = false;
  const bool cut = ReducesSeveral(access, tiles);
  for (size_t d = 0; d < access.steps.size(); ++d) {
    const std::string& name = names[d];
    const int loop = access.steps[d];
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
    for (const int l : access.loops[d]) {
      const std::vector<Loop>& parts = tiles.parts[l];
      if (tiles.reduces[l])
        turn = std::max(turn, Turn(tiles, l == tiles.last_window ? parts.back() : parts.front()));
    }
    if (loop >= 0 && tiles.reduces[loop] && operand.together > 1) {
      axes.emplace(turn, absl::StrCat(name, "/$", numbers.size()));
      axes.emplace(kTogether, absl::StrCat(name, "%$", numbers.size()));
      numbers.push_back(operand.together);
      columns = true;
    } else {
      axes.emplace(turn, name);
    }
  }
  if (columns) {
    std::vector<std::string> in_turn;
    for (const auto& [turn, axis] : axes) in_turn.push_back(axis);
    s.TransformLayout(block, operand.number, LayoutMap(names, in_turn), numbers);
  }
  s.Prepare(copy);
}

}  // namespace kiln
