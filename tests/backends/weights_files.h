// Makes files of weights for tests: bytes of .safetensors files, and .npz files, which Python writes as numpy does.
// Also prints the tensors of such files.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/model/weights_file.h"
#include "backends/workers/scratch_folder.h"

namespace kiln {

// Returns the bytes of a .safetensors file with this JSON header and these bytes of tensors.
inline std::string Safetensors(const std::string& header, const std::string& data = "") {
  const uint64_t size = header.size();
  std::string bytes(sizeof(size), '\0');
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bytes + header + data;
}

// Returns the tensors of a file as text, such as "w f32[2,3] 24 bytes; b i1[] 1 bytes", or its error.
inline std::string Shown(const absl::StatusOr<WeightsFile>& file) {
  if (!file.ok()) return std::string(file.status().message());
  std::string text;
  for (const WeightTensor& tensor : file->tensors()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", tensor.name, " ", TypeText(tensor.dtype, tensor.shape),
                    " ", tensor.bytes.size(), " bytes");
  }
  return text;
}

inline std::string Shown(const std::string& bytes, const std::string& name = "w.safetensors") {
  return Shown(WeightsFile::FromBytes(bytes, name));
}

// Python code of the functions npy, which returns the bytes of an .npy array with a header dictionary, and savez, which
// writes arrays to an .npz file.
constexpr char kPythonNpy[] = R"(
import sys, zipfile, struct
def npy(dictionary, data, version=1):
    header = dictionary.encode()
    length = 10 if version == 1 else 12
    header += b' ' * (-(length + len(header) + 1) % 64) + b'\n'
    return b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I', len(header)) + header + data
def savez(path, arrays, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, 'w', method, allowZip64=True) as archive:
        for name, array in arrays:
            with archive.open(name + '.npy', 'w', force_zip64=True) as entry:  # as numpy.savez
                entry.write(array)
F32 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
)";

inline const std::string& WeightsFolder() {
  static auto* const folder = new std::unique_ptr<ScratchFolder>(ScratchFolder::Make().value());
  return (*folder)->path();
}

// Runs Python code that writes an .npz file to the variable `path`, after the definitions of kPythonNpy. Returns the
// path of the file.
inline std::string WrittenByPython(const std::string& code) {
  static int files = 0;
  const std::string script = absl::StrCat(WeightsFolder(), "/", ++files, ".py"),
                    path = absl::StrCat(WeightsFolder(), "/", files, ".npz");
  std::ofstream(script) << kPythonNpy << "path = sys.argv[1]\n" << code;
  EXPECT_EQ(std::system(absl::StrCat("python3 -W ignore ", script, " ", path).c_str()), 0);
  return path;
}

}  // namespace kiln
