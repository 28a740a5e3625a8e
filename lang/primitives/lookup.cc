// get-block, get-loops, get-producers, get-consumers: return handles of a block by its name, of the loops around a
// block, and of the blocks that write what a block reads, or read what it writes. They do not change the program.
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/unknown_name.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status GetBlock(Call& call) {
  const Program& p = call.program();
  std::vector<absl::string_view> names;
  for (const Id block : Blocks(p)) {
    const absl::string_view name = p.Text(p.block(block).name);
    if (name == call.Text(0)) {
      call.Return(block);
      return absl::OkStatus();
    }
    names.push_back(name);
  }
  return absl::FailedPreconditionError(UnknownName("block", call.Text(0), names));
}

absl::Status GetLoops(Call& call) {
  const Program& p = call.program();
  const Id enclosing = EnclosingBlock(p, call.node(0));
  for (const Id loop : LoopsAround(p, call.node(0))) {
    if (EnclosingBlock(p, loop) == enclosing) call.Return(loop);
  }
  return absl::OkStatus();
}

absl::Status GetProducers(Call& call) {
  for (const Id block : Producers(call.program(), call.node(0))) call.Return(block);
  return absl::OkStatus();
}

absl::Status GetConsumers(Call& call) {
  for (const Id block : Consumers(call.program(), call.node(0))) call.Return(block);
  return absl::OkStatus();
}

const Primitive kGetBlock{
    .name = "get-block",
    .operands = {},
    .attributes = {{"name", std::string()}},
    .result = HandleKind::kBlock,
    .result_names = "block",
    .reads_only = true,
    .doc = "Returns the block with this name. Does not apply if there is none.",
    .apply = GetBlock,
};
KILN_PRIMITIVE(kGetBlock);

const Primitive kGetLoops{
    .name = "get-loops",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "loops...",
    .reads_only = true,
    .doc = "Returns the loops around a block up to its enclosing block, outermost first.",
    .apply = GetLoops,
};
KILN_PRIMITIVE(kGetLoops);

const Primitive kGetProducers{
    .name = "get-producers",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "blocks...",
    .reads_only = true,
    .doc = "Returns the blocks that write the buffers which a block reads, in program order.",
    .apply = GetProducers,
};
KILN_PRIMITIVE(kGetProducers);

const Primitive kGetConsumers{
    .name = "get-consumers",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "blocks...",
    .reads_only = true,
    .doc = "Returns the blocks that read the buffers which a block writes, in program order.",
    .apply = GetConsumers,
};
KILN_PRIMITIVE(kGetConsumers);

}  // namespace
}  // namespace kiln
