#include "backends/model/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace kiln {
namespace {

constexpr std::pair<absl::string_view, DType> kDTypes[] = {
    {"<f8", DType::kF64}, {"<f4", DType::kF32}, {"<f2", DType::kF16},
    {"<i8", DType::kI64}, {"<i4", DType::kI32}, {"<i2", DType::kI16},
    {"|i1", DType::kI8},  {"|u1", DType::kU8},  {"|b1", DType::kI1}};

struct Header {
  std::string dtype;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

// Parses the header of a .npy file, a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  explicit HeaderParser(absl::string_view text) : text_(text) {}

  // Stores the three fields in `header`. Returns false if the text is no such dictionary.
  bool Parse(Header* header) {
    if (!Eat("{")) return false;
    while (!Eat("}")) {
      const auto key = Text();
      if (!key || !Eat(":") || !Value(*key, header)) return false;
      if (!Eat(",") && !Next("}")) return false;
    }
    Skip();
    return text_.empty() && !header->dtype.empty() && header->fortran && header->shape;
  }

 private:
  void Skip() { text_ = absl::StripLeadingAsciiWhitespace(text_); }
  bool Next(absl::string_view token) {
    Skip();
    return text_.substr(0, token.size()) == token;
  }
  bool Eat(absl::string_view token) {
    Skip();
    return absl::ConsumePrefix(&text_, token);
  }

  std::optional<std::string> Text() {
    Skip();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == absl::string_view::npos) return std::nullopt;
    std::string text(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return text;
  }

  bool Value(const std::string& key, Header* header) {
    if (key == "descr" && header->dtype.empty()) {
      auto text = Text();
      header->dtype = text.value_or("");
      return text.has_value();
    }
    if (key == "fortran_order" && !header->fortran) {
      const bool yes = Eat("True");
      header->fortran = yes;
      return yes || Eat("False");
    }
    return key == "shape" && !header->shape && Shape(&header->shape.emplace());
  }

  bool Shape(std::vector<int64_t>* shape) {
    if (!Eat("(")) return false;
    while (!Eat(")")) {
      Skip();
      const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
      if (!absl::SimpleAtoi(text_.substr(0, digits), &shape->emplace_back())) return false;
      text_.remove_prefix(digits);
      if (!Eat(",") && !Next(")")) return false;
    }
    return true;
  }

  absl::string_view text_;
};

std::string KnownDTypes() {
  std::string known;
  for (const auto& [word, dtype] : kDTypes) absl::StrAppend(&known, known.empty() ? "" : " ", word);
  return known;
}

// Removes the magic number, version and header of a .npy file from the bytes, and returns the header's text. Returns an
// error if they are malformed.
absl::StatusOr<absl::string_view> TakeHeader(absl::string_view* bytes, const std::string& name,
                                             const std::string& file) {
  constexpr absl::string_view kMagic("\x93NUMPY", 6);
  if (!absl::ConsumePrefix(bytes, kMagic) || bytes->size() < 2)
    return TensorError(file, name, "is no array of numpy: it does not begin with \\x93NUMPY and a version");
  const int version = static_cast<unsigned char>((*bytes)[0]);
  bytes->remove_prefix(2);
  if (version < 1 || version > 3)
    return TensorError(file, name, "has version ", version, " of the format; wanted 1 to 3");
  uint32_t size = 0;
  const size_t size_bytes = version == 1 ? 2 : 4;
  const size_t rest = bytes->size();
  if (rest >= size_bytes) std::memcpy(&size, bytes->data(), size_bytes);
  if (rest < size_bytes || size > rest - size_bytes)
    return TensorError(file, name, "its header has ", size, " bytes, but it is truncated");
  bytes->remove_prefix(size_bytes);
  const absl::string_view header = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return header;
}

}  // namespace

absl::StatusOr<WeightTensor> ParseNpy(absl::string_view bytes, const std::string& name,
                                      const std::string& file) {
  const auto text = TakeHeader(&bytes, name, file);
  if (!text.ok()) return text.status();
  Header header;
  if (!HeaderParser(*text).Parse(&header)) {
    return TensorError(file, name, "its header is ", absl::StripAsciiWhitespace(text->substr(0, 200)),
                       "; wanted {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
  }
  const auto* known = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                   [&](const auto& row) { return row.first == header.dtype; });
  if (known == std::end(kDTypes)) {
    return TensorError(file, name, "dtype ", header.dtype, " is not supported; wanted one of ",
                       KnownDTypes());
  }
  if (*header.fortran) {
    return TensorError(file, name, "is in Fortran order; wanted C order: write numpy.ascontiguousarray(x)");
  }
  WeightTensor tensor{
      .name = name, .dtype = known->second, .shape = *std::move(header.shape), .bytes = bytes};
  const int64_t wanted = TensorBytes(tensor.dtype, tensor.shape);
  const std::string type = TypeText(tensor.dtype, tensor.shape);
  if (wanted < 0) return TensorError(file, name, type, " is too large");
  if (static_cast<uint64_t>(wanted) != bytes.size())
    return TensorError(file, name, "has ", bytes.size(), " bytes; ", type, " wants ", wanted);
  return tensor;
}

}  // namespace kiln
