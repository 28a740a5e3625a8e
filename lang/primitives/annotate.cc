// annotate-block, annotate-loop: attach a key and a number that modules and lowering may read. Blocks and loops stay as
// they are. But `fast-math` permits less accurate functions, and `finite` is an assumption about the data.
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
        "Attaches a named number to a block without changing its meaning. If `fast-math` is not 0, "
        "functions such as tanh and powf may be faster and less accurate "
        "(backends/cpu/passes/vector_math.h). If `stream` is not 0, whole vectors are stored past the "
        "caches. The lemma `assume-finite` sets `finite`, which is also an assumption about the data.",
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
        "Attaches a named number to a loop without changing its meaning. `unrolled-steps` is the number "
        "of iterations of a serial loop that are unrolled together, if it divides the extent.",
    .apply = AnnotateLoop,
};
KILN_PRIMITIVE(kAnnotateLoop);

}  // namespace
}  // namespace kiln
