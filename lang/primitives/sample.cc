// sample-perfect-tile, sample-categorical: the distributions of lang/distribution.h over the program as it
// stands.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/primitive.h"

namespace kiln {
namespace {

absl::Status SamplePerfectTile(Call& call) {
  const LoopNode& loop = call.program().loop(call.node(0));
  const int64_t parts = call.Int(0), budget = call.Int(2);
  int64_t innermost = call.Int(1);
  if (parts < 2 || parts > 8 || innermost < 0 || budget < 0) {
    return absl::InvalidArgumentError(absl::StrCat("n=", parts, " innermost=", innermost, " budget=", budget,
                                                   ": 2 <= n <= 8, the others >= 0"));
  }
  if (!loop.extent.constant()) return absl::FailedPreconditionError("the extent of the loop is not constant");
  if (budget > 0) {
    int64_t left = budget;
    for (int i = 1; i < call.num_operands(); ++i) {
      if (!call.IsValue(i)) return absl::InvalidArgumentError("`within` names sampled tiles, not numbers");
      left /= std::max<int64_t>(1, call.value(i).back());
    }
    left = std::max<int64_t>(1, left);
    innermost = innermost == 0 ? left : std::min(innermost, left);
  }
  return call.Draw(Distribution::PerfectTile(loop.extent.max, static_cast<int>(parts), innermost));
}

absl::Status SampleCategorical(Call& call) {
  const std::vector<int64_t>& values = call.Ints(0);
  const std::vector<double>& weights = call.Floats(1);
  if (values.empty() || (!weights.empty() && weights.size() != values.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(values.size(), " values and ", weights.size(), " weights"));
  }
  for (const double w : weights) {
    if (!(w > 0)) return absl::InvalidArgumentError(absl::StrCat("weight ", w, " is not positive"));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (values[i] == values[j])
        return absl::InvalidArgumentError(absl::StrCat("value ", values[i], " is given twice"));
    }
  }
  return call.Draw(weights.empty() ? Distribution::Uniform(values) : Distribution::Discrete(values, weights));
}

const Primitive kSamplePerfectTile{
    .name = "sample-perfect-tile",
    .operands = {{"loop", OperandKind::kLoop}, {"within", OperandKind::kFactor, true}},
    .attributes = {{"n", int64_t{4}}, {"innermost", int64_t{64}}, {"budget", int64_t{0}}},
    .result = HandleKind::kValue,
    .result_names = "factors",
    .sampling = true,
    .reads_only = true,
    .doc =
        "n factors whose product is the extent of the loop, the last at most `innermost` (0: any), uniformly."
        " With a budget, the product of the last factor and those of the tiles `within` stays within it.",
    .apply = SamplePerfectTile,
};
KILN_PRIMITIVE(kSamplePerfectTile);

const Primitive kSampleCategorical{
    .name = "sample-categorical",
    .operands = {},
    .attributes = {{"values", std::vector<int64_t>()}, {"weights", std::vector<double>()}},
    .result = HandleKind::kValue,
    .result_names = "value",
    .sampling = true,
    .reads_only = true,
    .doc = "One of the values, with the weights given (none: all equal).",
    .apply = SampleCategorical,
};
KILN_PRIMITIVE(kSampleCategorical);

}  // namespace
}  // namespace kiln
