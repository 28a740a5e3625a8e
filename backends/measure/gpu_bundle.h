// Writes a bundle: a folder of requests to run and time kernels on a GPU that another machine has. kiln-gpu-runner
// measures the bundle there (backends/gpu/driver/run_bundle.h).
//
//   auto bundle = GpuBundle::Create(folder);
//   bundle->Note(R"({"item": "workload", ...})");          // a line of the results, as it is
//   bundle->Add(request, R"({"item": "time", ...})");      // the line that the result of the request is added to
//   absl::Status status = bundle->Close();
//
// Errors: kUnavailable if a file cannot be written, with its path. One thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/measure/chosen_elements.h"
#include "backends/runner/runner.h"

namespace kiln {

class GpuBundle {
 public:
  // Begins a bundle in the folder, which is created if necessary. Removes its files *.request, and overwrites the list
  // of an older bundle.
  static absl::StatusOr<GpuBundle> Create(const std::string& folder);

  // Note adds a line to the results of the bundle. Add writes a request to a file, and adds the line to which its
  // result is added. `json` is an object in one line. Close completes the list of all lines and returns the first error
  // of Add and Close.
  void Note(const std::string& json);
  void Add(const RunRequest& request, const std::string& json);
  absl::Status Close();
  int64_t bytes() const { return bytes_; }  // of the requests

 private:
  GpuBundle(std::string folder, std::ofstream index) : folder_(std::move(folder)), index_(std::move(index)) {}

  std::string folder_;
  std::ofstream index_;
  int items_ = 0;
  int64_t bytes_ = 0;
  absl::Status status_;
};

// Adds the elements to the kernel as a field (KernelField), so that a runner of GPUs checks that the kernel's outputs
// have these values within the tolerance.
void WantElements(const ChosenElements& chosen, const Program& original, KernelObject* kernel);

}  // namespace kiln
