#include "modules/gpu/operand_strides.h"

#include <algorithm>
#include <cstdlib>

#include "absl/algorithm/container.h"
#include "lang/analysis/access.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"

namespace kiln {

std::vector<OperandStrides> StridesOfOperands(const Program& p, Id block) {
  const std::vector<Id> around = LoopsAround(p, block), loads = Loads(p, block);
  const std::vector<Indices> reads = ReadIndices(p, block);
  const Bindings bindings = ResolveBindings(p, block);
  std::vector<OperandStrides> operands;
  for (const Id buffer : ReadBuffers(p, block)) {
    OperandStrides operand{std::vector<int64_t>(around.size(), 0), SizeOf(p.buffers[buffer].dtype)};
    const std::vector<Id> own = LoadsOf(p, block, buffer);
    for (size_t r = 0; r < loads.size(); ++r) {
      if (!absl::c_linear_search(own, loads[r])) continue;
      for (const IndexSum& index : reads[r]) {
        for (const IndexSplit& split : index.splits) {
          for (const Id loop : LoopsAlong(bindings, IndexSum{0, {split}})) {
            int64_t& stride = operand.strides[absl::c_find(around, loop) - around.begin()];
            stride = std::max<int64_t>(stride, 1) * std::max<int64_t>(1, std::abs(split.scale));
          }
        }
      }
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

}  // namespace kiln
