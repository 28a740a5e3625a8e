// Tests that Kiln recognizes files that are not MLIR, such as ONNX and safetensors, by their first bytes, and that the
// error of an import names their format.
#include "backends/import/file_kind.h"

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr absl::string_view kDouble = R"(func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%a, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})";

std::string KindName(absl::string_view bytes) {
  const auto kind = KindOf(bytes);
  return kind ? kind->is : "unknown";
}

// Returns the first bytes of a zip archive whose first entry has this name, followed by other bytes.
std::string Zip(absl::string_view name) {
  return absl::StrCat("PK\x03\x04", std::string(22, '\0'), std::string(1, static_cast<char>(name.size())),
                      std::string(3, '\0'), name, "rest");
}

// Returns a minimal ONNX file with the fields that every writer sets: ir_version = 8, producer_name = "torch", graph.
std::string Onnx() { return std::string("\x08\x08\x12\x05torch\x3A\x03\x0A\x01\x78\x42\x02\x10\x11", 18); }

std::string Safetensors() {
  const std::string header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  return absl::StrCat(std::string(1, static_cast<char>(header.size())), std::string(7, '\0'), header, "abcd");
}

TEST(FileKind, IsKnownByTheFirstBytes) {
  EXPECT_EQ(KindName(Onnx()), "an ONNX model");
  EXPECT_EQ(KindName(std::string("\x1C\0\0\0TFL3\x14\0", 10)), "a TFLite model");
  EXPECT_EQ(KindName(Safetensors()), "a safetensors file of weights");
  EXPECT_EQ(KindName(Zip("model/archive_format")), "a PyTorch program of torch.export (.pt2)");
  EXPECT_EQ(KindName(Zip("serialized_exported_program.json")), "a PyTorch program of torch.export (.pt2)");
  EXPECT_EQ(KindName(Zip("net/data.pkl")), "a PyTorch file of torch.save");
  EXPECT_EQ(KindName(Zip("arr_0.npy")), "a NumPy archive");
  EXPECT_EQ(KindName(Zip("a.txt")), "a zip archive");
  EXPECT_EQ(KindName("GGUF\x03"), "a GGUF file of weights");
  EXPECT_EQ(KindName("\x93NUMPY\x01"), "a NumPy array");
  EXPECT_EQ(KindName("\x89HDF\r\n\x1a\n"), "an HDF5 file");
  EXPECT_EQ(KindName("\xFF\xFE"
                     "f"),
            "text in UTF-16");
}

TEST(FileKind, IsUnknownForTextAndForPiecesOfFiles) {
  for (const absl::string_view text : {"", "\n", "//", "PK", "TFL3", "{", "func.func @f()", "module {"})
    EXPECT_EQ(KindName(text), "unknown") << text;
  EXPECT_EQ(KindName(kDouble), "unknown");
  const std::string onnx = Onnx();
  for (size_t size = 0; size < 14; ++size) EXPECT_EQ(KindName(onnx.substr(0, size)), "unknown") << size;
  EXPECT_EQ(KindName(std::string(64, '\0')), "unknown");
}

TEST(FileKind, IsWhatTheErrorOfImportSays) {
  EXPECT_EQ(ImportLinalg(Safetensors(), "w.safetensors").status().message(),
            "w.safetensors: a safetensors file of weights; Kiln reads linalg on tensors, as MLIR writes it\n"
            "  hint: it holds no operations: export the model that uses it as linalg on tensors");
}

TEST(FileKind, AByteOrderMarkIsSkippedAndPlacesStay) {
  EXPECT_TRUE(ImportLinalg(absl::StrCat("\xEF\xBB\xBF", kDouble), "t.mlir").ok());
  EXPECT_EQ(ImportLinalg("\xEF\xBB\xBF?", "t.mlir").status(), ImportLinalg("?", "t.mlir").status());
}

}  // namespace
}  // namespace kiln
