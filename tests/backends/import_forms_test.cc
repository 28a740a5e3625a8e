// Tests the import of less usual MLIR operations and types: packs, gathers and scatters, TOSA, unsigned types, powers,
// tensors without elements.
#include <numeric>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/backends/field_check.h"

namespace kiln {
namespace {

std::vector<float> Counted(int count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

// Imports the MLIR text and expects the given outputs for these inputs, interpreted, compiled, and under random traces.
// Stock MLIR passes, which lack some of these operations, are not compared.
void ExpectGives(const std::string& text, std::vector<std::string> inputs, std::vector<std::string> wanted,
                 int traces = 3) {
  RightOptions options;
  options.inputs = std::move(inputs);
  options.wanted = std::move(wanted);
  options.stock = false;
  options.traces = traces;
  ExpectRight(text, options);
}

TEST(ImportForms, PacksPadAndUnpacksCut) {
  // MLIR text that packs a 3 x 5 tensor into tiles of 2 x 4, padded with 9.
  const std::string pack = R"(func.func @f(%x: tensor<3x5xf32>) -> tensor<2x2x2x4xf32> {
  %p = arith.constant 9.0 : f32
  %e = tensor.empty() : tensor<2x2x2x4xf32>
  %r = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e
    : tensor<3x5xf32> -> tensor<2x2x2x4xf32>
  return %r : tensor<2x2x2x4xf32>
})";
  const std::vector<float> packed{1,  2,  3,  4,  6, 7, 8, 9, 5,  9, 9, 9, 10, 9, 9, 9,
                                  11, 12, 13, 14, 9, 9, 9, 9, 15, 9, 9, 9, 9,  9, 9, 9};
  ExpectGives(pack, {Bytes(Counted(15))}, {Bytes(packed)});
  const std::string unpack = R"(func.func @f(%x: tensor<2x2x2x4xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e
    : tensor<2x2x2x4xf32> -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
})";
  ExpectGives(unpack, {Bytes(packed)}, {Bytes(Counted(15))});
}

TEST(ImportForms, GathersReadRowsColumnsAndElements) {
  const std::vector<int64_t> two{2, 0};
  const auto file = [](const char* dims, const char* index, const char* result) {
    return absl::StrCat("func.func @f(%x: tensor<3x4xf32>, %i: tensor<", index, ">) -> tensor<", result,
                        "> {\n  %r = tensor.gather %x[%i] gather_dims([", dims,
                        "]) : (tensor<3x4xf32>, tensor<", index, ">) -> tensor<", result,
                        ">\n  return %r : tensor<", result, ">\n}\n");
  };
  const std::string x = Bytes(Counted(12));
  ExpectGives(file("0", "2x1xi64", "2x1x4xf32"), {x, Bytes(two)},
              {Bytes<float>({9, 10, 11, 12, 1, 2, 3, 4})});
  ExpectGives(file("0", "2x1xi64", "2x4xf32"), {x, Bytes(two)}, {Bytes<float>({9, 10, 11, 12, 1, 2, 3, 4})});
  ExpectGives(file("1", "2x1xi64", "2x3xf32"), {x, Bytes(two)}, {Bytes<float>({3, 7, 11, 1, 5, 9})});
  ExpectGives(file("0, 1", "1x2xi64", "1xf32"), {x, Bytes<int64_t>({1, 3})}, {Bytes<float>({8})});
}

std::string Scatter(const std::string& dims, const std::string& source, const std::string& index) {
  const std::string types = absl::StrCat("tensor<", source, "xf32>, tensor<3x4xf32>, tensor<", index, ">");
  return absl::StrCat("func.func @f(%s: tensor<", source, "xf32>, %d: tensor<3x4xf32>, %i: tensor<", index,
                      ">) -> tensor<3x4xf32> {\n  %r = tensor.scatter %s into %d[%i] scatter_dims([", dims,
                      "]) unique : (", types, ") -> tensor<3x4xf32>\n  return %r : tensor<3x4xf32>\n}\n");
}

TEST(ImportForms, ScattersWriteRowsColumnsAndElements) {
  const std::string d = Bytes(Counted(12)), four = Bytes<float>({-1, -2, -3, -4});
  const std::string second_row = Bytes<float>({1, 2, 3, 4, -1, -2, -3, -4, 9, 10, 11, 12});
  ExpectGives(Scatter("0", "1x1x4", "1x1xi64"), {four, d, Bytes<int64_t>({1})}, {second_row});
  ExpectGives(Scatter("0", "1x4", "1x1xi32"), {four, d, Bytes<int32_t>({1})}, {second_row});
  ExpectGives(Scatter("0", "4", "1xi64"), {four, d, Bytes<int64_t>({1})}, {second_row});
  ExpectGives(Scatter("1", "2x3", "2x1xi64"),
              {Bytes<float>({-1, -2, -3, -4, -5, -6}), d, Bytes<int64_t>({3, 0})},
              {Bytes<float>({-4, 2, 3, -1, -5, 6, 7, -2, -6, 10, 11, -3})});
  ExpectGives(Scatter("0, 1", "2x2", "2x2x2xi64"), {four, d, Bytes<int64_t>({0, 0, 2, 3, 1, 1, 0, 3})},
              {Bytes<float>({-1, 2, 3, -4, 5, -3, 7, 8, 9, 10, 11, -2})});
}

