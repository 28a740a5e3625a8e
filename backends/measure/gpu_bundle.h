// Writes a bundle: requests for a GPU that another machine has. kiln-gpu-runner measures it there
// (backends/gpu/driver/run_bundle.h).
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
  // Creates the folder, and removes an older bundle from it.
  static absl::StatusOr<GpuBundle> Create(const std::string& folder);

  // Adds a line to the results, and a request with the line that its result is added to. `json` is an object in one line.
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

// Adds the elements to the fields of the kernel: the runner then checks that its outputs have these values.
void WantElements(const ChosenElements& chosen, const Program& original, KernelObject* kernel);

}  // namespace kiln
