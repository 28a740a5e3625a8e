// Import: which files become programs, with which blocks, and what is said of the others.
#include "backends/import/import.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_paths.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kRoot = KILN_SOURCE_DIR;

std::vector<std::string> BlockNames(const Program& p) {
  std::vector<std::string> names;
  for (const BlockNode& block : p.blocks) names.emplace_back(p.Text(block.name));
  return names;
}

std::vector<std::string> ParameterNames(const Program& p) {
  std::vector<std::string> names;
  for (const Id id : p.parameters) names.emplace_back(p.Text(p.buffers[id].name));
  return names;
}

std::string ErrorOf(absl::string_view text, const ImportOptions& options = {}) {
  const auto imported = ImportLinalg(text, "t.mlir", options);
  return imported.ok() ? "imported" : std::string(imported.status().message());
}

Program Import(absl::string_view text, const ImportOptions& options = {}) {
  const auto imported = ImportLinalg(text, "t.mlir", options);
  EXPECT_TRUE(imported.ok()) << imported.status();
  return imported.ok() ? imported->program : Program();
}

// "FILE imports N: block block ..." or "FILE is refused: LINE:COL: ...", as in import_table.txt.
std::string Line(const std::string& file) {
  const auto start = std::chrono::steady_clock::now();
  ImportOptions options;
  options.allow_boundaries = file.rfind("models/", 0) == 0;
  const auto imported = ImportFile(absl::StrCat(kRoot, "/tests/inputs/", file), options);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("%8.1f ms  %s\n", time.count(), file.c_str());
  if (!imported.ok()) {
    const std::string message(imported.status().message());
    const size_t at = message.find(file);
    const size_t begin = at == std::string::npos ? 0 : at + file.size() + 1;
    return absl::StrCat(file, " is refused: ", message.substr(begin, message.find('\n') - begin));
  }
  const std::vector<std::string> names = BlockNames(imported->program);
  if (!options.allow_boundaries)
    return absl::StrCat(file, " imports ", names.size(), ": ", absl::StrJoin(names, " "));
  std::string line = absl::StrCat(file, " imports ", names.size());
  for (const Boundary& b : imported->boundaries)
    absl::StrAppend(&line, "; ", b.location.substr(b.location.find(':') + 1), " ", b.op);
  return line;
}

TEST(Import, OfEveryInputIsAsTheTableSays) {
  std::ifstream table(kRoot + "/tests/backends/import_table.txt");
  ASSERT_TRUE(table.good());
  int ops = 0, imported = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::string file = line.substr(0, line.find(' '));
    EXPECT_EQ(Line(file), line);
    if (file.rfind("ops/", 0) != 0) continue;
    ++ops;
    imported += line.rfind(file + " imports ", 0) == 0;
  }
  EXPECT_EQ(ops, 45);
  EXPECT_EQ(imported, 38);
}

constexpr char kMatmul[] = R"(
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %d : tensor<4x2xf32>
})";

TEST(Import, KeepsTheNameOfANamedOperationAndAUsedInitialValue) {
  const Program p = Import(kMatmul);
  EXPECT_THAT(BlockNames(p), ElementsAre("matmul"));
  EXPECT_THAT(ParameterNames(p), ElementsAre("arg0", "arg1", "arg2", "matmul_out"));
  ASSERT_EQ(p.blocks.size(), 1u);
  EXPECT_EQ(p.blocks[0].initial.count, 1);
  EXPECT_EQ(p.name, "t");
}

TEST(Import, DropsAFillWithTheIdentity) {
  const Program p = Import(R"(
func.func @sum(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
})");
  EXPECT_THAT(BlockNames(p), ElementsAre("reduce_sum"));
  EXPECT_EQ(p.blocks[0].initial.count, 0);
  EXPECT_EQ(p.name, "sum");
}

TEST(Import, ReadsThroughReshapesAndSlicesWithoutCopies) {
  const Program p = Import(R"(
func.func @main(%a: tensor<6x8xf32>) -> tensor<12xf32> {
  %s = tensor.extract_slice %a[2, 0] [3, 8] [1, 1] : tensor<6x8xf32> to tensor<3x8xf32>
  %c = tensor.collapse_shape %s [[0, 1]] : tensor<3x8xf32> into tensor<24xf32>
  %t = tensor.extract_slice %c[0] [12] [2] : tensor<24xf32> to tensor<12xf32>
  %e = tensor.empty() : tensor<12xf32>
  %x = linalg.exp ins(%t : tensor<12xf32>) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  return %x : tensor<12xf32>
})");
  EXPECT_THAT(BlockNames(p), ElementsAre("exp"));
}

