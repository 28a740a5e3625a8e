// Tests WeightsWriter, which writes tensors to a .safetensors file piece by piece: the file appears only when it is
// complete.
#include "backends/model/weights_writer.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/backends/weights_files.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Path() {
  static int files = 0;
  return absl::StrCat(WeightsFolder(), "/written", ++files, ".safetensors");
}

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the number of unfinished files, NAME.new, in the folder of written files.
int Temporaries() {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(WeightsFolder()))
    count += file.path().extension() == ".new";
  return count;
}

const std::vector<WeightTensor> kTensors = {{.name = "a", .dtype = DType::kI8, .shape = {3}},
                                            {.name = "none", .dtype = DType::kF32, .shape = {0}},
                                            {.name = "w", .dtype = DType::kF32, .shape = {4, 4}},
                                            {.name = "b \"c\"", .dtype = DType::kI1, .shape = {}}};
const std::string kBytes = "abc" + std::string(64, 'w') + "\1";

TEST(WeightsWriter, WritesWhatIsReadBack) {
  const std::string path = Path();
  auto writer = WeightsWriter::Create(path, kTensors);
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Append(kBytes).ok());
  EXPECT_FALSE(std::filesystem::exists(path)) << "it appears when it is complete";
  EXPECT_EQ(Temporaries(), 1);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Temporaries(), 0);
  const auto read = WeightsFile::Open(path);
  ASSERT_EQ(Shown(read), "a i8[3] 3 bytes; none f32[0] 0 bytes; w f32[4,4] 64 bytes; b \"c\" i1[] 1 bytes");
  EXPECT_EQ(read->tensors()[0].bytes, "abc");
  EXPECT_EQ(read->tensors()[2].bytes, std::string(64, 'w'));
  EXPECT_EQ(read->tensors()[3].bytes, "\1");
  for (const WeightTensor& tensor : read->tensors())
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes.data()) % 64, 0) << tensor.name;
}

TEST(WeightsWriter, FillsGapsWithTensorsAsOtherReadersNeedIt) {
  const std::string path = Path();
  auto writer = WeightsWriter::Create(path, {kTensors[0], kTensors[3]});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append("abc\1").ok());
  ASSERT_TRUE(writer->Finish().ok());
  const std::string header = R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},)"
                             R"("kiln.padding.1":{"dtype":"U8","shape":[61],"data_offsets":[3,64]},)"
                             R"("b \"c\"":{"dtype":"BOOL","shape":[],"data_offsets":[64,65]}})";
  EXPECT_EQ(ContentOf(path), Safetensors(header + std::string(-(header.size() + 8) % 64, ' '),
                                         "abc" + std::string(61, '\0') + "\1"));
}

TEST(WeightsWriter, TakesPiecesOfAnySize) {
  const std::string path = Path(), other = Path();
  auto whole = WeightsWriter::Create(path, kTensors), pieces = WeightsWriter::Create(other, kTensors);
  ASSERT_TRUE(whole->Append(kBytes).ok());
  for (const char c : kBytes) ASSERT_TRUE(pieces->Append({&c, 1}).ok());
  ASSERT_TRUE(whole->Finish().ok());
  ASSERT_TRUE(pieces->Finish().ok());
  EXPECT_EQ(ContentOf(path), ContentOf(other));
}

TEST(WeightsWriter, LeavesNothingUnlessItIsComplete) {
  const std::string path = Path();
  {
    auto writer = WeightsWriter::Create(path, kTensors);
    ASSERT_TRUE(writer->Append("abcw").ok());
    EXPECT_EQ(writer->Finish().message(), path + ": tensor 2 of 4 has 1 bytes; wanted 64");
    EXPECT_FALSE(writer->Append(kBytes).ok());
  }
  {
    auto writer = WeightsWriter::Create(path, kTensors);
    EXPECT_EQ(writer->Append(kBytes + "more").message(), path + ": 4 bytes more than its tensors have");
    EXPECT_FALSE(writer->Finish().ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(Temporaries(), 0);
}

TEST(WeightsWriter, ReplacesAFileOnlyWhenItIsComplete) {
  const std::string path = Path();
  std::ofstream(path) << "before";
  auto writer = WeightsWriter::Create(path, {});
  EXPECT_EQ(ContentOf(path), "before");
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Shown(WeightsFile::Open(path)), "");
  EXPECT_EQ(ContentOf(path).size(), 64u);
}

TEST(WeightsWriter, RefusesWhatItCannotWrite) {
  const auto error = [](const WeightTensor& tensor) {
    return std::string(WeightsWriter::Create("/tmp/w", {kTensors[0], tensor}).status().message());
  };
  EXPECT_EQ(error({.name = "i", .dtype = DType::kIndex, .shape = {2}}),
            "/tmp/w: tensor \"i\": index[2] cannot be written");
  EXPECT_EQ(error({.name = "a"}), "/tmp/w: tensor \"a\": is there twice, or its name is reserved");
  EXPECT_EQ(error({.name = "kiln.padding.x"}),
            "/tmp/w: tensor \"kiln.padding.x\": names that begin with kiln.padding. are reserved");
  EXPECT_THAT(error({.name = "\xff"}), HasSubstr("/tmp/w: the name of a tensor is not UTF-8: "));
  EXPECT_EQ(error({.name = "n", .shape = {-1}}), "/tmp/w: tensor \"n\": f32[-1] cannot be written");
  EXPECT_EQ(WeightsWriter::Create("/nowhere/w", {}).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace kiln
