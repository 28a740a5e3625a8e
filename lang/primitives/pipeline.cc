// pipeline
//
//   for k in 0..K:                      pipelined k in 0..K (0, 1; S in 2 copies):
//     S[..] = A[.., k]           ->       S[..] = A[.., k]          stage 0: an iteration ahead
//     C[..] += S[..]                      C[..] += S[..]            stage 1
//
// Children of lower stages run ahead. Rings hold several copies of the buffers that pass between children.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/base/unknown_name.h"
#include "lang/program/text_names.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

constexpr int64_t kMax = 1 << 20;

// Checks that a list is empty or has one number for each of `count` items. kFailedPrecondition otherwise;
// kInvalidArgument if a number is not in 0 .. kMax.
absl::Status CheckList(const std::vector<int64_t>& list, size_t count, absl::string_view what) {
  if (!list.empty() && list.size() != count)
    return absl::FailedPreconditionError(
        absl::StrCat(list.size(), " ", what, " are given, and there are ", count));
  for (const int64_t number : list) {
    if (number < 0 || number > kMax)
      return absl::InvalidArgumentError(absl::StrCat(number, " among the ", what));
  }
  return absl::OkStatus();
}

absl::Status Pipeline(Call& call) {
  Program& p = call.program();
  const Id loop = call.node(0);
  if (p.loop(loop).kind != LoopKind::kSerial) {
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, loop), " is ", ToString(p.loop(loop).kind),
                                                      "; only a serial loop can be pipelined"));
  }
  const std::vector<CarriedBuffer> carried = CarriedBuffers(p, loop);
  size_t children = 0;
  for (Id child = p.nodes[loop].first; child != kNone; child = p.nodes[child].next) ++children;
  const auto &stage = call.Ints(0), &order = call.Ints(1), &depth = call.Ints(2), &producers = call.Ints(4);
  // Reads the depths from the operands. Older traces have them as an attribute, from which no stages follow.
  const auto numbers = call.numbers(1);
  std::vector<int64_t> copies(numbers.begin(), numbers.end());
  if (copies.size() == 1) copies.resize(carried.size(), copies[0]);
  for (const int64_t copy : copies) {  // a refusal: it may be another number with other decisions
    if (copy < 0 || copy > kMax)
      return absl::FailedPreconditionError(absl::StrCat("a buffer has ", copy, " copies"));
  }
  absl::Status status = CheckList(stage, children, "stages of children");
  if (status.ok() && !copies.empty() && !depth.empty())
    return absl::InvalidArgumentError("depths are given twice");
  if (status.ok()) status = CheckList(copies, carried.size(), "depths of buffers that children carry");
  if (status.ok()) status = CheckList(order, children, "positions of children");
  if (status.ok()) status = CheckList(depth, carried.size(), "depths of buffers that children carry");
  if (!status.ok()) return status;
  const auto transport = std::find(std::begin(kTransportNames), std::end(kTransportNames), call.Text(3));
  if (transport == std::end(kTransportNames))
    return absl::InvalidArgumentError(UnknownName("transport", call.Text(3), kTransportNames));

  std::vector<PipelineStage> stages(children);
  for (size_t c = 0; c < children; ++c) {
    stages[c].order = static_cast<int32_t>(order.empty() ? static_cast<int64_t>(c) : order[c]);
    if (!stage.empty()) stages[c].stage = static_cast<int32_t>(stage[c]);
    if (!stage.empty()) continue;
    for (size_t i = 0; i < carried.size(); ++i) {
      const CarriedBuffer& other = carried[i];
      const int64_t behind = copies.empty() ? 1 : std::max<int64_t>(0, copies[i] - 1);
      if (absl::c_linear_search(other.readers, static_cast<int>(c)))
        stages[c].stage =
            std::max(stages[c].stage, stages[other.writer].stage + static_cast<int32_t>(behind));
    }
  }
  for (const int64_t c : producers) {
    if (c < 0 || c >= static_cast<int64_t>(children))
      return absl::FailedPreconditionError(absl::StrCat("there is no child ", c, " of ", Describe(p, loop)));
    stages[c].role = PipelineRole::kProducer;
  }
  std::vector<Ring> rings;
  for (size_t i = 0; i < carried.size(); ++i) {
    Ring ring{carried[i].buffer, 1, static_cast<Transport>(transport - std::begin(kTransportNames))};
    for (const int reader : carried[i].readers)
      ring.depth = std::max(ring.depth, stages[reader].stage - stages[carried[i].writer].stage + 1);
    if (!depth.empty() || !copies.empty())
      ring.depth = static_cast<int32_t>(depth.empty() ? copies[i] : depth[i]);
    rings.push_back(ring);
  }
  p.SetPipeline(loop, stages, rings);
  return absl::OkStatus();
}

const Primitive kPipeline{
    .name = "pipeline",
    .operands = {{"loop", OperandKind::kLoop}, {"copies", OperandKind::kFactor, true}},
    .attributes = {{"stages", std::vector<int64_t>()},
                   {"order", std::vector<int64_t>()},
                   {"depths", std::vector<int64_t>()},
                   {"transport", std::string("sync")},
                   {"producers", std::vector<int64_t>()}},
    .result = HandleKind::kLoop,
    .result_names = "",
    .restricts = true,
    .doc =
        "Overlaps the children of a serial loop. While a child in stage s runs an iteration, a child in "
        "stage 0 runs the s-th iteration after it; `order` gives the order of the children. A ring holds "
        "as many copies of a buffer that one child writes for others as the stages need, or as `copies` "
        "says (one number for all, or one by buffer, in the order in which the children write them). If "
        "copies are given and no stages, a reader is as many stages behind as its rings have copies, less "
        "one. Older traces list the copies in the attribute `depths`. Data travel by loads and "
        "stores (sync) or by copies that are waited for (async, bulk). `producers` are children that "
        "only write data for others; they may run on threads of their own. If the lists are empty, a "
        "child is one stage behind the children whose results it reads.\n"
        "for k:\n"
        "  S[..] = A[.., k]\n"
        "  C[..] += S[..]\n"
        "-> pipeline stages=[0, 1]\n"
        "pipelined k (S in 2 copies):\n"
        "  S[..] = A[.., k]    an iteration ahead\n"
        "  C[..] += S[..]\n"
        "Does not apply in these cases: two children write one buffer; a buffer that a child writes for "
        "others is used outside the loop, is not written again in each iteration by one block, or is "
        "read where another iteration may have written it; a stage comes before that of the data it "
        "reads; a ring has fewer copies than the distance of its stages plus one; data that travel other "
        "than sync are not a plain copy, or zeros beyond bounds (for bulk: of a box, within the bounds of "
        "the buffer, and of what the same nest does not write). Later steps on the loop that would violate "
        "this do not apply either.",
    .apply = Pipeline,
};
KILN_PRIMITIVE(kPipeline);

}  // namespace
}  // namespace kiln
