#include "backends/measure/gpu_bundle.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/runner/protocol.h"

namespace kiln {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, " cannot be written"));
}

}  // namespace

absl::StatusOr<GpuBundle> GpuBundle::Create(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& file : std::filesystem::directory_iterator(folder, error))
    if (file.path().extension() == ".request") std::filesystem::remove(file.path(), error);
  std::ofstream index(folder + "/bundle.txt", std::ios::binary);
  if (!index) return CannotWrite(folder + "/bundle.txt");
  return GpuBundle(folder, std::move(index));
}

void GpuBundle::Note(const std::string& json) { index_ << "-\t" << json << "\n"; }

void GpuBundle::Add(const RunRequest& request, const std::string& json) {
  const std::string name = absl::StrFormat("%05d.request", items_++), bytes = Encode(request);
  std::ofstream file(absl::StrCat(folder_, "/", name), std::ios::binary);
  if (!(file << bytes).flush()) status_.Update(CannotWrite(absl::StrCat(folder_, "/", name)));
  bytes_ += std::ssize(bytes);
  index_ << name << "\t" << json << "\n";
}

absl::Status GpuBundle::Close() {
  if (!index_.flush()) status_.Update(CannotWrite(folder_ + "/bundle.txt"));
  index_.close();
  return status_;
}

void WantElements(const ChosenElements& chosen, const Program& original, KernelObject* kernel) {
  std::vector<WantedElement> wanted;
  for (const ChosenElement& element : chosen.elements) {
    const DType dtype = original.buffers[original.parameters[element.param]].dtype;
    wanted.push_back({element.param, element.index,
                      IsFloat(dtype) ? element.value.f : static_cast<double>(element.value.i)});
  }
  kernel->fields.push_back({kWantedElementsField, Encode(wanted)});
}

}  // namespace kiln
