#include "backends/model/npz.h"

#include <zip.h>

#include <new>
#include <set>

#include "absl/strings/strip.h"
#include "backends/model/npy.h"

namespace kiln {
namespace {

constexpr uint64_t kMostOfDeflate = 1032;  // deflate makes at most so many bytes of one

struct ZipCloser {
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Zip = std::unique_ptr<zip_t, ZipCloser>;
using ZipEntry = std::unique_ptr<zip_file_t, ZipCloser>;

absl::StatusOr<Zip> OpenZip(absl::string_view file, const std::string& name) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_buffer_create(file.data(), file.size(), 0, &error);
  Zip zip(source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error));
  std::string why = zip == nullptr ? zip_error_strerror(&error) : "";
  if (zip == nullptr && source != nullptr) zip_source_free(source);
  zip_error_fini(&error);
  if (zip == nullptr) return WeightsError(name, "is no readable zip file: ", why);
  return zip;
}

// Returns why an entry of the zip file cannot be read: it is encrypted, has another compression, or impossible sizes.
// Returns "" if it can be read.
std::string WhyNot(const zip_stat_t& entry, size_t file_bytes) {
  if (entry.encryption_method != ZIP_EM_NONE) return "is encrypted";
  if (entry.comp_method != ZIP_CM_STORE && entry.comp_method != ZIP_CM_DEFLATE)
    return absl::StrCat("has compression method ", entry.comp_method, "; wanted stored or deflated");
  const uint64_t most = entry.comp_method == ZIP_CM_STORE ? 1 : kMostOfDeflate;
  if (entry.comp_size <= file_bytes && entry.size <= entry.comp_size * most) return "";
  return absl::StrCat("is said to have ", entry.size, " bytes, made of ", entry.comp_size, " in a file of ",
                      file_bytes);
}

// Reads an entry of the zip file to `bytes`. Returns an error if its size differs from that in `entry`, or its checksum
// is wrong.
absl::Status ReadEntry(zip_t* zip, zip_uint64_t index, const zip_stat_t& entry, char* bytes,
                       const std::string& tensor, const std::string& file) {
  const ZipEntry open(zip_fopen_index(zip, index, 0));
  if (open == nullptr) return TensorError(file, tensor, "cannot be read: ", zip_strerror(zip));
  zip_uint64_t done = 0;
  zip_int64_t got = 1;
  while (done < entry.size && got > 0) {
    got = zip_fread(open.get(), bytes + done, entry.size - done);
    if (got > 0) done += static_cast<zip_uint64_t>(got);
  }
  char more = 0;
  if (got >= 0 && done == entry.size) got = zip_fread(open.get(), &more, 1);  // checks the checksum
  if (got < 0) return TensorError(file, tensor, "cannot be read: ", zip_file_strerror(open.get()));
  if (got > 0 || done < entry.size) {
    return TensorError(file, tensor, "has ", got > 0 ? "more than " : "only ", done, " bytes; the file says ",
                       entry.size);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<WeightTensor>> ReadNpz(absl::string_view file, const std::string& name,
                                                  std::vector<std::unique_ptr<char[]>>* read) {
  const absl::StatusOr<Zip> zip = OpenZip(file, name);
  if (!zip.ok()) return zip.status();
  std::vector<WeightTensor> tensors;
  std::set<std::string> names;
  const zip_int64_t entries = zip_get_num_entries(zip->get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t entry;
    if (zip_stat_index(zip->get(), index, 0, &entry) != 0)
      return WeightsError(name, "entry ", i, " cannot be read: ", zip_strerror(zip->get()));
    absl::string_view stem = entry.name;
    if (!absl::ConsumeSuffix(&stem, ".npy"))
      return WeightsError(name, "entry \"", stem, "\" is no .npy, as all entries of .npz are");
    const std::string tensor(stem);
    if (!names.insert(tensor).second) return TensorError(name, tensor, "is there twice");
    if (const std::string why = WhyNot(entry, file.size()); !why.empty())
      return TensorError(name, tensor, why);
    read->emplace_back(new (std::nothrow) char[entry.size]);
    if (read->back() == nullptr)
      return TensorError(name, tensor, "has ", entry.size, " bytes, for which there is no memory");
    char* const bytes = read->back().get();
    if (absl::Status status = ReadEntry(zip->get(), index, entry, bytes, tensor, name); !status.ok())
      return status;
    auto parsed = ParseNpy({bytes, entry.size}, tensor, name);
    if (!parsed.ok()) return parsed.status();
    tensors.push_back(*std::move(parsed));
  }
  return tensors;
}

}  // namespace kiln
