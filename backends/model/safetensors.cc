#include "backends/model/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxHeader = 100'000'000;  // as in the reference implementation of the format

constexpr std::pair<DType, absl::string_view> kDTypes[] = {
    {DType::kF64, "F64"}, {DType::kF32, "F32"}, {DType::kF16, "F16"}, {DType::kBF16, "BF16"},
    {DType::kI64, "I64"}, {DType::kI32, "I32"}, {DType::kI16, "I16"}, {DType::kI8, "I8"},
    {DType::kU8, "U8"},   {DType::kI1, "BOOL"}};

std::string KnownDTypes() {
  std::string known;
  for (const auto& [dtype, word] : kDTypes) absl::StrAppend(&known, known.empty() ? "" : " ", word);
  return known;
}

struct Placed {
  WeightTensor tensor;
  uint64_t begin = 0, end = 0;
};

// Parses the JSON header of a .safetensors file. kInvalidArgument if it is no JSON object, or if the name of a tensor
// or a key of a tensor occurs twice.
absl::StatusOr<Json> ParseHeader(absl::string_view text, const std::string& file) {
  std::string problem, tensor;
  std::set<std::string> names, keys;
  const auto note_key = [&](int depth, Json::parse_event_t event, Json& key) {
    if (event != Json::parse_event_t::key || depth > 2) return true;
    const auto& word = key.get_ref<const std::string&>();
    if (depth == 1) {
      tensor = word;
      keys.clear();
      if (!names.insert(word).second) problem = "is there twice";
    } else if (!keys.insert(word).second && problem.empty()) {
      problem = absl::StrCat("has \"", word, "\" twice");
    }
    return problem.empty();
  };
  Json header;
  try {
    header = Json::parse(text, note_key);
  } catch (const Json::exception& error) {
    if (problem.empty()) return WeightsError(file, "the header is not JSON: ", error.what());
  }
  if (!problem.empty()) return TensorError(file, tensor, problem);
  if (!header.is_object())
    return WeightsError(file, "the header is ", header.type_name(), "; wanted an object");
  return header;
}

// Returns the value of a key of a JSON object, if it is a list of whole numbers that are not negative; otherwise
// nullopt.
std::optional<std::vector<int64_t>> NumbersOf(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > std::numeric_limits<int64_t>::max())
      return std::nullopt;
    numbers.push_back(number.get<int64_t>());
  }
  return numbers;
}

absl::StatusOr<Placed> ParseTensor(const std::string& name, const Json& entry, uint64_t data_bytes,
                                   const std::string& file) {
  if (!entry.is_object())
    return TensorError(file, name, "is ", entry.type_name(),
                       "; wanted an object with dtype, shape, data_offsets");
  Placed placed{.tensor = {.name = name}};
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) return TensorError(file, name, "has no dtype");
  const auto* known = std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const auto& row) {
    return row.second == dtype->get_ref<const std::string&>();
  });
  if (known == std::end(kDTypes)) {
    return TensorError(file, name, "dtype ", dtype->get_ref<const std::string&>(),
                       " is not supported; wanted one of ", KnownDTypes());
  }
  placed.tensor.dtype = known->first;
  auto shape = NumbersOf(entry, "shape");
  if (!shape) return TensorError(file, name, "has no shape, a list of whole numbers");
  placed.tensor.shape = *std::move(shape);
  const auto offsets = NumbersOf(entry, "data_offsets");
  if (!offsets || offsets->size() != 2)
    return TensorError(file, name, "has no data_offsets, a list of two whole numbers");
  placed.begin = static_cast<uint64_t>((*offsets)[0]);
  placed.end = static_cast<uint64_t>((*offsets)[1]);
  if (placed.begin > placed.end || placed.end > data_bytes) {
    return TensorError(file, name, "lies at bytes ", placed.begin, " to ", placed.end, " of ", data_bytes,
                       placed.begin > placed.end ? "" : ": the file is truncated");
  }
  const int64_t wanted = TensorBytes(placed.tensor.dtype, placed.tensor.shape);
  const std::string type = TypeText(placed.tensor.dtype, placed.tensor.shape);
  if (wanted < 0) return TensorError(file, name, type, " is too large");
  if (placed.end - placed.begin != static_cast<uint64_t>(wanted))
    return TensorError(file, name, "has ", placed.end - placed.begin, " bytes; ", type, " wants ", wanted);
  return placed;
}