TEST(Import, CopiesReturnedArgumentsAndViewsAndMakesReturnedFills) {
  const Program p = Import(R"(
func.func @main(%a: tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>, tensor<4xf32>) {
  %v = tensor.expand_shape %a [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %f = arith.constant dense<1.0> : tensor<4xf32>
  return %a, %v, %f : tensor<6xf32>, tensor<2x3xf32>, tensor<4xf32>
})");
  EXPECT_THAT(BlockNames(p), ElementsAre("copy", "copy.1", "fill"));
  EXPECT_THAT(ParameterNames(p), ElementsAre("arg0", "copy_out", "copy.1_out", "fill_out"));
}

TEST(Import, GuardsPadConcatAndInsertSlice) {
  const Program p = Import(R"(
func.func @main(%a: tensor<6xf32>, %b: tensor<4xf32>) -> (tensor<9xf32>, tensor<10xf32>, tensor<6xf32>) {
  %z = arith.constant 0.5 : f32
  %p = tensor.pad %a low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<6xf32> to tensor<9xf32>
  %c = tensor.concat dim(0) %a, %b : (tensor<6xf32>, tensor<4xf32>) -> tensor<10xf32>
  %s = tensor.insert_slice %b into %a[1] [4] [1] : tensor<4xf32> into tensor<6xf32>
  return %p, %c, %s : tensor<9xf32>, tensor<10xf32>, tensor<6xf32>
})");
  EXPECT_THAT(BlockNames(p), ElementsAre("pad", "concat", "insert_slice"));
  for (const BlockNode& block : p.blocks) EXPECT_EQ(p.exprs[p.List(block.values)[0]].op, Op::kWithin);
}

TEST(Import, ConstantsAreSplatsBytesOrParameters) {
  const Program p = Import(R"(
func.func @main(%a: tensor<3xi32>, %w: tensor<3xi32> {kiln.constant}) -> tensor<3xi32> {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %r = arith.constant dense_resource<__elided__> : tensor<3xi32>
  %s = arith.constant dense<7> : tensor<3xi32>
  %0 = arith.addi %a, %c : tensor<3xi32>
  %1 = arith.addi %0, %r : tensor<3xi32>
  %2 = arith.addi %1, %w : tensor<3xi32>
  %3 = arith.addi %2, %s : tensor<3xi32>
  return %3 : tensor<3xi32>
})");
  EXPECT_THAT(ParameterNames(p), ElementsAre("arg0", "arg1", "constant.1", "add.3_out"));
  EXPECT_EQ(p.buffers[p.parameters[1]].role, Role::kConstant);
  EXPECT_EQ(p.buffers[p.parameters[2]].role, Role::kConstant);
  ASSERT_TRUE(p.constants != nullptr);
  EXPECT_EQ((*p.constants)[0], std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12));
}

std::string Maximum(absl::string_view body) {
  return absl::StrCat(R"(
func.func @main(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  (%in: f32, %acc: f32) {
    )",
                      body, R"(
    linalg.yield %m : f32
  }
  return %r : tensor<4xf32>
})");
}

TEST(Import, RecognizesMaximaThatSkipNaNAndRefusesThoseThatForget) {
  for (const char* body : {"%m = arith.maxnumf %in, %acc : f32",
                           "%c = arith.cmpf ogt, %in, %acc : f32\n %m = arith.select %c, %in, %acc : f32",
                           "%c = arith.cmpf uge, %acc, %in : f32\n %m = arith.select %c, %acc, %in : f32"}) {
    const Program p = Import(Maximum(body));
    ASSERT_EQ(p.blocks.size(), 1u) << body;
    EXPECT_EQ(p.monoids[p.blocks[0].monoid].kind, Monoid::Kind::kMax) << body;
    EXPECT_EQ(p.exprs[p.List(p.blocks[0].values)[0]].op, Op::kMaxNum) << body;
  }
  EXPECT_THAT(
      ErrorOf(Maximum("%c = arith.cmpf ugt, %in, %acc : f32\n %m = arith.select %c, %in, %acc : f32")),
      HasSubstr("linalg.generic is not supported (a reduction other than a sum"));
}

TEST(Import, DecomposesSoftmaxWhoseMaximumStartsFromNaN) {
  const Program p = Import(R"(
func.func @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %s : tensor<4x8xf32>
})");
  EXPECT_THAT(BlockNames(p), ElementsAre("reduce_max", "exp", "reduce_sum", "div"));
  EXPECT_EQ(p.blocks[0].initial.count, 0);
}

TEST(Import, NamesTheFileLineAndColumnOfTextThatDoesNotParse) {
  EXPECT_THAT(ErrorOf("func.func @main() {\n  %0 = arith.addf %a, %b : f32\n}"), HasSubstr("t.mlir:2:"));
  EXPECT_THAT(ErrorOf("func.func @main() { return }"), HasSubstr("it returns nothing"));
  EXPECT_EQ(ErrorOf("func.func @main() -> f32 {\n  %0 = foo.bar 1\n}"),
            "t.mlir:2:8: foo.bar is not supported (Kiln does not know the dialect foo)\n"
            "  hint: lower foo to linalg on tensors when exporting");
}

TEST(Import, ChoosesTheEntryAndNamesTheChoices) {
  const std::string two = R"(
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> })";
  EXPECT_EQ(ErrorOf(two), "t.mlir: several functions\n  hint: choose the entry among f, g");
  ImportOptions options;
  options.entry = "g";
  EXPECT_EQ(Import(two, options).name, "g");
}

TEST(Import, LeavesOutWhatItCannotSayAsABoundaryOfAModel) {
  const std::string model = R"(
func.func @main(%a: tensor<4xf32>, %i: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%at: index, %o: f32):
    %v = tensor.extract %x[%at] : tensor<4xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %y = linalg.exp ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})";
  EXPECT_EQ(ErrorOf(model),
            "t.mlir:8:10: tensor.extract is not supported (it reads at an index that is computed)\n"
            "  hint: gather before the tuned function, or read by an affine map");
  ImportOptions options;
  options.allow_boundaries = true;
  const auto imported = ImportLinalg(model, "t.mlir", options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(ParameterNames(imported->program),
              ElementsAre("arg0", "arg1", "generic_result", "exp.1_out", "exp_out"));
  ASSERT_EQ(imported->boundaries.size(), 1u);
  EXPECT_EQ(imported->boundaries[0].location, "t.mlir:8:10");
  EXPECT_THAT(imported->boundaries[0].results, ElementsAre("generic_result"));
  EXPECT_THAT(imported->boundaries[0].operands, ElementsAre("arg1", "exp_out"));
}

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
  EXPECT_EQ(BlockNames(here->program), BlockNames(there->program));
  EXPECT_EQ(ParameterNames(here->program), ParameterNames(there->program));
  EXPECT_THAT(there->boundaries, IsEmpty());
}

}  // namespace
}  // namespace kiln
