// Tests WeightsFile, which reads tensors from files of weights (.safetensors and .npz): well-formed files are read, and
// malformed ones refused with an error that names the place.
#include "backends/model/weights_file.h"

#include <gmock/gmock.h>

#include "tests/backends/weights_files.h"

namespace kiln {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Safetensors, AreReadInTheOrderOfTheirBytes) {
  // The file that the Python library safetensors writes for {"b": tensor([1.0, 2.0]), "flag": tensor(True)}, with its
  // padding.
  const std::string file = Safetensors(
      R"({"__metadata__":{"format":"pt"},"flag":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]},)"
      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )",
      std::string("\0\0\x80\x3f\0\0\0\x40\1", 9));
  const auto read = WeightsFile::FromBytes(file, "w.safetensors");
  ASSERT_EQ(Shown(read), "b f32[2] 8 bytes; flag i1[] 1 bytes");
  EXPECT_EQ(read->tensors()[0].bytes, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  EXPECT_EQ(read->tensors()[1].bytes, "\1");
}

TEST(Safetensors, MayHoldAllTypesAndNoElements) {
  std::string header = "{", wanted;
  int at = 0;
  for (const auto& [word, type, size] : {std::tuple{"F64", "f64", 8},
                                         {"F32", "f32", 4},
                                         {"F16", "f16", 2},
                                         {"BF16", "bf16", 2},
                                         {"I64", "i64", 8},
                                         {"I32", "i32", 4},
                                         {"I16", "i16", 2},
                                         {"I8", "i8", 1},
                                         {"U8", "u8", 1},
                                         {"BOOL", "i1", 1}}) {
    absl::StrAppend(&header, "\"", type, "\":{\"dtype\":\"", word, "\",\"shape\":[3],\"data_offsets\":[", at,
                    ",", at + 3 * size, "]},");
    absl::StrAppend(&wanted, type, " ", type, "[3] ", 3 * size, " bytes; ");
    at += 3 * size;
  }
  absl::StrAppend(&header, R"("none":{"dtype":"F32","shape":[4,0],"data_offsets":[)", at, ",", at, "]}}");
  EXPECT_EQ(Shown(Safetensors(header, std::string(at, 'x'))), wanted + "none f32[4,0] 0 bytes");
  EXPECT_EQ(Shown(Safetensors("{}")), "");
}

TEST(Safetensors, ThatAreMalformedAreRefused) {
  const std::string one = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})", data(8, '\0');
  const auto entry = [](const std::string& text) { return "{\"w\":" + text + "}"; };
  const std::pair<std::string, std::string> wrong[] = {
      {"", "has 0 bytes; wanted 8 with the size of a safetensors header"},
      {"123", "has 3 bytes; wanted 8 with the size"},
      {std::string(16, '\x7f'),
       "is no safetensors file: its header has 9187201950435737471 bytes; wanted at most 100000000"},
      {Safetensors("{}").substr(0, 9), "its header has 2 bytes, but only 1 follow: the file is truncated"},
      {Safetensors("{\"w\""), "the header is not JSON: "},
      {Safetensors("[]"), "the header is array; wanted an object"},
      {Safetensors(std::string(100000, '[')), "the header is not JSON: "},
      {Safetensors("{\"\xff\":1}"), "the header is not JSON: "},
      {Safetensors("{" + one + "," + one + "}", data), "tensor \"w\": is there twice"},
      {Safetensors(entry(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"), data),
       "tensor \"w\": has \"dtype\" twice"},
      {Safetensors(entry("3")), "tensor \"w\": is number; wanted an object with dtype, shape, data_offsets"},
      {Safetensors(entry("{}")), "tensor \"w\": has no dtype"},
      {Safetensors(entry(R"({"dtype":"F8_E4M3"})")),
       "tensor \"w\": dtype F8_E4M3 is not supported; wanted one of F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL"},
      {Safetensors(entry(R"({"dtype":"F32","shape":[-2]})")),
       "tensor \"w\": has no shape, a list of whole numbers"},
      {Safetensors(entry(R"({"dtype":"F32","shape":[2.0]})")), "tensor \"w\": has no shape"},
      {Safetensors(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[8]})")),
       "tensor \"w\": has no data_offsets, a list of two whole numbers"},
      {Safetensors(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), data),
       "tensor \"w\": lies at bytes 8 to 0 of 8"},
      {Safetensors("{" + one + "}", data.substr(1)),
       "tensor \"w\": lies at bytes 0 to 8 of 7: the file is truncated"},
      {Safetensors(entry(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"), data),
       "tensor \"w\": has 8 bytes; f32[3] wants 12"},
      {Safetensors(entry(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]})"), data),
       "tensor \"w\": f32[4611686018427387904,4] is too large"},
      {Safetensors("{" + one + R"(,"v":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}})", data + data),
       "tensor \"v\": begins at byte 4, in tensor \"w\", which ends at 8"},
      {Safetensors("{" + one + R"(,"v":{"dtype":"U8","shape":[4],"data_offsets":[12,16]}})", data + data),
       "tensor \"v\": begins at byte 12; wanted 8, without a gap"},
      {Safetensors("{" + one + "}", data + "more"), "has 12 bytes of tensors, but its tensors end at 8"},
  };
  for (const auto& [file, message] : wrong) EXPECT_THAT(Shown(file), StartsWith("w.safetensors: " + message));
}

