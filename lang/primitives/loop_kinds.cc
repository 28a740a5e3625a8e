// parallel, vectorize, unroll: set how a serial loop runs.
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
        "Runs the iterations of a loop on the threads of the pool.\n"
        "for i: S(i)\n->\n"
        "parallel i: S(i)\n"
        "Does not apply if the loop feeds a reduction, or if a block below it writes elements that do "
        "not depend on the loop, except in the loop's own temporaries.",
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
        "Runs the iterations of a loop as the lanes of vectors.\n"
        "for i: S(i)\n->\n"
        "vectorized i: S(i)\n"
        "A reduction combines its lanes in a tree at the end of the loop. Does not apply if there is a "
        "parallel or vectorized loop below, or a block whose elements do not depend on the loop.",
    .apply = Vectorize,
};
KILN_PRIMITIVE(kVectorize);

const Primitive kUnroll{
    .name = "unroll",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kLoop,
    .result_names = "",
    .doc =
        "Unrolls a loop: its iterations become straight-line code.\n"
        "for i in 0..2: S(i)\n->\n"
        "S(0); S(1)",
    .apply = Unroll,
};
KILN_PRIMITIVE(kUnroll);

}  // namespace
}  // namespace kiln
