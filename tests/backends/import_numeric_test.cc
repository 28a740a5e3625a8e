// Tests that imported programs compute what their MLIR file means: the results of the interpreter agree with those of
// the file compiled by stock MLIR passes.
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "gtest/gtest.h"
#include "test_paths.h"
#include "tests/backends/field_check.h"
#include "tests/backends/shrunken.h"

namespace kiln {
namespace {

constexpr int64_t kManyInstances = 5'000'000;

int64_t Instances(const Program& p) {
  int64_t total = 0;
  for (const BlockNode& block : p.blocks) {
    int64_t count = 1;
    for (const Iter& iter : p.Iters(block.iters)) count *= iter.extent.Known();
    total += count;
  }
  return total;
}

// Imports an MLIR text and expects that the interpreter agrees with stock MLIR passes. Programs with many instances get
// smaller extents first.
void Agree(const std::string& file, std::string text) {
  const auto imported = ImportLinalg(text, file);
  ASSERT_TRUE(imported.ok()) << imported.status();
  if (Instances(imported->program) > kManyInstances)
    text = Shrunken(text, file.find("group") == std::string::npos ? kSmaller : kSmallerGroups);
  ExpectRight(text, {.name = file, .compiled = false});
}

TEST(ImportNumeric, EachImportedFileAgreesWithStockPasses) {
  const std::string root = KILN_SOURCE_DIR;
  std::ifstream table(root + "/tests/backends/import_table.txt");
  int files = 0;
  for (std::string line; std::getline(table, line);) {
    const std::string file = line.substr(0, line.find(' '));
    if (line.rfind("ops/", 0) != 0 || line.rfind(file + " imports ", 0) != 0) continue;
    std::stringstream text;
    text << std::ifstream(root + "/tests/inputs/" + file).rdbuf();
    Agree(file, text.str());
    ++files;
  }
  EXPECT_EQ(files, 43);
}

TEST(ImportNumeric, SlicesReshapesAndReductionsOfAllKindsAgree) {
  Agree("slices", R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x3xf32>, %s: tensor<2x3xf32>)
    -> (tensor<4x9xf32>, tensor<9x11xf32>, tensor<6x10xf32>, tensor<3x2x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 2.5 : f32
  %low = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<4x9xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x9xf32>) -> tensor<4x9xf32>
  %i0 = tensor.insert_slice %a into %f0[0, 0] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<4x9xf32>
  %inserted = tensor.insert_slice %b into %i0[0, 6] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x9xf32>
  %e1 = tensor.empty() : tensor<9x11xf32>
  %f1 = linalg.fill ins(%half : f32) outs(%e1 : tensor<9x11xf32>) -> tensor<9x11xf32>
  %strided = tensor.insert_slice %s into %f1[1, 3] [2, 3] [4, 2] : tensor<2x3xf32> into tensor<9x11xf32>
  %padded = tensor.pad %a low[1, 1] high[1, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %half : f32
  } : tensor<4x6xf32> to tensor<6x10xf32>
  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %deep = tensor.expand_shape %flat [[0, 1, 2]] output_shape [3, 2, 4] : tensor<24xf32> into tensor<3x2x4xf32>
  %e2 = tensor.empty() : tensor<3x2x4xf32>
  %reshaped = linalg.exp ins(%deep : tensor<3x2x4xf32>) outs(%e2 : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %slice = tensor.extract_slice %flat[2] [5] [3] : tensor<24xf32> to tensor<5xf32>
  %e3 = tensor.empty() : tensor<5xf32>
  %negated = linalg.negf ins(%slice : tensor<5xf32>) outs(%e3 : tensor<5xf32>) -> tensor<5xf32>
  %e4 = tensor.empty() : tensor<4xf32>
  %f4 = linalg.fill ins(%low : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %maximum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x6xf32>) outs(%f4 : tensor<4xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %c = arith.cmpf olt, %acc, %x : f32
    %m = arith.select %c, %x, %acc : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  %f5 = linalg.fill ins(%half : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %two = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x6xf32>) outs(%f5 : tensor<4xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %q = arith.mulf %x, %x : f32
    %t = arith.addf %q, %acc : f32
    %u = arith.subf %t, %x : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  return %inserted, %strided, %padded, %reshaped, %negated, %maximum, %two
      : tensor<4x9xf32>, tensor<9x11xf32>, tensor<6x10xf32>, tensor<3x2x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>
})");
}

TEST(ImportNumeric, CastsComparisonsAndIntegersAgree) {
  Agree("casts", R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<4x6xf32>, %h: tensor<4x6xf16>, %b: tensor<4x6xbf16>, %i: tensor<4x6xi32>, %q: tensor<4x6xi8>)
    -> (tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x6xi8>, tensor<4x6xi1>) {
  %e0 = tensor.empty() : tensor<4x6xf32>
  %mixed = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %b, %i : tensor<4x6xf16>, tensor<4x6xbf16>, tensor<4x6xi32>) outs(%e0 : tensor<4x6xf32>) {
  ^bb0(%u: f16, %v: bf16, %w: i32, %o: f32):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.extf %v : bf16 to f32
    %2 = arith.sitofp %w : i32 to f32
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    %5 = linalg.index 1 : index
    %6 = arith.index_cast %5 : index to i32
    %7 = arith.uitofp %6 : i32 to f32
    %8 = arith.addf %4, %7 : f32
    linalg.yield %8 : f32
  } -> tensor<4x6xf32>
  %e1 = tensor.empty() : tensor<4x6xi32>
  %whole = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %q, %i : tensor<4x6xf32>, tensor<4x6xi8>, tensor<4x6xi32>) outs(%e1 : tensor<4x6xi32>) {
  ^bb0(%u: f32, %v: i8, %w: i32, %o: i32):
    %c = arith.constant 100.0 : f32
    %0 = arith.mulf %u, %c : f32
    %1 = arith.fptosi %0 : f32 to i32
    %2 = arith.extui %v : i8 to i32
    %3 = arith.cmpi ult, %1, %w : i32
    %4 = arith.select %3, %1, %2 : i32
    %5 = arith.maxsi %4, %w : i32
    %6 = arith.extui %3 : i1 to i32
    %7 = arith.extsi %3 : i1 to i32
    %8 = arith.muli %7, %5 : i32
    %9 = arith.addi %8, %6 : i32
    linalg.yield %9 : i32
  } -> tensor<4x6xi32>
  %e2 = tensor.empty() : tensor<4x6xi8>
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<4x6xi32>) outs(%e2 : tensor<4x6xi8>) {
  ^bb0(%u: i32, %o: i8):
    %c = arith.constant 77 : i32
    %0 = arith.muli %u, %c : i32
    %1 = arith.trunci %0 : i32 to i8
    linalg.yield %1 : i8
  } -> tensor<4x6xi8>
  %e3 = tensor.empty() : tensor<4x6xi1>
  %bit = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %mixed : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e3 : tensor<4x6xi1>) {
  ^bb0(%u: f32, %v: f32, %o: i1):
    %0 = arith.cmpf ule, %u, %v : f32
    %1 = arith.cmpf one, %u, %u : f32
    %2 = arith.xori %0, %1 : i1
    linalg.yield %2 : i1
  } -> tensor<4x6xi1>
  return %mixed, %whole, %narrow, %bit : tensor<4x6xf32>, tensor<4x6xi32>, tensor<4x6xi8>, tensor<4x6xi1>
})");
}