TEST(Npz, IsReadAsNumpyWritesIt) {
  for (const char* method : {"zipfile.ZIP_STORED", "zipfile.ZIP_DEFLATED"}) {
    const std::string path = WrittenByPython(absl::StrCat(R"(
savez(path, [('w', npy(F32, struct.pack('<6f', 1, 2, 3, 4, 5, 6))),
             ('layer/scale', npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", struct.pack('<d', 7))),
             ('flags', npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", bytes([1, 0, 1]), 2)),
             ('none', npy("{'descr': '<i2', 'fortran_order': False, 'shape': (0, 4), }", b'', 3))], )",
                                                          method, ")\n"));
    const auto read = WeightsFile::Open(path);
    ASSERT_EQ(Shown(read),
              "w f32[2,3] 24 bytes; layer/scale f64[] 8 bytes; flags i1[3] 3 bytes; none i16[0,4] 0 bytes");
    float third = 0;
    std::memcpy(&third, read->tensors()[0].bytes.data() + 8, sizeof(third));
    EXPECT_EQ(third, 3);
    EXPECT_EQ(read->tensors()[2].bytes, std::string("\1\0\1", 3));
  }
}

TEST(Npz, ThatIsMalformedIsRefused) {
  const auto array = [](const std::string& dictionary) {
    return "savez(path, [('w', npy(" + dictionary + ", bytes(24)))])\n";
  };
  const std::pair<std::string, std::string> wrong[] = {
      {"open(path, 'wb').write(b'no zip')", "is no zip file, as .npz are"},
      {"open(path, 'wb').write(b'PK' + bytes(30))", "is no readable zip file: "},
      {array("F32.replace('<f4', '>f4')"),
       "tensor \"w\": dtype >f4 is not supported; wanted one of <f8 <f4 <f2 <i8 <i4 <i2 |i1 |u1 |b1"},
      {array("F32.replace('<f4', '|O')"), "tensor \"w\": dtype |O is not supported"},
      {array("F32.replace(\"'<f4'\", \"[('x', '<f4')]\")"), "tensor \"w\": its header is {'descr': [('x'"},
      {array("F32.replace('False', 'True')"),
       "tensor \"w\": is in Fortran order; wanted C order: write numpy.ascontiguousarray(x)"},
      {array("F32.replace('2, 3', '2, 4')"), "tensor \"w\": has 24 bytes; f32[2,4] wants 32"},
      {array("F32.replace('2, 3', '4611686018427387904, 4')"),
       "tensor \"w\": f32[4611686018427387904,4] is too large"},
      {array("F32.replace('2, 3', '-2, 3')"), "tensor \"w\": its header is "},
      {array("F32.replace('shape', 'form')"), "tensor \"w\": its header is "},
      {array("F32[:-1]"), "tensor \"w\": its header is "},
      {"savez(path, [('w', b'PICKLE')])", "tensor \"w\": is no array of numpy"},
      {"savez(path, [('w', npy(F32, b'', 9))])", "tensor \"w\": has version 9 of the format; wanted 1 to 3"},
      {"savez(path, [('w', npy(F32, b'')[:60])])",
       "tensor \"w\": its header has 118 bytes, but it is truncated"},
      {"savez(path, [('w', npy(F32, bytes(24))), ('w', npy(F32, bytes(24)))])",
       "tensor \"w\": is there twice"},
      {"zipfile.ZipFile(path, 'w').writestr('readme.txt', 'hello')",
       "entry \"readme.txt\" is no .npy, as all entries of .npz are"},
      {"savez(path, [('w', npy(F32, bytes(24)))], zipfile.ZIP_BZIP2)",
       "tensor \"w\": has compression method 12; wanted stored or deflated"},
      {"savez(path, [('w', npy(F32, bytes(24)))])\n"
       "b = bytearray(open(path, 'rb').read()); b[b.index(b'NUMPY') + 130] ^= 1; open(path, 'wb').write(b)",
       "tensor \"w\": cannot be read: CRC error"},
  };
  for (const auto& [code, message] : wrong) {
    const std::string path = WrittenByPython(code + "\n");
    EXPECT_THAT(Shown(WeightsFile::Open(path)), StartsWith(path + ": " + message)) << code;
  }
}

// Expects that every prefix of two files is refused. The files with any one byte changed may be read, or refused with a
// message that begins "w: ". None may crash the reader.
TEST(WeightsFile, SurvivesTruncationAndAnyFlippedByte) {
  const std::string path = WrittenByPython(
      "savez(path, [('w', npy(F32, bytes(24))), ('v', npy(F32, bytes(24)))], zipfile.ZIP_DEFLATED)\n");
  std::ifstream npz(path, std::ios::binary);
  const std::string files[] = {
      {std::istreambuf_iterator<char>(npz), {}},
      Safetensors(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string(8, 'x'))};
  for (const std::string& file : files) {
    ASSERT_TRUE(WeightsFile::FromBytes(file, "w").ok());
    for (size_t i = 0; i < file.size(); ++i) {
      EXPECT_FALSE(WeightsFile::FromBytes(file.substr(0, i), "w").ok()) << i;
      std::string flipped = file;
      flipped[i] = static_cast<char>(flipped[i] ^ 0xff);
      if (const auto read = WeightsFile::FromBytes(flipped, "w"); !read.ok())
        EXPECT_THAT(std::string(read.status().message()), StartsWith("w: "));
    }
  }
}

TEST(WeightsFile, ThatIsNotThereIsNotFound) {
  EXPECT_EQ(WeightsFile::Open("/nowhere/w.npz").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Shown(WeightsFile::Open("/nowhere/w.npz")),
              HasSubstr("/nowhere/w.npz: cannot be read: No such file or directory"));
  EXPECT_THAT(Shown(WeightsFile::Open(WeightsFolder())),
              EndsWith(": is no file; wanted .safetensors or .npz"));
}

}  // namespace
}  // namespace kiln
