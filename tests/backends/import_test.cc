// Tests the import of MLIR files: which blocks, parameters and constants the programs have, and the errors for files
// that cannot be imported.
#include "backends/import/import.h"

#include <chrono>
#include <cstdio>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/text/text.h"
#include "test_paths.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

// Imports a file of tests/inputs and returns its line of the table import_table.txt: "FILE imports N: block block ..",
// with boundaries instead of blocks for a model, or "FILE is refused: LINE:COL: ..".
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
  EXPECT_EQ(imported, 43);
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

// Returns MLIR text of an argmax over rows with this body, which combines the new value and index %in and %at with the
// accumulated %out and %pos. `first` is the initial index.
std::string ArgMax(absl::string_view body, absl::string_view first = "0") {
  return absl::StrCat(R"(
func.func @main(%a: tensor<4x8xf32>, %p: tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %start = arith.constant )",
                      first, R"( : i64
  %e = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi64>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %fi = linalg.fill ins(%start : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>,
                                          affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a, %p : tensor<4x8xf32>, tensor<4x8xi64>) outs(%f, %fi : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %at: i64, %out: f32, %pos: i64):
    %k = linalg.index 1 : index
    %number = arith.index_cast %k : index to i64
    )",
                      body, R"(
    linalg.yield %v, %i : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
})");
}

constexpr char kTorchArgMax[] =
    "%v = arith.maximumf %in, %out : f32\n %c = arith.cmpf ogt, %in, %out : f32\n"
    "%i = arith.select %c, %number, %pos : i64";
constexpr char kJaxArgMin[] =
    "%g = arith.cmpf olt, %out, %in : f32\n %n = arith.cmpf une, %out, %out : f32\n %b = arith.ori %g, %n : "
    "i1\n"
    "%e2 = arith.cmpf oeq, %out, %in : f32\n %l = arith.cmpi slt, %pos, %at : i64\n %t = arith.andi %e2, %l "
    ": i1\n"
    "%w = arith.ori %b, %t : i1\n %v = arith.select %b, %out, %in : f32\n %i = arith.select %w, %pos, %at : "
    "i64";
constexpr char kLastSkippingNaN[] =
    "%c = arith.cmpf oge, %in, %out : f32\n %v = arith.select %c, %in, %out : f32\n"
    "%i = arith.select %c, %number, %pos : i64";

TEST(Import, RecognizesArgMaxAndArgMinAsExportersWriteThem) {
  // Torch's argmax becomes three blocks, since a NaN becomes the value, and no later element changes the index.
  const Program torch = Import(ArgMax(kTorchArgMax));
  ASSERT_THAT(BlockNames(torch), ElementsAre("reduce_max", "nan_at", "argmax"));
  EXPECT_EQ(torch.blocks[2].dests.count, 2);
  EXPECT_THAT(ToString(torch),
              HasSubstr("combine (max(l0, r0), select(select(lt(r1, l1), or(ge(r0, l0), uno(r0, r0))"));
  const Program jax = Import(ArgMax(kJaxArgMin));
  ASSERT_THAT(BlockNames(jax), ElementsAre("argmin"));
  EXPECT_EQ(jax.blocks[0].initial.count, 2);
  EXPECT_THAT(ToString(jax), HasSubstr("combine (min(l0, r0), select(select(lt(r1, l1)"));
  const Program last = Import(ArgMax(kLastSkippingNaN));
  EXPECT_THAT(ToString(last), HasSubstr("combine (max(l0, r0), select(select(gt(r1, l1)"));
  EXPECT_THAT(ToString(last),
              HasSubstr("(maxnum(arg0[i, j], f32(-inf)), select(uno(arg0[i, j], arg0[i, j]), i64("));
}

TEST(Import, RefusesArgMaxThatNoOrderFreeReductionCanSay) {
  const std::string by_order =
      "%v = arith.maximumf %in, %out : f32\n %c = arith.cmpf ogt, %in, %out : f32\n"
      "%i = arith.select %c, %at, %pos : i64";
  EXPECT_THAT(ErrorOf(ArgMax(by_order)),
              HasSubstr("(an argmax that decides ties by an order that its index does not show)"));
  const std::string other =
      "%v = arith.maximumf %in, %out : f32\n %c = arith.cmpf olt, %in, %out : f32\n"
      "%i = arith.select %c, %number, %pos : i64";
  EXPECT_THAT(ErrorOf(ArgMax(other)), HasSubstr("(a reduction other than a sum"));
}

