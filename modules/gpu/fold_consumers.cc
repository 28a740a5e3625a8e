#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/gpu/gpu.h"

namespace kiln {

void FoldConsumers(Schedule& s, Block combine) {
  while (s.ok()) {
    const Program& p = s.program();
    const std::vector<Id> consumers = Consumers(p, s.node(combine));
    if (consumers.size() != 1 || p.block(consumers[0]).monoid != kNone ||
        !CheckReverseComputeInline(p, consumers[0]).ok())
      return;
    s.ReverseComputeInline(s.GetConsumers(combine)[0]);
  }
}

}  // namespace kiln
