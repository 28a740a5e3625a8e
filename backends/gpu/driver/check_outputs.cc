#include "backends/gpu/driver/check_outputs.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/runner/compare.h"
#include "backends/runner/data.h"

namespace kiln {
namespace {

constexpr int64_t kNear = 4096;  // elements that are copied back together, if single ones are wanted

GpuFailure Wrong(size_t param, int64_t index, double found, double wanted) {
  return {RunStatus::kWrongResult,
          absl::StrCat("parameter ", param, ", element ", index, ": ", found, " instead of ", wanted)};
}

// Calls visit for the parts of all outputs, each at most 16 MiB. `place` is the byte offset of the part in an array
// that holds all outputs one after the other. Ends when `visit` returns false.
void ForOutputs(const CudaBuffers& buffers, const std::vector<KernelParam>& params,
                const std::function<bool(const BlockHash& block, int64_t place)>& visit) {
  int64_t begin = 0;
  bool goes_on = true;
  for (size_t i = 0; i < params.size() && goes_on; ++i) {
    if (params[i].role != KernelParam::kOutput) continue;
    const int64_t size = DTypeBytes(params[i].dtype);
    buffers.ForBlocks(i, [&](int64_t first, int64_t elements) {
      return goes_on = visit({i, first, elements}, begin + first * size);
    });
    begin += params[i].elements * size;
  }
}

GpuFailure CompareElements(const std::vector<WantedElement>& elements, const std::vector<KernelParam>& params,
                           const CudaBuffers& buffers, double* max_error) {
  std::string near;  // elements of a parameter from `first` on
  int64_t first = 0;
  size_t of = params.size();
  for (const WantedElement& element : elements) {
    const auto at = static_cast<size_t>(element.param);
    if (at >= params.size() || element.index < 0 || element.index >= params[at].elements)
      return {RunStatus::kLoadFailed, "an element that is wanted is in no parameter"};
    if (at != of || element.index / kNear * kNear != first) {
      of = at;
      first = element.index / kNear * kNear;
      near = buffers.Download(at, first, std::min(kNear, params[at].elements - first));
    }
    // Compares the element with the wanted value as arrays of one number, so that the rules for arrays (tolerance, NaN)
    // hold.
    const std::string& dtype = params[at].dtype;
    const double found = LoadElement(dtype, near.data(), element.index - first);
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
  GpuFailure failure;
  const auto compare = [&](const BlockHash& block, int64_t place) {
    const std::string found = buffers.Download(block.param, block.first, block.elements);
    const KernelParam& param = params[block.param];
    const Comparison comparison =
        CompareArrays(param.dtype, found.data(), wanted.reference + place, block.elements, param.tolerance);
    *max_error = std::max(*max_error, comparison.max_error);
    if (!comparison.agrees)
      failure = Wrong(block.param, block.first + comparison.worst_index, comparison.found, comparison.wanted);
    return comparison.agrees;
  };
  if (wanted.reference != nullptr) ForOutputs(buffers, params, compare);
  for (const KernelField& field : wanted.kernel.fields) {
    if (field.tag != kWantedElementsField || !failure.ok()) continue;
    std::vector<WantedElement> elements;
    if (!Decode(field.bytes, &elements)) return {RunStatus::kLoadFailed, "the wanted elements are malformed"};
    failure = CompareElements(elements, params, buffers, max_error);
  }
  return failure;
}

GpuFailure CheckFinite(const CudaBuffers& buffers, const std::vector<KernelParam>& params,
                       const char* wanted) {
  GpuFailure failure;
  ForOutputs(buffers, params, [&](const BlockHash& block, int64_t place) {
    const std::string found = buffers.Download(block.param, block.first, block.elements);
    const std::string& dtype = params[block.param].dtype;
    const int64_t missed = FirstMissedFinite(dtype, found.data(), wanted + place, block.elements);
    if (missed >= 0) {
      failure = Wrong(block.param, block.first + missed, LoadElement(dtype, found.data(), missed),
                      LoadElement(dtype, wanted + place, missed));
      failure.detail += ", with inputs that lie far apart";
    }
    return missed < 0;
  });
  return failure;
}

std::vector<BlockHash> HashesOfOutputs(const CudaBuffers& buffers, const std::vector<KernelParam>& params) {
  std::vector<BlockHash> hashes;
  ForOutputs(buffers, params, [&](BlockHash block, int64_t) {
    block.hash = std::hash<std::string>()(buffers.Download(block.param, block.first, block.elements));
    hashes.push_back(block);
    return true;
  });
  return hashes;
}

}  // namespace kiln