// Checks that the sorted tensors of a .safetensors file follow one another without gaps or overlaps, and end where the
// file ends.
absl::Status CheckGaps(const std::vector<Placed>& placed, uint64_t data_bytes, const std::string& file) {
  uint64_t at = 0;
  for (size_t i = 0; i < placed.size(); ++i) {
    const Placed& next = placed[i];
    if (next.begin < at) {
      return TensorError(file, next.tensor.name, "begins at byte ", next.begin, ", in tensor \"",
                         placed[i - 1].tensor.name, "\", which ends at ", at);
    }
    if (next.begin > at)
      return TensorError(file, next.tensor.name, "begins at byte ", next.begin, "; wanted ", at,
                         ", without a gap");
    at = next.end;
  }
  if (at == data_bytes) return absl::OkStatus();
  return WeightsError(file, "has ", data_bytes, " bytes of tensors, but its tensors end at ", at);
}

}  // namespace

absl::StatusOr<std::vector<WeightTensor>> ParseSafetensors(absl::string_view file, const std::string& name) {
  uint64_t size = 0;
  if (file.size() < sizeof(size))
    return WeightsError(name, "has ", file.size(), " bytes; wanted 8 with the size of a safetensors header");
  std::memcpy(&size, file.data(), sizeof(size));
  file.remove_prefix(sizeof(size));
  if (size > kMaxHeader) {
    return WeightsError(name, "is no safetensors file: its header has ", size, " bytes; wanted at most ",
                        kMaxHeader);
  }
  if (size > file.size()) {
    return WeightsError(name, "its header has ", size, " bytes, but only ", file.size(),
                        " follow: the file is truncated");
  }
  const absl::StatusOr<Json> header = ParseHeader(file.substr(0, size), name);
  if (!header.ok()) return header.status();
  file.remove_prefix(size);
  std::vector<Placed> placed;
  for (const auto& [tensor, entry] : header->items()) {
    if (tensor == "__metadata__") continue;
    auto parsed = ParseTensor(tensor, entry, file.size(), name);
    if (!parsed.ok()) return parsed.status();
    placed.push_back(*std::move(parsed));
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  if (absl::Status status = CheckGaps(placed, file.size(), name); !status.ok()) return status;
  std::vector<WeightTensor> tensors;
  for (Placed& found : placed) {
    if (absl::StartsWith(found.tensor.name, kPaddingPrefix)) continue;
    found.tensor.bytes = file.substr(found.begin, found.end - found.begin);
    tensors.push_back(std::move(found.tensor));
  }
  return tensors;
}

absl::StatusOr<std::string> SafetensorsHeader(const std::vector<WeightTensor>& tensors,
                                              const std::vector<int64_t>& offsets, int64_t alignment,
                                              const std::string& name) {
  Json header = Json::object();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const WeightTensor& tensor = tensors[i];
    const auto* known = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                     [&](const auto& row) { return row.first == tensor.dtype; });
    const int64_t bytes = TensorBytes(tensor.dtype, tensor.shape);
    if (known == std::end(kDTypes) || bytes < 0)
      return TensorError(name, tensor.name, TypeText(tensor.dtype, tensor.shape), " cannot be written");
    if (tensor.name == "__metadata__" || header.contains(tensor.name))
      return TensorError(name, tensor.name, "is there twice, or its name is reserved");
    header[tensor.name] = {{"dtype", std::string(known->second)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offsets[i], offsets[i] + bytes}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    return WeightsError(name, "the name of a tensor is not UTF-8: ", error.what());
  }
  uint64_t size = text.size();
  const auto step = static_cast<uint64_t>(alignment);
  size = (size + sizeof(size) + step - 1) / step * step - sizeof(size);
  if (size > kMaxHeader) return WeightsError(name, "its header would have ", size, " bytes");
  text.resize(size, ' ');
  text.insert(0, reinterpret_cast<const char*>(&size), sizeof(size));
  return text;
}

}  // namespace kiln