TEST(ImportNumeric, IntegerOperationsAgree) {
  Agree("integers", R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<4x6xi32>, %b: tensor<4x6xi8>) -> (tensor<4x6xi32>, tensor<4x6xi32>, tensor<4x6xi8>) {
  %e0 = tensor.empty() : tensor<4x6xi32>
  %e2 = tensor.empty() : tensor<4x6xi8>
  %quotients, %bits = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x6xi32>, tensor<4x6xi8>) outs(%e0, %e0 : tensor<4x6xi32>, tensor<4x6xi32>) {
  ^bb0(%u: i32, %v: i8, %o: i32, %p: i32):
    %one = arith.constant 1 : i32
    %many = arith.constant 37 : i32
    %w = arith.extsi %v : i8 to i32
    %d = arith.ori %w, %one : i32
    %x = arith.muli %u, %many : i32
    %y = arith.muli %x, %w : i32
    %0 = arith.divsi %y, %d : i32
    %1 = arith.remsi %y, %d : i32
    %2 = arith.floordivsi %y, %d : i32
    %3 = arith.ceildivsi %y, %d : i32
    %4 = arith.divui %y, %d : i32
    %5 = arith.remui %y, %d : i32
    %6 = arith.addi %0, %1 : i32
    %7 = arith.muli %2, %many : i32
    %8 = arith.xori %3, %7 : i32
    %9 = arith.addi %4, %5 : i32
    %10 = arith.subi %8, %9 : i32
    %11 = arith.addi %6, %10 : i32
    %12 = arith.andi %u, %many : i32
    %13 = arith.shli %y, %u : i32
    %14 = arith.shrsi %y, %u : i32
    %15 = arith.shrui %y, %u : i32
    %16 = arith.maxui %13, %14 : i32
    %17 = arith.minui %16, %15 : i32
    %18 = arith.minsi %17, %y : i32
    %19 = math.absi %18 : i32
    %20 = arith.ori %19, %12 : i32
    linalg.yield %11, %20 : i32, i32
  } -> (tensor<4x6xi32>, tensor<4x6xi32>)
  %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4x6xi8>) outs(%e2 : tensor<4x6xi8>) {
  ^bb0(%v: i8, %o: i8):
    %three = arith.constant 3 : i8
    %ninety = arith.constant 90 : i8
    %0 = arith.muli %v, %ninety : i8
    %1 = arith.divui %0, %three : i8
    %2 = arith.shrui %0, %three : i8
    %3 = arith.shrsi %0, %three : i8
    %4 = arith.maxui %1, %2 : i8
    %5 = arith.remsi %3, %three : i8
    %6 = arith.floordivsi %0, %three : i8
    %7 = arith.xori %4, %5 : i8
    %8 = arith.addi %7, %6 : i8
    linalg.yield %8 : i8
  } -> tensor<4x6xi8>
  return %quotients, %bits, %narrow : tensor<4x6xi32>, tensor<4x6xi32>, tensor<4x6xi8>
})");
}

