#include "backends/measure/chosen_elements.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "absl/strings/str_cat.h"
#include "lang/program/layout.h"
#include "lang/reference/element_evaluator.h"

namespace kiln {

ChosenElements EvaluateChosen(const Program& original, const Program& scheduled,
                              const ElementsOptions& options) {
  const auto input = [&](Id id, int64_t index) {
    const auto at = std::find(original.parameters.begin(), original.parameters.end(), id);
    const DType dtype = original.buffers[id].dtype;
    const auto position = at - original.parameters.begin();
    const double value = InputValue(options.data_seed, static_cast<int>(position),
                                    std::string(ToString(dtype)), index, options.ranges[position]);
    Scalar scalar;
    IsFloat(dtype) ? void(scalar.f = value) : void(scalar.i = static_cast<int64_t>(value));
    return scalar;
  };
  ElementEvaluator evaluator(original, input, options.stop);
  ChosenElements chosen;
  const std::vector<Element> elements =
      !options.elements.empty() ? options.elements
                                : ChooseElements(scheduled, options.of_each_output, options.data_seed);
  for (size_t n = 0; n < original.parameters.size(); ++n) {
    const Id id = original.parameters[n];
    if (original.buffers[id].role != Role::kOutput) continue;
    const auto shape = original.Dims(original.buffers[id].shape);
    for (const Element& at : elements) {
      if (at.buffer != scheduled.parameters[n]) continue;
      int64_t flat = 0;
      for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d].Known() + at.index[d];
      const auto value = evaluator.Evaluate(id, flat);
      if (absl::IsCancelled(value.status())) return chosen;
      if (!value.ok()) {
        chosen.error = absl::StrCat("the interpreter refuses it: ", value.status().message());
        return chosen;
      }
      chosen.elements.push_back({at, static_cast<int>(n), flat, *value});
    }
  }
  chosen.all = true;
  return chosen;
}

std::vector<Element> ChooseWritten(const Program& scheduled, const std::string& file, int n, uint64_t seed) {
  std::ifstream outputs(file, std::ios::binary);
  std::mt19937_64 random(seed);
  std::vector<Element> elements;
  for (const Id id : scheduled.parameters) {
    if (scheduled.buffers[id].role != Role::kOutput) continue;
    const int64_t size = SizeOf(scheduled.buffers[id].dtype);
    std::string bytes(static_cast<size_t>(BytesOf(scheduled, id)), '\0'), poison = bytes;
    outputs.read(bytes.data(), std::ssize(bytes));
    FillPoison(poison.data(), std::ssize(poison));
    std::vector<int64_t> written, chosen;
    for (int64_t at = 0; at < std::ssize(bytes); at += size)
      if (std::memcmp(bytes.data() + at, poison.data() + at, size) != 0) written.push_back(at / size);
    std::sample(written.begin(), written.end(), std::back_inserter(chosen), n, random);
    const auto shape = scheduled.Dims(scheduled.buffers[id].shape);
    for (int64_t flat : chosen) {
      elements.push_back({id, std::vector<int64_t>(shape.size())});
      for (size_t d = shape.size(); d-- > 0; flat /= shape[d].Known())
        elements.back().index[d] = flat % shape[d].Known();
    }
  }
  return elements;
}

}  // namespace kiln
