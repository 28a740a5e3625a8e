// Tests the import of MLIR files in a child process: the same program as in this process, and an error that names the
// file if the importer crashes, hangs or takes too much memory.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backends/import/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/text/text.h"
#include "test_paths.h"

namespace kiln {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kRoot = KILN_SOURCE_DIR;

class InChild : public ::testing::Test {
 protected:
  std::string Error(const ImportOptions& options,
                    const std::string& file = "/tests/inputs/ops/onnx_MatMul.mlir") {
    const auto imported = ImportFile(kRoot + file, options);
    return imported.ok() ? "imported" : std::string(imported.status().message());
  }
  ImportOptions options_;
};

TEST_F(InChild, ACrashOfTheParserIsAnErrorThatNamesTheFile) {
  options_.in_child = [] { std::fputs("LLVM ERROR: out of luck\n", stderr), std::abort(); };
  EXPECT_THAT(
      Error(options_),
      HasSubstr("onnx_MatMul.mlir: the importer crashed on this file (Aborted; LLVM ERROR: out of luck)"));
  options_.in_child = [] { std::raise(SIGSEGV); };
  EXPECT_THAT(Error(options_),
              HasSubstr("onnx_MatMul.mlir: the importer crashed on this file (Segmentation fault)"));
}

TEST_F(InChild, AHangEndsAtTheTimeLimit) {
  options_.in_child = [] {
    while (true) pause();
  };
  options_.time_limit = absl::Milliseconds(200);
  EXPECT_THAT(Error(options_), EndsWith("onnx_MatMul.mlir: importing took longer than 200ms"));
}

TEST_F(InChild, ARunawayAllocationEndsAtTheMemoryLimit) {
  options_.in_child = [] {
    for (volatile char* at = nullptr;; *at = 1) at = new char[1 << 26];
  };
  options_.memory_limit = int64_t{2} << 30;
  EXPECT_THAT(Error(options_), HasSubstr("onnx_MatMul.mlir: the importer crashed on this file (Aborted"));
}

TEST_F(InChild, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(Error(options_, "/no_such.mlir"), EndsWith("/no_such.mlir: No such file or directory"));
}

TEST_F(InChild, GivesTheProgramThatTheSameTextGives) {
  const std::string path = kRoot + "/tests/inputs/ops/torch_softmax.mlir";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto here = ImportLinalg(text.str(), path), there = ImportFile(path);
  ASSERT_TRUE(here.ok() && there.ok());
  EXPECT_EQ(ToString(here->program), ToString(there->program));
  EXPECT_THAT(there->boundaries, IsEmpty());
}

}  // namespace
}  // namespace kiln
