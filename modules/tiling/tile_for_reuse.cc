// What multi-level tiling does with a block, by itself and around an intrinsic: tiles, sums in registers,
// operands packed, the epilogue below (multi_level_tiling.cc says which choices there are).
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/patterns/intrinsic.h"
#include "modules/tiling/pack_operands.h"

namespace kiln {
namespace {

// What is copied of the operands, by position, and whether tiles then walk down the rows of each panel.
struct ReadReuse {
  std::vector<bool> copies;
  bool columns_first = false;
};

std::vector<ReadReuse> WaysOfReading(const std::vector<bool>& packable) {
  const std::vector<bool> none(packable.size());
  std::vector<ReadReuse> ways{{none}};
  for (size_t i = 0; i < packable.size(); ++i) {
    if (!packable[i]) continue;
    ways.push_back({none});
    ways.back().copies[i] = true;
  }
  if (ways.size() > 2) ways.insert(ways.end(), {{packable}, {packable, true}});
  return ways;
}

}  // namespace

void TileForReuse(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit) {
  const auto levels = static_cast<int64_t>(options.structure.size());
  for (const int64_t level : options.epilogue) {
    if (level >= 1 && level <= levels) continue;
    return s.Fail(absl::InvalidArgumentError(
        absl::StrCat("the option epilogue of multi-level tiling names level ", level, "; structure ",
                     options.structure, " has levels 1 to ", levels)));
  }
  if (unit != nullptr) {
    s.Einsum(block, {unit->m, unit->n, unit->k});
  } else {
    OrderByResult(s, block);
  }
  if (!s.ok()) return;
  const std::vector<Id> consumers = Consumers(s.program(), s.node(block));
  const int write = unit == nullptr ? s.Choose("write-reuse", 3) : 1;
  std::optional<Across> across = unit == nullptr ? FindAcross(s, block) : std::nullopt;
  if (across && !across->in_blocks && (write == 0 || s.Choose("lanes-across", 2) == 0)) across.reset();
  if (across) TurnLoops(s, block, *across);
  std::vector<Id> operands = ReadBuffers(s.program(), s.node(block));  // initial values last
  if (ReadsInitially(s.program(), s.node(block), operands.back())) operands.pop_back();
  std::vector<OperandIndex> indices;
  std::vector<bool> constant, packable;
  for (const Id operand : operands) {
    indices.push_back(IndexOf(s.program(), s.node(block), operand));
    constant.push_back(IsConstant(s.program(), operand));
    packable.push_back(constant.back() || IsReusedWhole(s.program(), s.node(block), indices.back()));
    if (unit != nullptr) indices.back().together = indices.size() == 2 ? unit->interleave : unit->k;
  }
  std::vector<ReadReuse> ways = WaysOfReading(packable);
  if (unit != nullptr && unit->k > 1 && packable.back())  // it reads columns of B in one piece
    std::erase_if(ways, [](const ReadReuse& way) { return !way.copies.back(); });
  const ReadReuse read = ways[s.Choose("read-reuse", static_cast<int>(ways.size()))];
  const bool may_fuse = consumers.size() == 1 && s.program().block(consumers[0]).monoid == kNone;
  const int places = may_fuse ? static_cast<int>(options.epilogue.size()) : 0;
  const int place = s.Choose("epilogue", 1 + places);
  std::vector<Block> epilogue;
  if (place > 0) epilogue = s.GetConsumers(block);

  const Tiles tiles = TileLoops(s, block, options, read.columns_first, unit);
  if (across) s.Vectorize(tiles.levels.back().back());
  if (write > 0) {
    const bool memory = unit != nullptr && unit->result == Storage::kGlobal;
    const Block combine = s.AccumulateAt(block, tiles.last_before_inner, memory ? "stack" : "register");
    const Loop last = LayOutCombine(s, combine, tiles.last_before_inner, across);
    if (across) LayOutSums(s, block, across->dim);
    if (across || unit != nullptr) s.Vectorize(last);
    if (unit != nullptr && unit->registers > 0) LayOutUnits(s, block, *unit);
    if (write > 1) {
      OrderCombine(s, s.AccumulateAt(combine, tiles.last_before_reduction, "stack"),
                   tiles.last_before_reduction, std::nullopt);
      if (across) LayOutSums(s, combine, across->dim);
    }
  }
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
    const bool lanes = across && indices[i].DependsOn(static_cast<int>(across->loop));
    if (read.copies[i] || lanes) (constant[i] ? RewriteLayout : PackOperand)(s, block, i, indices[i], tiles);
  }
  for (const Block consumer : epilogue) FuseEpilogue(s, consumer, tiles, options.epilogue[place - 1]);
  if (unit != nullptr) s.Tensorize(s.Blockize(tiles.unit[0]), unit->compute);
}

}  // namespace kiln
