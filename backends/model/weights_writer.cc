#include "backends/model/weights_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "backends/model/safetensors.h"
#include "backends/workers/write_all.h"

namespace kiln {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

int64_t PaddingAfter(int64_t bytes) { return -bytes & (WeightsWriter::kAlignment - 1); }

}  // namespace

absl::StatusOr<WeightsWriter> WeightsWriter::Create(const std::string& path,
                                                    std::vector<WeightTensor> tensors) {
  WeightsWriter writer;
  writer.path_ = path;
  std::vector<WeightTensor> all;
  std::vector<int64_t> offsets;
  int64_t at = 0;
  for (WeightTensor& tensor : tensors) {
    if (absl::StartsWith(tensor.name, kPaddingPrefix))
      return TensorError(path, tensor.name, "names that begin with ", kPaddingPrefix, " are reserved");
    const int64_t bytes = TensorBytes(tensor.dtype, tensor.shape), padding = PaddingAfter(bytes);
    writer.sizes_.push_back(bytes);
    all.push_back(std::move(tensor));
    offsets.push_back(at);
    at += bytes;
    if (padding == 0 || writer.sizes_.size() == tensors.size()) continue;
    all.push_back(
        {.name = absl::StrCat(kPaddingPrefix, all.size()), .dtype = DType::kU8, .shape = {padding}});
    offsets.push_back(at);
    at += padding;
  }
  const absl::StatusOr<std::string> header = SafetensorsHeader(all, offsets, kAlignment, path);
  if (!header.ok()) return header.status();
  writer.temporary_ = absl::StrCat(path, ".", getpid(), ".new");
  writer.fd_ = open(writer.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.fd_ < 0) return CannotWrite(path);
  if (absl::Status status = writer.Write(*header); !status.ok()) return status;
  return writer;
}

WeightsWriter::WeightsWriter(WeightsWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      sizes_(std::move(other.sizes_)),
      next_(other.next_),
      written_(other.written_),
      status_(std::move(other.status_)) {}

WeightsWriter::~WeightsWriter() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

absl::Status WeightsWriter::Write(absl::string_view bytes) {
  if (status_.ok() && !WriteAll(fd_, bytes)) status_ = CannotWrite(path_);
  return status_;
}

absl::Status WeightsWriter::Append(absl::string_view bytes) {
  while (status_.ok() && !bytes.empty()) {
    if (next_ == sizes_.size()) {
      status_ = WeightsError(path_, bytes.size(), " bytes more than its tensors have");
      break;
    }
    const auto piece = std::min<size_t>(bytes.size(), static_cast<size_t>(sizes_[next_] - written_));
    if (absl::Status status = Write(bytes.substr(0, piece)); !status.ok()) return status;
    bytes.remove_prefix(piece);
    written_ += static_cast<int64_t>(piece);
    if (written_ < sizes_[next_]) break;
    if (absl::Status status = Pad(); !status.ok()) return status;
  }
  return status_;
}

absl::Status WeightsWriter::Pad() {
  const std::string zeros(static_cast<size_t>(PaddingAfter(written_)), '\0');
  written_ = 0;
  return ++next_ == sizes_.size() ? absl::OkStatus() : Write(zeros);
}

absl::Status WeightsWriter::Finish() {
  while (status_.ok() && next_ < sizes_.size() && sizes_[next_] == 0) ++next_;
  if (status_.ok() && next_ < sizes_.size()) {
    status_ = WeightsError(path_, "tensor ", next_, " of ", sizes_.size(), " has ", written_,
                           " bytes; wanted ", sizes_[next_]);
  }
  if (!status_.ok()) return status_;
  if (fsync(fd_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) return status_ = CannotWrite(path_);
  close(std::exchange(fd_, -1));
  return absl::OkStatus();
}

}  // namespace kiln
