#include "backends/model/bind_weights.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

constexpr size_t kMaxInMessage = 10;

struct Constant {
  std::string name;      // of the buffer
  std::string argument;  // in the file, or empty
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;

  const std::string& shown() const { return argument.empty() ? name : argument; }
};

std::vector<Constant> ConstantsOf(const Program& program, const std::vector<std::string>& arguments,
                                  const std::map<std::string, absl::string_view>& known) {
  std::vector<Constant> constants;
  for (const Id id : program.parameters) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.role != Role::kConstant || known.contains(std::string(program.Text(buffer.name)))) continue;
    Constant& constant = constants.emplace_back();
    constant.name = std::string(program.Text(buffer.name));
    absl::string_view number = constant.name;
    size_t position = 0;
    if (absl::ConsumePrefix(&number, "arg") && absl::SimpleAtoi(number, &position) &&
        position < arguments.size())
      constant.argument = arguments[position];
    constant.dtype = buffer.dtype;
    for (const Extent& extent : program.Dims(buffer.shape)) constant.shape.push_back(extent.Known());
  }
  return constants;
}

bool Fits(const Constant& constant, const WeightTensor& tensor) {
  const auto signless = [](DType dtype) { return dtype == DType::kU8 ? DType::kI8 : dtype; };
  return signless(constant.dtype) == signless(tensor.dtype) && constant.shape == tensor.shape;
}

// Returns the tensor with the name of each constant, null for a constant without one. Returns an empty list if no
// tensor has the name of an argument or constant.
std::vector<const WeightTensor*> ByName(const std::vector<Constant>& constants,
                                        const std::vector<std::string>& arguments, const WeightsFile& file) {
  std::map<absl::string_view, const WeightTensor*> tensors;
  for (const WeightTensor& tensor : file.tensors()) tensors[tensor.name] = &tensor;
  bool any = std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return !argument.empty() && tensors.contains(argument);
  });
  std::vector<const WeightTensor*> found;
  for (const Constant& constant : constants) {
    auto at = tensors.find(constant.argument);
    if (constant.argument.empty() || at == tensors.end()) at = tensors.find(constant.name);
    found.push_back(at == tensors.end() ? nullptr : at->second);
    any |= found.back() != nullptr;
  }
  if (!any) found.clear();
  return found;
}

std::vector<const WeightTensor*> InOrder(size_t count, const WeightsFile& file) {
  std::vector<const WeightTensor*> found;
  for (const WeightTensor& tensor : file.tensors()) {
    if (found.size() < count && !tensor.bytes.empty()) found.push_back(&tensor);
  }
  found.resize(count, nullptr);
  return found;
}

void AppendList(absl::string_view heading, std::vector<std::string> lines, std::string* text) {
  const size_t all = lines.size();
  if (all == 0) return;
  if (all > kMaxInMessage) {
    lines.resize(kMaxInMessage);
    lines.push_back(absl::StrCat("and ", all - kMaxInMessage, " more"));
  }
  absl::StrAppend(text, "\n  ", heading, ": ", absl::StrJoin(lines, ", "));
}

std::string Problems(const std::vector<Constant>& constants, const std::vector<const WeightTensor*>& found,
                     const WeightsFile& file) {
  std::vector<std::string> missing, surplus, mismatching;
  for (size_t i = 0; i < constants.size(); ++i) {
    const Constant& constant = constants[i];
    const std::string wanted = TypeText(constant.dtype, constant.shape);
    if (found[i] == nullptr) {
      missing.push_back(absl::StrCat(constant.shown(), " ", wanted));
    } else if (!Fits(constant, *found[i])) {
      const std::string& name = found[i]->name;
      mismatching.push_back(
          absl::StrCat(name, name == constant.shown() ? "" : absl::StrCat(" (for ", constant.shown(), ")"),
                       " is ", TypeText(found[i]->dtype, found[i]->shape), ", wanted ", wanted));
    }
  }
  const std::set<const WeightTensor*> used(found.begin(), found.end());
  for (const WeightTensor& tensor : file.tensors()) {
    if (!used.contains(&tensor) && !tensor.bytes.empty())
      surplus.push_back(absl::StrCat(tensor.name, " ", TypeText(tensor.dtype, tensor.shape)));
  }
  std::string text;
  AppendList("missing", missing, &text);
  AppendList("surplus", surplus, &text);
  AppendList("mismatching", mismatching, &text);
  return text;
}

}  // namespace

absl::StatusOr<std::vector<const WeightTensor*>> BindWeights(
    const Program& program, const std::vector<std::string>& arguments, const WeightsFile& file,
    const std::map<std::string, absl::string_view>& known) {
  const std::vector<Constant> constants = ConstantsOf(program, arguments, known);
  std::vector<const WeightTensor*> found = ByName(constants, arguments, file);
  const bool by_name = !found.empty();
  if (!by_name) found = InOrder(constants.size(), file);
  const std::string problems = Problems(constants, found, file);
  if (problems.empty()) return found;
  return WeightsError(file.name(), file.tensors().size(), " tensors do not fit the ", constants.size(),
                      " constants of ", program.name, by_name ? " by name" : " in order", problems);
}

}  // namespace kiln
