// add-unit-loop
//
//   S      ->      for u in 0..1: S
//
// Adds a loop with one iteration around a loop (add-unit-loop) or a block (add-unit-loop-at).
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status AddUnitLoop(Call& call) {
  Program& p = call.program();
  const Id node = call.node(0);
  const Id unit = p.AddLoop("u", 1);
  p.Replace(node, unit);
  p.Append(unit, node);
  call.Return(unit);
  return absl::OkStatus();
}

const Primitive kAddUnitLoop{
    .name = "add-unit-loop",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "unit",
    .doc =
        "Adds a loop with one iteration around a loop.\n"
        "for i: S\n->\n"
        "for u in 0..1: for i: S",
    .apply = AddUnitLoop,
};
KILN_PRIMITIVE(kAddUnitLoop);

const Primitive kAddUnitLoopAt{
    .name = "add-unit-loop-at",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "unit",
    .doc =
        "Adds a loop with one iteration around a block.\n"
        "S\n->\n"
        "for u in 0..1: S",
    .apply = AddUnitLoop,
};
KILN_PRIMITIVE(kAddUnitLoopAt);

}  // namespace
}  // namespace kiln
