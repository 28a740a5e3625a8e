#include "backends/gpu/driver/check_outputs.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/runner/compare.h"
#include "backends/runner/data.h"

namespace kiln {
namespace {

GpuFailure Wrong(size_t param, int64_t index, double found, double wanted) {
  return {RunStatus::kWrongResult,
          absl::StrCat("parameter ", param, ", element ", index, ": ", found, " instead of ", wanted)};
}

GpuFailure CompareElements(const std::vector<WantedElement>& elements, const std::vector<KernelParam>& params,
                           const CudaBuffers& buffers, double* max_error) {
  std::map<int32_t, std::string> outputs;
  for (const WantedElement& element : elements) {
    const auto at = static_cast<size_t>(element.param);
    if (at >= params.size() || element.index < 0 || element.index >= params[at].elements)
      return {RunStatus::kLoadFailed, "an element that is wanted is in no parameter"};
    std::string& bytes = outputs[element.param];
    if (bytes.empty()) bytes = buffers.Download(at);
    // A comparison of arrays with one element, so that the rules of arrays hold.
    const std::string& dtype = params[at].dtype;
    const double found = LoadElement(dtype, bytes.data(), element.index);
    const Comparison comparison = CompareArrays("f64", &found, &element.value, 1,
                                                IsFloatDType(dtype) ? params[at].tolerance : Tolerance{});
    *max_error = std::max(*max_error, comparison.max_error);
    if (!comparison.agrees) return Wrong(at, element.index, found, element.value);
  }
  return {};
}

}  // namespace

GpuFailure CheckOutputs(const CudaBuffers& buffers, const WantedOutputs& wanted, double* max_error) {
  const std::vector<KernelParam>& params = wanted.kernel.params;
  const char* at = wanted.reference;
  for (size_t i = 0; i < params.size() && at != nullptr; ++i) {
    if (params[i].role != KernelParam::kOutput) continue;
    const std::string found = buffers.Download(i);
    const Comparison comparison =
        CompareArrays(params[i].dtype, found.data(), at, params[i].elements, params[i].tolerance);
    *max_error = std::max(*max_error, comparison.max_error);
    if (!comparison.agrees) return Wrong(i, comparison.worst_index, comparison.found, comparison.wanted);
    at += found.size();
  }
  for (const KernelField& field : wanted.kernel.fields) {
    if (field.tag != kWantedElementsField) continue;
    std::vector<WantedElement> elements;
    if (!Decode(field.bytes, &elements)) return {RunStatus::kLoadFailed, "the wanted elements are malformed"};
    return CompareElements(elements, params, buffers, max_error);
  }
  return {};
}

}  // namespace kiln