TEST(ImportNumeric, MaximaAndMinimaAgreeOnNaNElementwiseAndReduced) {
  // MLIR text with maxima and minima of tensors that contain NaN: x = n * n / n, which is NaN where the integer n is 0.
  Agree("nan", R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%n: tensor<8x6xi32>, %a: tensor<8x6xf32>)
    -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %er = tensor.empty() : tensor<8xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<8x6xi32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%u: i32, %o: f32):
    %0 = arith.sitofp %u : i32 to f32
    %1 = arith.divf %0, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x6xf32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a : tensor<8x6xf32>, tensor<8x6xf32>)
      outs(%e, %e, %e, %e : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32, %o1: f32, %o2: f32, %o3: f32):
    %0 = arith.maximumf %u, %v : f32
    %1 = arith.maxnumf %u, %v : f32
    %2 = arith.minimumf %v, %u : f32
    %3 = arith.minnumf %v, %u : f32
    linalg.yield %0, %1, %2, %3 : f32, f32, f32, f32
  } -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
  %fl = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %fh = linalg.fill ins(%high : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %most = linalg.reduce { arith.maximumf } ins(%x : tensor<8x6xf32>) outs(%fl : tensor<8xf32>) dimensions = [1]
  %least = linalg.reduce { arith.minnumf } ins(%x : tensor<8x6xf32>) outs(%fh : tensor<8xf32>) dimensions = [1]
  return %r#0, %r#1, %r#2, %r#3, %most, %least : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>
})");
}

// Tests argmax and argmin as exporters write them, by a comparison and selects, on floats with ties and NaN: the
// results agree with stock MLIR passes.
TEST(ImportNumeric, ArgMaxAgreesWithItsSourceOnTies) {
  for (const char* skips : {"%b = arith.cmpf ogt, %in, %out : f32\n %v = arith.select %b, %in, %out : f32",
                            "%b = arith.cmpf oge, %in, %out : f32\n %v = arith.select %b, %in, %out : f32",
                            "%b = arith.cmpf olt, %in, %out : f32\n %v = arith.select %b, %in, %out : f32"}) {
    const bool max = std::string(skips).find("olt") == std::string::npos;
    Agree(skips, absl::StrCat(R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%n: tensor<16x12xi32>) -> (tensor<16xf32>, tensor<16xi64>) {
  %start = arith.constant )",
                              max ? "0xFF800000" : "0x7F800000", R"( : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<16x12xf32>
  %er = tensor.empty() : tensor<16xf32>
  %ei = tensor.empty() : tensor<16xi64>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<16x12xi32>) outs(%e : tensor<16x12xf32>) {
  ^bb0(%u: i32, %o: f32):
    %0 = arith.sitofp %u : i32 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.divf %1, %0 : f32
    linalg.yield %2 : f32
  } -> tensor<16x12xf32>
  %f = linalg.fill ins(%start : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<16xi64>) -> tensor<16xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x12xf32>) outs(%f, %fi : tensor<16xf32>, tensor<16xi64>) {
  ^bb0(%in: f32, %out: f32, %pos: i64):
    %k = linalg.index 1 : index
    %at = arith.index_cast %k : index to i64
    )",
                              skips, R"(
    %i = arith.select %b, %at, %pos : i64
    linalg.yield %v, %i : f32, i64
  } -> (tensor<16xf32>, tensor<16xi64>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xi64>
})"));
  }
}

}  // namespace
}  // namespace kiln
