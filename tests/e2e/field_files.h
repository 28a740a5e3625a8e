// Runs the MLIR files of tests/inputs/field through `kiln tune`, `kiln export` and a call from C.
//
// Tunes a file with a few trials and exports the best program of each task. A C program, made from the exported headers
// alone, calls the tasks in the order in which they need each other's outputs. Its outputs are compared with those of
// the file compiled by stock MLIR passes, on random data and on data with NaN, infinities and zeros of both signs.
#pragma once

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/export/export.h"
#include "build_info.h"
#include "gtest/gtest.h"
#include "lang/analysis/cost.h"
#include "lang/program/scalar.h"
#include "test_paths.h"
#include "tests/backends/field_check.h"
#include "tests/e2e/c_caller.h"
#include "tests/support/run_kiln.h"

namespace kiln {

// True if the program of an MLIR file has more than 1e9 floating-point operations. False if the file cannot be
// imported. Only scripts/test --long tests files for which this is true.
inline bool TakesLong(const std::string& file) {
  const auto imported = ImportFile(file);
  return imported.ok() && Flops(imported->program) > 1e9;
}

inline std::vector<std::string> InputsFromField(bool that_take_long) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(KILN_SOURCE_DIR "/tests/inputs/field")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() == ".mlir" && TakesLong(path) == that_take_long) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the name of a file without folder and extension, as the name of its test.
inline std::string StemOf(const testing::TestParamInfo<std::string>& file) {
  return std::filesystem::path(file.param).stem().string();
}

// Makes every third float of each input, from the first on, a special value: in turn NaN, -0, 0, infinity, -infinity.
inline void AddSpecials(const Program& p, std::vector<std::string>& inputs) {
  const double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {std::nan(""), -0.0, 0.0, inf, -inf};
  size_t next = 0;
  for (const Id id : p.parameters) {
    const Buffer& buffer = p.buffers[id];
    if (buffer.role == Role::kOutput) continue;
    std::string& bytes = inputs[next++];
    const size_t size = SizeOf(buffer.dtype);
    for (size_t e = 0; IsFloat(buffer.dtype) && e < bytes.size() / size; e += 3)
      StoreScalar(buffer.dtype, {.f = specials[e / 3 % std::size(specials)]}, bytes.data() + e * size);
  }
}

// Tunes a function of an MLIR file with `trials` trials, exports its tasks, calls the exported functions from C, and
// expects the right results. If `function` is empty, does so for each public function of the file.
inline void ExpectRightFromC(const std::string& file, const std::string& function, int trials) {
  SCOPED_TRACE(absl::StrCat(file, " ", function));
  const TemporaryFolder folder;
  std::vector<std::string> choice;
  if (!function.empty()) choice = {"--function", function};
  std::vector<std::string> line = {"tune", file, "--trials", absl::StrCat(trials), "--json"};
  line.insert(line.end(), choice.begin(), choice.end());
  const Ran tuned = RunKiln(line, folder.path());
  const std::string choose = "hint: choose one with --function NAME, among ";
  if (const size_t at = tuned.err.find(choose); function.empty() && at != std::string::npos) {
    EXPECT_EQ(tuned.exit_code, 1);
    const std::string names = tuned.err.substr(at + choose.size());
    for (const absl::string_view name : absl::StrSplit(names.substr(0, names.find('\n')), ", "))
      ExpectRightFromC(file, std::string(name), trials);
    return;
  }
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err << tuned.out;
  std::vector<ExportedTask> tasks;
  std::string objects;
  const nlohmann::json told = tuned.json();
  for (const auto& task : told["tasks"]) {
    EXPECT_TRUE(task["verified"]) << task["name"];
    const std::string id = absl::StrCat(task["record"].get<int64_t>());
    const Ran exported = RunKiln({"export", id, "-o", "out"}, folder.path());
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
    const std::string name = exported.out.substr(0, exported.out.find(".h"));
    tasks.push_back(ReadHeader(folder / absl::StrCat(name, ".h")));
    absl::StrAppend(&objects, " ", name, ".o");
  }

  ImportOptions options;
  options.entry = function;
  const auto imported = ImportFile(file, options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Program& p = imported->program;
  std::vector<std::string> given;
  for (const Id id : p.parameters)
    if (p.buffers[id].role != Role::kOutput) given.push_back(SafeIdentifier(p.Text(p.buffers[id].name)));
  folder.Write("main.c", CallerOf(tasks, given));
  const std::string in_folder = absl::StrCat("cd ", folder.path(), " && ");
  const std::string compile = absl::StrCat(
      in_folder, KILN_CXX_COMPILER, " -x c -std=c11 -Wall -Werror main.c -x none", objects, " -lm -o main");
  ASSERT_EQ(std::system(compile.c_str()), 0) << compile;

  for (const bool specials : {false, true}) {
    SCOPED_TRACE(specials ? "NaN, infinities and zeros" : "drawn data");
    std::vector<std::string> inputs = DrawInputs(p, 11);
    if (specials) AddSpecials(p, inputs);
    for (size_t i = 0; i < given.size(); ++i) folder.Write(given[i] + ".in", inputs[i]);
    ASSERT_EQ(std::system((in_folder + "./main").c_str()), 0);
    std::vector<std::string> outputs;
    for (const Id id : p.parameters)
      if (p.buffers[id].role == Role::kOutput)
        outputs.push_back(ReadText(folder / (SafeIdentifier(p.Text(p.buffers[id].name)) + ".out")));
    ExpectOutputs(p, outputs, RunStock(ReadText(file), p, inputs, function), "called from C");
  }
}

}  // namespace kiln
