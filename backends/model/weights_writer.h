// Writes a file of named tensors in the format of .safetensors, piece by piece.
//
//   auto writer = WeightsWriter::Create("model.weights", tensors);  // their bytes are not used
//   for (const absl::string_view piece : ...) writer->Append(piece);
//   writer->Finish();
//
// The pieces together are the bytes of the tensors in order; each may have any size.
//
// Each tensor begins at a multiple of 64 bytes of the file: the header is padded with spaces, and tensors
// "kiln.padding.N" fill the gaps, so that all readers of the format read the file. The file appears when Finish returns
// OK: until then a temporary file beside it is written, which the destructor removes.
//
// Errors: kUnavailable (the file cannot be written), kInvalidArgument (a tensor cannot be written, or there are more or
// fewer bytes than the tensors have). After an error, all further calls fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weight_tensor.h"

namespace kiln {

class WeightsWriter {
 public:
  static constexpr int64_t kAlignment = 64;

  static absl::StatusOr<WeightsWriter> Create(const std::string& path, std::vector<WeightTensor> tensors);
  WeightsWriter(WeightsWriter&& other) noexcept;
  WeightsWriter(const WeightsWriter&) = delete;
  WeightsWriter& operator=(const WeightsWriter&) = delete;
  ~WeightsWriter();

  absl::Status Append(absl::string_view bytes);
  absl::Status Finish();

 private:
  WeightsWriter() = default;
  // Writes bytes to the temporary file, and remembers the first error, after which nothing is written.
  absl::Status Write(absl::string_view bytes);
  absl::Status Pad();

  std::string path_, temporary_;
  int fd_ = -1;
  std::vector<int64_t> sizes_;  // of the tensors
  size_t next_ = 0;             // the tensor that is being written
  int64_t written_ = 0;         // bytes of this tensor that are written
  absl::Status status_;
};

}  // namespace kiln
