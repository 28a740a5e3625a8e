// Tests BindWeights, which finds the tensor of a weights file for each constant of a model: by name, or else by order.
#include "backends/model/bind_weights.h"

#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/backends/weights_files.h"

namespace kiln {
namespace {

// Returns the program y[i, j] = arg0[j] + arg1[i, j], with the input arg0: f32[3] and the constants arg1: f32[2,3],
// arg2: f32[3] and arg3: i8[4], the last two unused.
Program Model() {
  Builder b("model");
  const Id x = b.Input("arg0", DType::kF32, {3}), w = b.Constant("arg1", DType::kF32, {2, 3});
  b.Constant("arg2", DType::kF32, {3});
  b.Constant("arg3", DType::kI8, {4});
  const Id y = b.Output("y", DType::kF32, {2, 3});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Compute("add", {{"i", 2}, {"j", 3}}, {y, {i, j}}, b.Add(b.Load(x, {j}), b.Load(w, {i, j})));
  return b.Finish();
}

struct Entry {
  std::string name, dtype, shape;
  int bytes;
};

// Returns the bytes of a .safetensors file with these tensors, filled with zeros.
std::string File(const std::vector<Entry>& entries) {
  std::string header = "{";
  int at = 0;
  for (const Entry& e : entries) {
    absl::StrAppend(&header, at > 0 || header.size() > 1 ? "," : "", "\"", e.name, "\":{\"dtype\":\"",
                    e.dtype, "\",\"shape\":[", e.shape, "],\"data_offsets\":[", at, ",", at + e.bytes, "]}");
    at += e.bytes;
  }
  return Safetensors(header + "}", std::string(at, '\0'));
}

// Makes a file of these tensors and binds them to the three constants of Model() by name, or in order. Returns the
// names of the tensors in the order of the constants, with a space after each, or the error message. `arguments` are
// the names of the model's input and constants; "" is no name.
std::string Bound(const std::vector<Entry>& entries,
                  const std::vector<std::string>& arguments = {"x", "fc.weight", "fc.bias", ""}) {
  const std::string bytes = File(entries);
  const auto file = WeightsFile::FromBytes(bytes, "w.safetensors");
  EXPECT_TRUE(file.ok()) << file.status();
  const auto bound = BindWeights(Model(), arguments, *file);
  if (!bound.ok()) return std::string(bound.status().message());
  std::string names;
  for (const WeightTensor* tensor : *bound) absl::StrAppend(&names, tensor->name, " ");
  return names;
}

const Entry kBias = {"fc.bias", "F32", "3", 12}, kWeight = {"fc.weight", "F32", "2,3", 24},
            kTable = {"arg3", "U8", "4", 4}, kEmpty = {"none", "F32", "0", 0};

TEST(BindWeights, FindsConstantsByTheirNames) {
  EXPECT_EQ(Bound({kBias, kTable, kEmpty, kWeight}), "fc.weight fc.bias arg3 ");
  EXPECT_EQ(Bound({{"arg2", "F32", "3", 12}, kTable, {"arg1", "F32", "2,3", 24}}), "arg1 arg2 arg3 ");
}

TEST(BindWeights, TakesThemInOrderIfNoNameIsKnown) {
  EXPECT_EQ(Bound({{"0", "F32", "2,3", 24}, {"1", "F32", "3", 12}, kEmpty, {"2", "I8", "4", 4}}), "0 1 2 ");
  EXPECT_EQ(Bound({kWeight, kBias, {"t", "I8", "4", 4}}, {}), "fc.weight fc.bias t ");
}

TEST(BindWeights, NamesWhatIsMissingSurplusAndMismatching) {
  EXPECT_EQ(Bound({{"fc.weight", "F32", "3,2", 24}, {"x", "F32", "3", 12}, {"fc.bias", "F16", "3", 6}}),
            "w.safetensors: 3 tensors do not fit the 3 constants of model by name\n"
            "  missing: arg3 i8[4]\n"
            "  surplus: x f32[3]\n"
            "  mismatching: fc.weight is f32[3,2], wanted f32[2,3], fc.bias is f16[3], wanted f32[3]");
  EXPECT_EQ(Bound({{"a", "F32", "3", 12}, {"b", "F32", "3", 12}}),
            "w.safetensors: 2 tensors do not fit the 3 constants of model in order\n"
            "  missing: arg3 i8[4]\n"
            "  mismatching: a (for fc.weight) is f32[3], wanted f32[2,3]");
  EXPECT_EQ(Bound({{"a", "F32", "2,3", 24}, {"b", "F32", "3", 12}, {"c", "I8", "4", 4}, {"d", "I8", "4", 4}}),
            "w.safetensors: 4 tensors do not fit the 3 constants of model in order\n"
            "  surplus: d i8[4]");
}

TEST(BindWeights, NamesTenOfMany) {
  std::vector<Entry> entries = {kWeight, kBias, kTable};
  for (int i = 0; i < 12; ++i) entries.push_back({absl::StrCat("e", i), "U8", "1", 1});
  EXPECT_EQ(
      Bound(entries),
      "w.safetensors: 15 tensors do not fit the 3 constants of model by name\n"
      "  surplus: e0 u8[1], e1 u8[1], e2 u8[1], e3 u8[1], e4 u8[1], e5 u8[1], e6 u8[1], e7 u8[1], e8 u8[1], "
      "e9 u8[1], and 2 more");
}

}  // namespace
}  // namespace kiln
