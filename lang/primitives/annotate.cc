// annotate-block, annotate-loop: attach a key and a number that modules and lowering may read. They do not
// change the meaning of the program.
#include "lang/analysis/annotations.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status AnnotateBlock(Call& call) {
  SetAnnotation(call.program(), call.program().block(call.node(0)).annotations, call.Text(0), call.Int(1));
  return absl::OkStatus();
}

absl::Status AnnotateLoop(Call& call) {
  SetAnnotation(call.program(), call.program().loop(call.node(0)).annotations, call.Text(0), call.Int(1));
  return absl::OkStatus();
}

const Primitive kAnnotateBlock{
    .name = "annotate-block",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"key", std::string()}, {"value", int64_t{0}}},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Sets a named number on a block; it changes no meaning. `fast-math` other than 0: functions such as "
        "tanh and powf may be less accurate there, and faster (backends/cpu/passes/vector_math.h). `stream` other "
        "than 0: whole vectors are stored past the caches. `finite` other than 0 is what the lemma `assume-finite` "
        "sets, and an assumption about the data too.",
    .apply = AnnotateBlock,
};
KILN_PRIMITIVE(kAnnotateBlock);

const Primitive kAnnotateLoop{
    .name = "annotate-loop",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {{"key", std::string()}, {"value", int64_t{0}}},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Sets a named number on a loop; it changes no meaning. `unrolled-steps`: so many iterations of a "
        "serial loop are written out in each that runs, if they divide its extent.",
    .apply = AnnotateLoop,
};
KILN_PRIMITIVE(kAnnotateLoop);

}  // namespace
}  // namespace kiln