TEST(ImportForms, OneHundredScattersPutEachRowWhereItsIndexSays) {
  std::mt19937 random(9);
  for (int n = 0; n < 100; ++n) {
    const auto draw = [&](int most) { return 1 + static_cast<int>(random() % most); };
    const int rows = draw(12), width = draw(9), count = draw(rows);
    std::vector<float> d = Counted(rows * width), s(count * width);
    for (float& x : s) x = -static_cast<float>(random() % 1000);
    std::vector<int64_t> places(rows);
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), random);
    places.resize(count);
    const std::vector<float> before = d;
    for (int row = 0; row < count; ++row)
      std::copy_n(s.begin() + row * width, width, d.begin() + places[row] * width);
    const auto tensor = [](int a, int b, const char* type) {
      return absl::StrCat("tensor<", a, "x", b, "x", type, ">");
    };
    const std::string whole = tensor(rows, width, "f32"), source = tensor(count, width, "f32"),
                      index = tensor(count, 1, "i64");
    ExpectGives(absl::StrCat("func.func @f(%s: ", source, ", %d: ", whole, ", %i: ", index, ") -> ", whole,
                             " {\n  %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (", source,
                             ", ", whole, ", ", index, ") -> ", whole, "\n  return %r : ", whole, "\n}\n"),
                {Bytes(s), Bytes(before), Bytes(places)}, {Bytes(d)}, /*traces=*/1);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ImportForms, AScatterThatMayRepeatIsRefusedWithWhatToDo) {
  const std::string text = absl::StrReplaceAll(Scatter("0", "1x4", "1x1xi64"), {{" unique", ""}});
  EXPECT_EQ(
      std::string(ImportLinalg(text, "f").status().message()),
      "f:2:8: tensor.scatter is not supported (of several writes to one place none is the last)\n"
      "  hint: add the attribute unique, if no two indices are the same; otherwise add the rows up first");
}

TEST(ImportForms, Mmt4dIsAContraction) {
  // MLIR text of a tiled product: A is one tile of 2 x 3, and B one tile of 2 x 3 that is used transposed.
  const std::string text =
      R"(func.func @f(%a: tensor<1x1x2x3xf32>, %b: tensor<1x1x2x3xf32>) -> tensor<1x1x2x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x2x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %r = linalg.mmt4d ins(%a, %b : tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>) outs(%f : tensor<1x1x2x2xf32>)
    -> tensor<1x1x2x2xf32>
  return %r : tensor<1x1x2x2xf32>
})";
  ExpectGives(text, {Bytes(Counted(6)), Bytes(Counted(6))}, {Bytes<float>({14, 32, 32, 77})});
}

TEST(ImportForms, TosaIsLoweredFirst) {
  const std::string text =
      R"(func.func @f(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %0 = tosa.add %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x1xf32>
})";
  ExpectGives(text, {Bytes(Counted(6)), Bytes<float>({10, 20, 30})},
              {Bytes<float>({11, 22, 33, 14, 25, 36}), Bytes<float>({66, 75})});
}

// Imports tosa.pad, whose amounts of padding are operands, here constants: one row before and one column after, filled
// with 9.
TEST(ImportForms, TosaPads) {
  const std::string text = R"(func.func @f(%x: tensor<2x2xf32>) -> tensor<3x3xf32> {
  %p = tosa.const_shape {values = dense<[1, 0, 0, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %z = "tosa.const"() <{values = dense<9.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.pad %x, %p, %z : (tensor<2x2xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
})";
  ExpectGives(text, {Bytes(Counted(4))}, {Bytes<float>({9, 9, 9, 1, 2, 9, 3, 4, 9})});
}

TEST(ImportForms, UnsignedTensorsAreTakenAsTheirBits) {
  const std::string text = R"(#m = affine_map<(i) -> (i)>
func.func @f(%x: tensor<3xui8>) -> tensor<3xui32> {
  %s = builtin.unrealized_conversion_cast %x : tensor<3xui8> to tensor<3xi8>
  %e = tensor.empty() : tensor<3xi32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%s : tensor<3xi8>) outs(%e : tensor<3xi32>) {
  ^bb0(%a: i8, %o: i32):
    %v = arith.extui %a : i8 to i32
    linalg.yield %v : i32
  } -> tensor<3xi32>
  %u = builtin.unrealized_conversion_cast %r : tensor<3xi32> to tensor<3xui32>
  return %u : tensor<3xui32>
})";
  ExpectGives(text, {Bytes<uint8_t>({0, 127, 255})}, {Bytes<uint32_t>({0, 127, 255})});
}