std::string Extracting(absl::string_view body) {
  return absl::StrCat(R"(
func.func @main(%a: tensor<6x9xf32>, %at: tensor<4xi32>, %s: f32) -> tensor<4x9xf32> {
  %five = arith.constant 5 : index
  %e = tensor.empty() : tensor<4x9xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<4xi32>) outs(%e : tensor<4x9xf32>) {
  ^bb0(%in: i32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.index_cast %in : i32 to index
    )",
                      body, R"(
    %y = arith.mulf %x, %s : f32
    linalg.yield %y : f32
  } -> tensor<4x9xf32>
  return %r : tensor<4x9xf32>
})");
}

TEST(Import, ExtractsAreLoadsWhereTheirIndicesAreSumsOfLoopsAndGathersElsewhere) {
  EXPECT_THAT(ToString(Import(Extracting("%p = arith.subi %five, %i : index\n"
                                         "%x = tensor.extract %a[%p, %j] : tensor<6x9xf32>"))),
              HasSubstr("arg0[5 - i, j]*arg2[]"));
  EXPECT_THAT(ToString(Import(Extracting("%x = tensor.extract %a[%k, %j] : tensor<6x9xf32>"))),
              HasSubstr("arg0[{index.cast(arg1[i])}, {index(j)}]*arg2[]"));
  EXPECT_THAT(ToString(Import(Extracting("%p = arith.addi %five, %i : index\n"
                                         "%x = tensor.extract %a[%p, %j] : tensor<6x9xf32>"))),
              HasSubstr("arg0[{index(i + 5)}, {index(j)}]*arg2[]"));
}

TEST(Import, AScalarArgumentHasTheRoleOfOne) {
  const Program p = Import(Extracting("%x = tensor.extract %a[%i, %j] : tensor<6x9xf32>"));
  EXPECT_EQ(p.buffers[p.parameters[2]].role, Role::kScalar);
  const Program q = Import(
      "func.func @main(%a: tensor<f32>) -> tensor<f32> { %b = math.exp %a : tensor<f32> return %b : "
      "tensor<f32> }");
  EXPECT_EQ(q.buffers[q.parameters[0]].role, Role::kScalar);
}

TEST(Import, AssertionsBecomeTheStatusOverTheLoopsTheyDependOn) {
  const Program p = Import(Extracting(
      "%zero = arith.constant 0 : i32\n %c = arith.cmpi sge, %in, %zero : i32\n cf.assert %c, \"negative\"\n"
      "%d = arith.cmpi sle, %k, %five : index\n cf.assert %d, \"too large\"\n"
      "%x = tensor.extract %a[%k, %j] : tensor<6x9xf32>"));
  EXPECT_THAT(BlockNames(p), ElementsAre("assert", "mul"));
  EXPECT_THAT(ParameterNames(p), ElementsAre("arg0", "arg1", "arg2", "mul_out"));
  EXPECT_THAT(ToString(p), HasSubstr("buffer assert_out: i32[] status"));
  EXPECT_EQ(p.blocks[0].iters.count, 1);
}

TEST(Import, SeveralAssertionsAreOneStatus) {
  const Program p = Import(R"(
func.func @main(%a: tensor<4xi32>, %n: i32) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %c = arith.cmpi sgt, %n, %zero : i32
  cf.assert %c, "n"
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %d = arith.cmpi ne, %in, %zero : i32
    cf.assert %d, "zero"
    %q = arith.divsi %n, %in : i32
    linalg.yield %q : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
})");
  EXPECT_THAT(BlockNames(p), ElementsAre("assert", "assert.1", "div", "status"));
  EXPECT_THAT(ToString(p), HasSubstr("status_out[] = or(assert_out[], assert.1_out[])"));
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

