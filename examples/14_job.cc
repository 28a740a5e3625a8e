// Lesson 14: a search as data. A Job is made from JSON and answers with JSON, so other languages and other machines
// can ask for one. A mistake in the specification names its place.
#include <filesystem>
#include <iostream>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_replace.h"
#include "api/kiln.h"

namespace api = kiln::api;

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-job-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return std::cerr << "no temporary folder\n", 1;
  const absl::Cleanup remove = [&] { std::filesystem::remove_all(folder); };

  std::cout << api::Job::Parse(R"({"file": "examples/matmul.mlir", "trials": "many"})").status().message()
            << "\n";

  const std::string spec = absl::StrReplaceAll(R"({
    "file": "examples/matmul.mlir",
    "database": "FOLDER/kiln.db",
    "trials": 4,
    "space": "each-block(auto-inline | multi-level-tiling) | parallelize-vectorize-unroll",
    "output": "FOLDER"
  })",
                                               {{"FOLDER", folder}});
  auto job = api::Job::Parse(spec);
  if (!job.ok()) return std::cerr << job.status().message() << "\n", 1;
  const api::JobResult result = job->Run();
  std::cout << result.json.substr(0, result.json.find("\"seconds")) << "...\n";
  return result.status.ok() ? 0 : 1;
}
