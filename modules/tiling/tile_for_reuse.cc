#include "modules/tiling/tile_for_reuse.h"

#include "absl/strings/str_cat.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "modules/layout_map.h"
#include "modules/tiling/fuse_epilogue.h"
#include "modules/tiling/loop_order.h"
#include "modules/tiling/pack_operands.h"
#include "modules/tiling/prepack_constants.h"
#include "modules/tiling/tile_loops.h"
#include "modules/tiling/vectorize_other_axis.h"

namespace kiln {
namespace {

absl::Status CheckEpilogueLevels(const MultiLevelTilingOptions& options) {
  const auto levels = static_cast<int64_t>(options.structure.size());
  for (const int64_t level : options.epilogue) {
    if (level >= 1 && level <= levels) continue;
    return absl::InvalidArgumentError(absl::StrCat("the option epilogue of multi-level tiling names level ",
                                                   level, "; structure ", options.structure,
                                                   " has levels 1 to ", levels));
  }
  return absl::OkStatus();
}

// Returns the operands of a reduction: the buffers that the block reads, but not the buffer of the initial value, which
// comes last.
std::vector<TiledOperand> TiledOperandsOf(const Program& p, Id block, const IntrinsicFamily* unit,
                                          bool groups) {
  std::vector<Id> buffers = ReadBuffers(p, block);
  if (ReadsInitially(p, block, buffers.back())) buffers.pop_back();
  std::vector<TiledOperand> operands;
  for (const Id buffer : buffers) {
    TiledOperand operand{.number = static_cast<int>(operands.size()),
                         .access = AccessOf(p, block, buffer, groups),
                         .constant = p.buffers[buffer].role == Role::kConstant};
    if (unit != nullptr) operand.together = operand.number == 1 ? unit->interleave : unit->k;
    operands.push_back(std::move(operand));
  }
  return operands;
}

// One alternative of the choice read-reuse: which operands are packed, by operand number, and whether tiles
// then walk down the rows of each panel of columns.
struct ReadReuse {
  std::string name;
  std::vector<bool> copies;
  bool columns_first = false;
};

// Returns the alternatives of the choice read-reuse: pack none, one alternative for each packable operand, all of them,
// and all in Goto's order. The last two exist only with several packable operands. If the intrinsic `unit` reads
// several k of B at once and B is packable, leaves out those that do not pack B.
std::vector<ReadReuse> WaysOfReading(const Program& p, Id block, const std::vector<TiledOperand>& operands,
                                     const IntrinsicFamily* unit) {
  const std::vector<bool> none(operands.size());
  std::vector<bool> packable = none;
  std::vector<ReadReuse> ways{{"none", none}};
  for (size_t i = 0; i < operands.size(); ++i) {
    packable[i] = operands[i].constant || IsReusedWhole(p, block, operands[i].access);
    if (!packable[i]) continue;
    ways.push_back({absl::StrCat("operand-", i), none});
    ways.back().copies[i] = true;
  }
  if (ways.size() > 2) ways.insert(ways.end(), {{"all", packable}, {"all-columns-first", packable, true}});
  if (unit != nullptr && unit->k > 1 && packable.back())  // the unit reads columns of B as one piece
    std::erase_if(ways, [](const ReadReuse& way) { return !way.copies.back(); });
  return ways;
}

std::vector<std::string> NamesOf(const std::vector<ReadReuse>& ways) {
  std::vector<std::string> names;
  for (const ReadReuse& way : ways) names.push_back(way.name);
  return names;
}

// Gives the accumulator a layout in which each tile of m x n elements that the intrinsic computes is one contiguous
// piece of memory.
void LayOutUnits(Schedule& s, Block block, const IntrinsicFamily& unit) {
  if (!s.ok()) return;
  const std::vector<std::string> names = DimNames(ResultIndices(s.program(), s.node(block)).size());
  std::vector<std::string> axes, inner;
  for (size_t d = 0; d < names.size(); ++d) {
    const bool tiled = d + 2 >= names.size();
    const int64_t size = d + 1 == names.size() ? unit.n : unit.m;
    axes.push_back(tiled ? absl::StrCat(names[d], "/", size) : names[d]);
    if (tiled) inner.push_back(absl::StrCat(names[d], "%", size));
  }
  axes.insert(axes.end(), inner.begin(), inner.end());
  s.TransformLayout(block, -1, LayoutMap(names, axes));
}

// Adds an accumulator for the sums of a tile in registers, or on the stack for an intrinsic with results in memory,
// until the last reduction level is done. With `cache`, a buffer on the stack also accumulates over all reduction
// levels. Orders the loops of the blocks that add an accumulator to the result. In the first such block, unrolls all
// these loops but the last one, and vectorizes the last one if there is an `axis` or `unit`.
void Accumulate(Schedule& s, Block block, const Tiles& tiles, const std::optional<VectorAxis>& axis,
                const IntrinsicFamily* unit, bool cache) {
  const bool memory = unit != nullptr && unit->result == Storage::kGlobal;
  const Block combine = s.AccumulateAt(block, tiles.last_before_inner, memory ? "stack" : "register");
  const std::vector<Loop> loops = OrderCombine(s, combine, tiles.last_before_inner, axis);
  UnrollInner(s, loops, loops.size());
  if (axis) TransposeAccumulator(s, block, *axis);
  if (axis || unit != nullptr) s.Vectorize(loops.empty() ? Loop{} : loops.back());
  if (unit != nullptr && unit->registers > 0) LayOutUnits(s, block, *unit);
  if (!cache) return;
  OrderCombine(s, s.AccumulateAt(combine, tiles.last_before_reduction, "stack"), tiles.last_before_reduction,
               std::nullopt);
  if (axis) TransposeAccumulator(s, combine, *axis);
}

}  // namespace

void TileForReuse(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit) {
  if (absl::Status levels = CheckEpilogueLevels(options); !levels.ok()) return s.Fail(levels);
  if (unit != nullptr) {
    s.Einsum(block, {unit->m, unit->n, unit->k});
  } else {
    OrderByResult(s, block);
  }
  if (!s.ok()) return;
  const std::vector<Id> consumers = Consumers(s.program(), s.node(block));
  int write = 1;
  if (unit == nullptr && HasReuse(s.program(), s.node(block))) {
    write = s.Choose("write-reuse", {"none", "registers", "stack"});
  } else if (unit == nullptr) {  // windows: tiles gain by sums in registers alone
    write = 1 + s.Choose("write-reuse", {"registers", "stack"});
  }
  const bool across = unit == nullptr && s.target().policies.Has(Policy::kVectorAxis);
  std::optional<VectorAxis> axis = across ? FindVectorAxis(s, block) : std::nullopt;
  if (axis && !axis->in_blocks && (write == 0 || s.Choose("vector-axis", {"no", "yes"}) == 0)) axis.reset();
  if (axis) MoveInnermost(s, block, *axis);
  const bool groups = s.target().policies.Has(Policy::kGroupedLanes);
  const std::vector<TiledOperand> operands = TiledOperandsOf(s.program(), s.node(block), unit, groups);
  const std::vector<ReadReuse> ways = WaysOfReading(s.program(), s.node(block), operands, unit);
  const ReadReuse read = ways[s.Choose("read-reuse", NamesOf(ways))];
  const bool may_fuse = consumers.size() == 1 && s.program().block(consumers[0]).monoid == kNone;
  std::vector<std::string> places = {"none"};
  if (may_fuse) {
    for (const int64_t level : options.epilogue) places.push_back(absl::StrCat("level-", level));
  }
  const int place = s.Choose("epilogue", places);
  std::vector<Block> epilogue;
  if (place > 0) epilogue = s.GetConsumers(block);

  const Tiles tiles = TileLoops(s, block, options, read.columns_first, unit);
  if (axis) s.Vectorize(tiles.levels.back().back());
  if (write > 0) Accumulate(s, block, tiles, axis, unit, write > 1);
  for (const TiledOperand& operand : operands) {
    const bool lanes = axis && axis->step == 1 && operand.access.DependsOn(static_cast<int>(axis->loop));
    if (!read.copies[operand.number] && !lanes) continue;
    (operand.constant ? PrepackConstant : PackOperand)(s, block, operand, tiles);
  }
  for (const Block consumer : epilogue) FuseEpilogue(s, consumer, tiles, options.epilogue[place - 1]);
  if (unit != nullptr) s.Tensorize(s.Blockize(tiles.unit[0]), unit->compute);
}

}  // namespace kiln