TEST(Import, RefusesSizesBeyondInt64WhereTheyEnter) {
  for (const char* type : {"tensor<3x6148914691236517206xf32>", "tensor<4294967296x4294967296x4xf32>",
                           "tensor<4611686018427387904xf32>"}) {
    const std::string text =
        absl::StrReplaceAll("func.func @main(%a: T) -> T {\n  return %a : T\n}", {{"T", type}});
    EXPECT_THAT(ErrorOf(text), AllOf(HasSubstr("has more bytes than an int64 can count"),
                                     HasSubstr("hint: cut it into operations on smaller tensors")))
        << type;
  }
  // Expects an error for a file whose tensors are small enough, but whose two loops of 2^32 iterations have too many
  // together.
  EXPECT_THAT(ErrorOf(R"(
func.func @main(%a: tensor<4294967296xi8>, %b: tensor<4294967296xi8>) -> tensor<i8> {
  %z = arith.constant dense<0> : tensor<i8>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<4294967296xi8>, tensor<4294967296xi8>) outs(%z : tensor<i8>) {
  ^bb0(%x: i8, %y: i8, %o: i8):
    %p = arith.muli %x, %y : i8
    %s = arith.addi %o, %p : i8
    linalg.yield %s : i8
  } -> tensor<i8>
  return %r : tensor<i8>
})"),
              HasSubstr("its loops have more iterations than an int64 can count"));
}

TEST(Import, HintsFitWhatIsRefused) {
  const std::pair<const char*, const char*> types[] = {
      {"tensor<?x4xf32>", "export with fixed shapes"},
      {"tensor<*xf32>", "export with fixed shapes"},
      {"tensor<4xf32, \"sparse\">", "export it dense"},
      {"tensor<4xcomplex<f32>>", "cast it when exporting: Kiln computes with f64"},
      {"complex<f32>", "cast it when exporting: Kiln computes with f64"},
      {"memref<4xf32>", "import the tensors that it was bufferized from"},
  };
  for (const auto& [type, hint] : types) {
    const std::string text =
        absl::StrReplaceAll("func.func @main(%a: T) -> T {\n  return %a : T\n}", {{"T", type}});
    EXPECT_THAT(ErrorOf(text), HasSubstr(absl::StrCat("\n  hint: ", hint))) << type;
  }
}

TEST(Import, ChoosesTheEntryAndNamesTheChoices) {
  const std::string two = R"(
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> })";
  EXPECT_EQ(ErrorOf(two),
            "t.mlir: several public functions\n  hint: choose one with --function NAME, among f, g");
  ImportOptions options;
  options.entry = "h";
  EXPECT_EQ(ErrorOf(two, options),
            "t.mlir: no public function \"h\"\n  hint: choose one with --function NAME, among f, g");
  options.entry = "g";
  EXPECT_EQ(Import(two, options).name, "g");
}

TEST(Import, LeavesOutWhatItCannotSayAsABoundaryOfAModel) {
  const std::string model = R"(
func.func @main(%a: tensor<4xf32>, %i: tensor<1xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %g = tensor.generate {
  ^bb0(%at: index):
    %v = tensor.extract %x[%at] : tensor<4xf32>
    tensor.yield %v : f32
  } : tensor<4xf32>
  %y = linalg.exp ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})";
  EXPECT_EQ(ErrorOf(model),
            "t.mlir:5:8: tensor.generate is not supported (it is not among the tensor operations that Kiln "
            "imports)\n"
            "  hint: express it as a linalg.generic");
  ImportOptions options;
  options.allow_boundaries = true;
  const auto imported = ImportLinalg(model, "t.mlir", options);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(ParameterNames(imported->program),
              ElementsAre("arg0", "arg1", "generate_result", "exp.1_out", "exp_out"));
  ASSERT_EQ(imported->boundaries.size(), 1u);
  EXPECT_EQ(imported->boundaries[0].location, "t.mlir:5:8");
  EXPECT_THAT(imported->boundaries[0].results, ElementsAre("generate_result"));
  EXPECT_THAT(imported->boundaries[0].operands, ElementsAre("exp_out"));
}

}  // namespace
}  // namespace kiln
