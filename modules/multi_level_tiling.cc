// Multi-Level-Tiling: tiles for every level of the memory hierarchy (NeurIPS'22, section 3.2).
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   -> for i0, j0, i1, j1, k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//
// Applies to: reductions that reuse what they load (HasReuse). The structure is data: S a level of spatial
// tiles, R of reduction tiles. The innermost fit the vector registers together, the last as whole vectors;
// rows (the others) need not divide the extent: six rows of two vectors keep twelve sums.
// Structure:  write-reuse = none | registers above the last R level | those, and a cache above the first
//             read-reuse  = none | one operand packed | all that may be (pack_operands.h; constants:
//                           layout_rewrite.cc) | all, walking down the rows of each panel of columns (Goto's
//                           order)
//             lanes-across = no | along another dimension of the result (lanes_across.cc)
//             epilogue    = apart | the consumer below a level of the option (fuse_epilogue.cc)
#include "lang/analysis/dataflow.h"
#include "modules/pack_operands.h"
#include "modules/untouched.h"

namespace kiln {

BlockModule MultiLevelTiling(MultiLevelTilingOptions options) {
  return {"multi-level-tiling", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Declines(CheckReuses(s.program(), s.node(block))) ||
                s.Declines(CheckUntouched(s.program(), s.node(block))))
              return;
            OrderByResult(s, block);
            const std::vector<Id> consumers = Consumers(s.program(), s.node(block));
            const int write = s.Choose("write-reuse", 3);
            std::optional<Across> across = write > 0 ? FindAcross(s, block) : std::nullopt;
            if (across && s.Choose("lanes-across", 2) == 0) across.reset();
            if (across) TurnLoops(s, block, *across);
            std::vector<Id> operands = ReadBuffers(s.program(), s.node(block));  // initial values last
            if (ReadsInitially(s.program(), s.node(block), operands.back())) operands.pop_back();
            std::vector<OperandIndex> indices;
            std::vector<bool> constant;
            std::vector<int> packable;  // positions of operands
            for (const Id operand : operands) {
              indices.push_back(IndexOf(s.program(), s.node(block), operand));
              constant.push_back(IsConstant(s.program(), operand));
              if (constant.back() || IsReusedWhole(s.program(), s.node(block), indices.back()))
                packable.push_back(static_cast<int>(indices.size()) - 1);
            }
            const int count = static_cast<int>(packable.size());
            const int read = s.Choose("read-reuse", count > 1 ? count + 3 : count + 1);
            const bool may_fuse = consumers.size() == 1 && s.program().block(consumers[0]).monoid == kNone;
            const int places = may_fuse ? static_cast<int>(options.epilogue.size()) : 0;
            const int place = s.Choose("epilogue", 1 + places);
            std::vector<Block> epilogue;
            if (place > 0) epilogue = s.GetConsumers(block);

            const Tiles tiles = TileLoops(s, block, options, /*columns_first=*/read == count + 2);
            if (write > 0) {
              const Block combine = s.AccumulateAt(block, tiles.last_before_inner, "register");
              const Loop last = LayOutCombine(s, combine, tiles.last_before_inner, across);
              if (across) {
                LayOutSums(s, block, across->dim);
                s.Vectorize(tiles.levels.back().back());
                s.Vectorize(last);
              }
              if (write > 1) s.AccumulateAt(combine, tiles.last_before_reduction, "stack");
            }
            for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
              const bool lanes = across && indices[i].DependsOn(static_cast<int>(across->loop));
              const auto chosen = std::find(packable.begin(), packable.end(), i);
              const bool packs =
                  chosen != packable.end() && (read > count || read == chosen - packable.begin() + 1);
              if (!packs && !lanes) continue;
              (constant[i] ? RewriteLayout : PackOperand)(s, block, i, indices[i], tiles);
            }
            for (const Block consumer : epilogue)
              FuseEpilogue(s, consumer, tiles, options.epilogue[place - 1]);
          }};
}

KILN_MODULE("multi-level-tiling", MultiLevelTiling, Option("structure", &MultiLevelTilingOptions::structure),
            Option("max-innermost", &MultiLevelTilingOptions::max_innermost),
            Option("max-reduction", &MultiLevelTilingOptions::max_reduction),
            Option("waste-percent", &MultiLevelTilingOptions::waste_percent),
            Option("epilogue", &MultiLevelTilingOptions::epilogue));

}  // namespace kiln
