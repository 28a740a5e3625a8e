// Reads files of named tensors, such as the weights of a model: .safetensors and .npz.
//
//   absl::StatusOr<WeightsFile> file = WeightsFile::Open("model.safetensors");
//   for (const WeightTensor& tensor : file->tensors()) ...
//
// The format is recognized by the content. Tensors of .safetensors lie in the mapped file, which must not be truncated
// while they are used. Those of .npz, stored or deflated, are read into memory. Files of both formats are checked
// completely when they are opened, except that a bool may have any byte.
//
// Errors: kNotFound (no such file), kUnavailable (it cannot be read), kInvalidArgument (it is malformed, or has tensors
// of types that Kiln lacks). Messages name the file, the tensor, the value found and the value expected.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/model/weight_tensor.h"

namespace kiln {

class WeightsFile {
 public:
  static absl::StatusOr<WeightsFile> Open(const std::string& path);
  // Reads the tensors from the bytes of a file, which must outlive the result. `name` is the file's name in messages. A
  // name that ends in .npz requires a zip file.
  static absl::StatusOr<WeightsFile> FromBytes(absl::string_view bytes, const std::string& name);

  // Returns the tensors, in the order in which the file holds their bytes.
  const std::vector<WeightTensor>& tensors() const { return tensors_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::shared_ptr<const void> mapping_;  // of the file
  std::vector<std::unique_ptr<char[]>> read_;
  std::vector<WeightTensor> tensors_;
};

}  // namespace kiln
