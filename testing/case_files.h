// Tests of modules as text: a file holds a program, a space and the sketches that are expected.
//
//   # Shows that my-module splits the loop of rows.
//   space: each-block(my-module)
//
//   kiln.program v1
//   program twice
//   ...
//
//   expected:
//   sketch split=yes
//   ...
//
// Lines that may stand before and after `space:`, up to the empty line:
//
//   # ...                                         what the case shows
//   target: cores=4 features=+avx2                fields of Target that differ from their defaults
//   target: gpu=h100                              the target of a GPU (lang/target/gpu.h)
//   sketch: write-reuse=registers read-reuse=all  only sketches with these choices
//   decisions: S0=2,1,2,5 max-unroll=0            also shows the program that these decisions give
//
// What follows `expected:` is SketchesText (testing/module_cases.h). Unless that text begins with "error: ", the test
// also checks that all sketches compute what the program computes. Start the test program with --update-goldens to
// rewrite what is expected.
//
// One test for each file of a folder and of the folders in it:
//
//   static const bool kRegistered = kiln::RegisterModuleCases("/my/project/cases");
//
// FOLDER/tiling/pad.txt is the test `cases/tiling.pad`.
#pragma once

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "testing/module_cases.h"

namespace kiln {

struct ModuleCase {
  std::string head;  // the text before "expected:"
  std::string space;
  Target target;
  ShownSketches shown;
  Program program;
  std::string expected;
};

// Parses the text of a case: its head, its program and what is expected. kInvalidArgument, with the line, if it is
// malformed.
absl::StatusOr<ModuleCase> ParseModuleCase(absl::string_view text);

// Registers a test for each file in the folder, and in the folders in it, that ends in .txt. Call it before the tests
// run, once for each folder. Always returns true.
bool RegisterModuleCases(const std::filesystem::path& folder);

}  // namespace kiln
