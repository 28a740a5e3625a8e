// parallel, vectorize, unroll: set how a loop runs.
//
//   for i in 0..E: S(i)      ->      parallel i in 0..E: S(i)        (vectorized, unrolled)
#include "absl/strings/str_cat.h"
#include "lang/analysis/loops.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status SetKind(Call& call, LoopKind kind, absl::Status (*check)(const Program&, Id)) {
  Program& p = call.program();
  const Id loop = call.node(0);
  if (p.loop(loop).kind != LoopKind::kSerial) {
    return absl::FailedPreconditionError(
        absl::StrCat("loop ", p.Text(p.loop(loop).name), " is ", ToString(p.loop(loop).kind), " already"));
  }
  const absl::Status status = check(p, loop);
  if (status.ok()) p.loop(loop).kind = kind;
  return status;
}

absl::Status Parallel(Call& call) { return SetKind(call, LoopKind::kParallel, CheckDataParallel); }
absl::Status Vectorize(Call& call) { return SetKind(call, LoopKind::kVectorized, CheckVectorizable); }
absl::Status Unroll(Call& call) {
  return SetKind(call, LoopKind::kUnrolled, [](const Program&, Id) { return absl::OkStatus(); });
}

const Primitive kParallel{
    .name = "parallel",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Iterations run on the threads of the pool.\nfor i: S(i)\n->\nparallel i: S(i)\n"
        "Does not apply when the loop feeds a reduction, or when a block below writes, outside of the "
        "loop's own temporaries, elements that do not depend on it.",
    .apply = Parallel,
};
KILN_PRIMITIVE(kParallel);

const Primitive kVectorize{
    .name = "vectorize",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Iterations become the lanes of vectors.\nfor i: S(i)\n->\nvectorized i: S(i)\n"
        "A reduction combines lanes in a tree at the loop's end. Does not apply when there is a parallel or "
        "vectorized loop below, or a block whose elements do not depend on the loop.",
    .apply = Vectorize,
};
KILN_PRIMITIVE(kVectorize);

const Primitive kUnroll{
    .name = "unroll",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc = "Iterations become straight-line code.\nfor i in 0..2: S(i)\n->\nS(0); S(1)",
    .apply = Unroll,
};
KILN_PRIMITIVE(kUnroll);

}  // namespace
}  // namespace kiln
