// sample-perfect-tile, sample-categorical: the distributions of lang/distribution.h over the program as it stands.
#include "absl/strings/str_cat.h"
#include "lang/primitive.h"

namespace kiln {
namespace {

absl::Status SamplePerfectTile(Call& call) {
  const LoopNode& loop = call.program().loop(call.node(0));
  const int64_t parts = call.Int(0), innermost = call.Int(1);
  if (parts < 2 || parts > 8 || innermost < 0) {
    return absl::InvalidArgumentError(absl::StrCat("n=", parts, " innermost=", innermost, ": 2 <= n <= 8, innermost >= 0"));
  }
  if (!loop.extent.constant()) return absl::FailedPreconditionError("the extent of the loop is not constant");
  return call.Draw(Distribution::PerfectTile(loop.extent.max, static_cast<int>(parts), innermost));
}

absl::Status SampleCategorical(Call& call) {
  const std::vector<int64_t>& values = call.Ints(0);
  const std::vector<double>& weights = call.Floats(1);
  if (values.empty() || (!weights.empty() && weights.size() != values.size())) {
    return absl::InvalidArgumentError(absl::StrCat(values.size(), " values and ", weights.size(), " weights"));
  }
  for (const double w : weights) {
    if (!(w > 0)) return absl::InvalidArgumentError(absl::StrCat("weight ", w, " is not positive"));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (values[i] == values[j]) return absl::InvalidArgumentError(absl::StrCat("value ", values[i], " is given twice"));
    }
  }
  return call.Draw(weights.empty() ? Distribution::Uniform(values) : Distribution::Discrete(values, weights));
}

const Primitive kSamplePerfectTile{
    .name = "sample-perfect-tile",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {{"n", int64_t{4}}, {"innermost", int64_t{64}}},
    .result = HandleKind::kValue,
    .result_names = "factors",
    .sampling = true,
    .reads_only = true,
    .doc = "n factors whose product is the extent of the loop, the last at most `innermost` (0: any), uniformly.",
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
