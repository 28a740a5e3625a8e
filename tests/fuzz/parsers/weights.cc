// libFuzzer target for files of weights: a file that can be read can be written as safetensors, and read again,
// unless the format does not allow one of its names. A file that cannot be read is refused with kInvalidArgument.
#include "absl/strings/match.h"
#include "backends/model/safetensors.h"
#include "backends/model/weights_file.h"
#include "lang/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = kiln::WeightsFile::FromBytes(bytes, "fuzz");
  if (!file.ok()) {
    KILN_CHECK(absl::IsInvalidArgument(file.status()) && absl::StartsWith(file.status().message(), "fuzz: "),
               file.status().ToString());
    return 0;
  }
  std::vector<int64_t> offsets;
  std::string content;
  for (const kiln::WeightTensor& tensor : file->tensors()) {
    KILN_CHECK(static_cast<int64_t>(tensor.bytes.size()) == kiln::TensorBytes(tensor.dtype, tensor.shape),
               tensor.name);
    offsets.push_back(static_cast<int64_t>(content.size()));
    absl::StrAppend(&content, tensor.bytes);
  }
  const auto header = kiln::SafetensorsHeader(file->tensors(), offsets, 64, "fuzz");
  if (!header.ok()) return 0;  // a name of a zip file that is reserved or not UTF-8
  const std::string written = *header + content;
  const auto again = kiln::WeightsFile::FromBytes(written, "written");
  KILN_CHECK(again.ok(), again.status().ToString());
  return 0;
}