std::string PowerOf(const std::string& type, const std::string& exponent) {
  return absl::StrReplaceAll(R"(#m = affine_map<(i) -> (i)>
func.func @f(%x: tensor<7xT>, %n: tensor<7xT>) -> tensor<7xT> {
  %e = tensor.empty() : tensor<7xT>
  %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
      ins(%x, %n : tensor<7xT>, tensor<7xT>) outs(%e : tensor<7xT>) {
  ^bb0(%a: T, %b: T, %o: T):
    %c = arith.addi %b, %b : T
    %k = EXPONENT : T
    %v = math.ipowi %a, %k : T
    %w = arith.addi %v, %c : T
    linalg.yield %w : T
  } -> tensor<7xT>
  return %r : tensor<7xT>
})",
                             {{"xT", "x" + type}, {": T", ": " + type}, {"EXPONENT", exponent}});
}

TEST(ImportForms, PowersOfIntegersWrapAndHaveInverses) {
  const std::string given = "arith.subi %c, %b";  // %b
  ExpectGives(PowerOf("i8", given),
              {Bytes<int8_t>({0, 3, -3, 2, -1, 1, 2}), Bytes<int8_t>({0, 5, 5, 8, -3, -128, -1})},
              {Bytes<int8_t>({1, -13 + 10, 13 + 10, 0 + 16, -1 - 6, 1, 0 - 2})});
  ExpectGives(
      PowerOf("i64", given),
      {Bytes<int64_t>({3, -1, 1, 5, 2, -7, 10}), Bytes<int64_t>({40, INT64_MAX, INT64_MIN, -2, 63, 2, 18})},
      {Bytes<int64_t>({static_cast<int64_t>(12157665459056928801u + 80), -3, 1, -4, INT64_MIN + 126, 53,
                       1000000000000000036})});
  const std::vector<int32_t> x{0, 1, -1, 2, 3, -2, 10}, zero(7, 0);
  ExpectGives(PowerOf("i32", "arith.constant 7"), {Bytes(x), Bytes(zero)},
              {Bytes<int32_t>({0, 1, -1, 128, 2187, -128, 10000000})});
  const std::vector<int32_t> units{1, -1, 2, 3, 1, -1, -2};
  ExpectGives(PowerOf("i32", "arith.constant -1"), {Bytes(units), Bytes(zero)},
              {Bytes<int32_t>({1, -1, 0, 0, 1, -1, 0})});
}

std::string SumOfRows(int rows, int columns) {
  return absl::StrReplaceAll(
      R"(func.func @f(%x: tensor<RxCxf32>) -> tensor<Rxf32> {
  %z = arith.constant 2.5 : f32
  %e = tensor.empty() : tensor<Rxf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<Rxf32>) -> tensor<Rxf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<RxCxf32>) outs(%f : tensor<Rxf32>) dimensions = [1]
  return %r : tensor<Rxf32>
})",
      {{"RxC", absl::StrCat(rows, "x", columns)}, {"Rxf32", absl::StrCat(rows, "xf32")}});
}

TEST(ImportForms, ReductionsOverNothingGiveWhatTheyStartFrom) {
  ExpectGives(SumOfRows(3, 0), {}, {Bytes<float>({2.5, 2.5, 2.5})});
}

TEST(ImportForms, TensorsWithoutElementsAddNothing) {
  const std::string text =
      R"(func.func @f(%x: tensor<2x0xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>) {
  %c = arith.constant 7.0 : f32
  %r = tensor.concat dim(1) %x, %y : (tensor<2x0xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x0xf32> to tensor<2x1xf32>
  return %r, %p : tensor<2x2xf32>, tensor<2x1xf32>
})";
  ExpectGives(text, {Bytes(Counted(4))}, {Bytes(Counted(4)), Bytes<float>({7, 7})});
}

TEST(ImportForms, AFunctionOfNothingIsToldSo) {
  const auto imported = ImportLinalg(SumOfRows(0, 4), "f");
  EXPECT_EQ(imported.status(),
            absl::OutOfRangeError("f:1:1: nothing to do: the function \"f\" has no elements to compute"));
}

}  // namespace
}  // namespace kiln
