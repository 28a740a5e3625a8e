#include "backends/import/file_kind.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/match.h"

namespace kiln {
namespace {

constexpr char kWeights[] = "it holds no operations: export the model that uses it as linalg on tensors";
constexpr char kTorch[] =
    "in Python: torch_mlir.fx.export_and_import(torch.export.load(FILE), output_type=\"linalg-on-tensors\"), "
    "and write what it returns to a file";

struct Magic {
  size_t at;
  absl::string_view bytes, is, hint;
};

constexpr Magic kMagics[] = {
    {4, "TFL3", "a TFLite model",
     "iree-import-tflite FILE -o model.mlir makes TOSA of it; then mlir-opt "
     "--pass-pipeline=\"builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg))\" model.mlir"},
    {0, "GGUF", "a GGUF file of weights", kWeights},
    {0, "\x93NUMPY", "a NumPy array", kWeights},
    {0, "\x89HDF\r\n\x1a\n", "an HDF5 file",
     "export the model with TensorFlow or JAX, and lower it to linalg on tensors"},
    {0, "\x80\x02", "a Python pickle", kTorch},
    {0, "BC\xC0\xDE", "LLVM bitcode", "give the linalg on tensors that it was compiled from"},
    {0,
     "\x7F"
     "ELF",
     "machine code", "give the linalg on tensors that it was compiled from"},
    {0, "\x1F\x8B", "a gzip archive", "unpack it: gunzip FILE"},
    {0, "\xFF\xFE", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE"},
    {0, "\xFE\xFF", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE"},
};

uint64_t Number(absl::string_view little_endian, int size) {
  uint64_t number = 0;
  std::memcpy(&number, little_endian.data(), size);
  return number;
}

// True if the bytes begin like a safetensors file: eight bytes with a length that fits the file, then "{" of a JSON
// header.
bool IsSafetensors(absl::string_view bytes) {
  return bytes.size() > 8 && bytes[8] == '{' && Number(bytes, 8) >= 2 && Number(bytes, 8) <= bytes.size() - 8;
}

bool TakeVarint(absl::string_view* bytes, uint64_t* number) {
  *number = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *number |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// True if the bytes are an ONNX file. ONNX has no magic number: the bytes are a complete protocol buffer with fields of
// a ModelProto, including the version and the graph.
bool IsOnnx(absl::string_view bytes) {
  constexpr uint64_t kVersion = 1, kModelVersion = 5, kGraph = 7, kLast = 25, kVarint = 0, kBytes = 2;
  bool version = false, graph = false;
  while (!bytes.empty()) {
    uint64_t tag, value;
    if (!TakeVarint(&bytes, &tag) || !TakeVarint(&bytes, &value)) return false;
    const uint64_t field = tag >> 3;
    if (field == 0 || field > kLast) return false;
    if ((tag & 7) != (field == kVersion || field == kModelVersion ? kVarint : kBytes)) return false;
    version = version || field == kVersion;
    graph = graph || field == kGraph;
    if ((tag & 7) == kVarint) continue;
    if (value > bytes.size()) return false;
    bytes.remove_prefix(value);
  }
  return version && graph;
}

// Returns the kind of a zip file (NumPy, PyTorch, unknown), by the name of its first entry.
FileKind OfZip(absl::string_view bytes) {
  constexpr size_t kLength = 26, kName = 30;
  const absl::string_view name =
      bytes.size() < kName ? "" : bytes.substr(kName, Number(bytes.substr(kLength), 2));
  if (absl::EndsWith(name, ".npy")) return {"a NumPy archive", kWeights};
  if (absl::EndsWith(name, "data.pkl"))
    return {
        "a PyTorch file of torch.save",
        "load it in Python, torch.export the module, and give that to torch_mlir.fx.export_and_import with "
        "output_type=\"linalg-on-tensors\""};
  if (absl::StrContains(name, "archive_format") || absl::StrContains(name, "archive_version") ||
      absl::StrContains(name, "serialized_exported_program") || absl::StrContains(name, "models/"))
    return {"a PyTorch program of torch.export (.pt2)", kTorch};
  return {"a zip archive", "unpack it, and give a file with linalg on tensors; for one of torch.export: " +
                               std::string(kTorch)};
}

}  // namespace

std::optional<FileKind> KindOf(absl::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.size() >= magic.at && absl::StartsWith(bytes.substr(magic.at), magic.bytes))
      return FileKind{std::string(magic.is), std::string(magic.hint)};
  }
  if (absl::StartsWith(bytes, "PK\x03\x04")) return OfZip(bytes);
  if (IsSafetensors(bytes)) return FileKind{"a safetensors file of weights", kWeights};
  if (IsOnnx(bytes)) {
    return FileKind{"an ONNX model",
                    "python -m torch_mlir.tools.import_onnx FILE -o model.mlir, then torch-mlir-opt "
                    "--pass-pipeline=\"builtin.module(torch-onnx-to-torch-backend-pipeline,"
                    "torch-backend-to-linalg-on-tensors-backend-pipeline)\" model.mlir"};
  }
  return std::nullopt;
}

}  // namespace kiln
