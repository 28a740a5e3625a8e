// Operations that import takes apart first: packs, gathers, TOSA, types with a sign, tensors without
// elements.
#include <numeric>

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

// Stock passes know no TOSA, packs or gathers.
void ExpectGives(const std::string& text, std::vector<std::string> inputs, std::vector<std::string> wanted) {
  RightOptions options;
  options.inputs = std::move(inputs);
  options.wanted = std::move(wanted);
  options.stock = false;
  options.traces = 3;
  ExpectRight(text, options);
}

TEST(ImportForms, PacksPadAndUnpacksCut) {
  // Rows of 3 x 5 in tiles of 2 x 4.
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

TEST(ImportForms, Mmt4dIsAContraction) {
  // A of one tile 2 x 3, B transposed of one tile 2 x 3.
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
