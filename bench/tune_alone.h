// Tunes one program through the API (api/session.h), as `kiln tune` does. Its database is removed afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "api/session.h"

namespace kiln {

struct Tuned {
  Program original;      // of the task
  api::TaskResult best;  // with its trace and its scheduled program
};

// Tunes the only task of the source. kFailedPrecondition if no candidate ran; kInvalidArgument if there is not one
// task. `workers`: the folder of kiln-builder and kiln-runner; if empty, the session looks for them.
inline absl::StatusOr<Tuned> TuneAlone(const api::Source& source, const api::TuneSettings& settings,
                                       const std::string& workers = "") {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return absl::UnavailableError("no temporary folder can be made");
  const absl::Cleanup remove = [&] { std::filesystem::remove_all(folder); };
  api::Session session({.database = folder + "/kiln.db", .workers = workers});
  if (absl::Status loaded = session.Load(source); !loaded.ok()) return loaded;
  if (session.tasks().size() != 1) return absl::InvalidArgumentError("the file is not one task");
  auto report = session.Tune(settings);
  if (!report.ok()) return report.status();
  if (!report->status.ok()) return report->status;
  return Tuned{session.tasks()[0].program, std::move(report->tasks[0])};
}

// Returns the MLIR text of the matrix product C[m, n] = A[m, k] * B[k, n] in f32, as the source of a session.
inline api::Source MatmulSource(int64_t m, int64_t n, int64_t k) {
  constexpr char kText[] = R"(
func.func @matmul(%a: tensor<MxKxf32>, %b: tensor<KxNxf32>) -> tensor<MxNxf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<MxNxf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<MxNxf32>) -> tensor<MxNxf32>
  %c = linalg.matmul ins(%a, %b : tensor<MxKxf32>, tensor<KxNxf32>) outs(%init : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %c : tensor<MxNxf32>
})";
  const auto size = [](int64_t extent) { return std::to_string(extent); };
  return {.text = absl::StrReplaceAll(kText,
                                      {{"Mx", size(m) + "x"}, {"Nx", size(n) + "x"}, {"Kx", size(k) + "x"}}),
          .name = "matmul"};
}

}  // namespace kiln
