// Draws random schedules of matrix products for GPUs: tile sizes, virtual threads, pipelines and padding.
//
//   const RandomTiles tiles = DrawTiles(dice);
//   if (tiles.schedule.ok()) ...          some draws do not fit
#pragma once

#include <algorithm>
#include <vector>

#include "lang/base/random.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"

namespace kiln {

struct RandomTiles {
  Program program;
  Schedule schedule;
};

inline SimtTile::Side DrawSide(Dice& dice) {
  constexpr int64_t kThreads[] = {1, 2, 4, 8}, kElements[] = {1, 2, 4};
  return {1 + dice.Below(2), kThreads[dice.Below(4)], kElements[dice.Below(3)]};
}

inline SimtTile DrawTile(Dice& dice) {
  constexpr int64_t kSome[] = {1, 2, 4};
  SimtTile tile{.rows = DrawSide(dice), .columns = DrawSide(dice), .step = 4 * (1 + dice.Below(2))};
  tile.vector = kSome[dice.Below(3)];
  tile.unrolled = kSome[dice.Below(3)];
  tile.transposes = dice.Flip(0.3);
  tile.pipeline.transport = dice.Flip(0.7) ? "async" : "sync";
  tile.pipeline.depths = {2 + dice.Below(3)};
  if (dice.Flip(0.5)) tile.pipeline.stages = {0, 0, 1};
  if (dice.Flip(0.2)) tile.pipeline.order = {1, 2, 0};
  return tile;
}

inline RandomTiles DrawTiles(Dice& dice) {
  const SimtTile tile = DrawTile(dice);
  const int64_t rows = tile.rows.size() * (1 + dice.Below(2)),
                columns = tile.columns.size() * (1 + dice.Below(2)), depth = tile.step * (1 + dice.Below(4));
  const auto less = [&](int64_t size) { return size - dice.Below(std::min<int64_t>(size, 3)); };
  const bool pads = dice.Flip(0.3);
  const Program program =
      pads ? Matmul(less(rows), less(columns), less(depth)) : Matmul(rows, columns, depth);
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  std::vector<Block> copies;
  if (pads) {
    s.Einsum(product, {tile.rows.size(), tile.columns.size(), tile.step});
    copies = {s.GetBlock("A.mk.1"), s.GetBlock("B.kn.1")};
  }
  s = TiledProduct(std::move(s), product, tile, copies);
  s.BindRest(4, 32);
  return {program, std::move(s)};
}

}  // namespace kiln
