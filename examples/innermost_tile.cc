// A complete module of a user: tiles the two innermost loops of a block, or leaves the block as it is. A choice
// decides, if the block has at least two loops.
//
//   scripts/kiln tune examples/matmul.mlir --plugin examples/innermost_tile.cc \
//       --space "each-block(innermost-tile max-tile=32) | parallelize-vectorize-unroll"
#include "modules/module.h"

namespace {

struct Options {
  int64_t max_tile = 16;
};

kiln::BlockModule InnermostTile(Options options) {
  return {"innermost-tile", [options](kiln::Schedule& s, kiln::Block block) {
            const std::vector<kiln::Loop> loops = s.GetLoops(block);
            if (loops.size() < 2 || s.Choose("tile", 2) == 0) return;
            kiln::Schedule::TileOptions tile;
            tile.parts = 2;
            tile.innermost = options.max_tile;
            const auto outer = s.Split(loops[loops.size() - 2],
                                       {s.SamplePerfectTile(loops[loops.size() - 2], tile, "outer")});
            const auto inner = s.Split(loops.back(), {s.SamplePerfectTile(loops.back(), tile, "inner")});
            s.Reorder({outer[0], inner[0], outer[1], inner[1]});
          }};
}

}  // namespace

KILN_MODULE("innermost-tile", InnermostTile, kiln::Option("max-tile", &Options::max_tile, kiln::From(1)));
