// Tests ObjectCache, which keeps built objects as files of a folder under keys: it finds them again, notices damage,
// and removes those that were not used for the longest time. Also tests builders that use it.
#include "backends/builder/object_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "backends/cpu/machine.h"
#include "tests/backends/workers.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ObjectFolder : public testing::Test {
 protected:
  ~ObjectFolder() override { fs::remove_all(folder_); }
  int Files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path OnlyFile() const { return fs::directory_iterator(folder_)->path(); }
  BuildResult Build(const Program& program, const BuildRequest& options = {}) const {
    BuildRequest request = options;
    request.program = Serialize(program);
    request.object_folder = folder_;
    return StartBuilders()->Submit(request).get();
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "kiln-objects-", getpid());
};

TEST_F(ObjectFolder, GivesBackWhatWasKept) {
  ObjectCache cache(folder_);
  EXPECT_EQ(cache.Find({1, 2}), std::nullopt);
  ASSERT_TRUE(cache.Keep({1, 2}, "object").ok());
  EXPECT_EQ(cache.Find({1, 2}), "object");
  EXPECT_EQ(ObjectCache(folder_).Find({1, 2}), "object");
  EXPECT_EQ(cache.Find({2, 1}), std::nullopt);
}

TEST_F(ObjectFolder, DoesNotFindWhatIsDamaged) {
  ObjectCache cache(folder_);
  for (const char* damage : {"flipped", "cut", "empty", "another's"}) {
    ASSERT_TRUE(cache.Keep({1, 2}, "object").ok());
    const fs::path file = OnlyFile();
    if (damage == std::string("flipped")) {
      std::fstream(file, std::ios::in | std::ios::out).seekp(34) << "B";
    } else if (damage == std::string("another's")) {
      fs::copy(file, fs::path(folder_) / "00000000000000030000000000000004");
      EXPECT_EQ(cache.Find({3, 4}), std::nullopt);
      continue;
    } else {
      fs::resize_file(file, damage == std::string("cut") ? 36 : 0);
    }
    EXPECT_EQ(cache.Find({1, 2}), std::nullopt) << damage;
    EXPECT_EQ(Files(), 0) << damage;
  }
}

TEST_F(ObjectFolder, LosesWhatWasNotAskedForTheLongest) {
  ObjectCache cache(folder_, 10000);
  const std::string object(1000, 'x');
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(cache.Keep({0, i}, object).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(cache.Find({0, 0}));
  for (uint64_t i = 8; i < 12; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(cache.Keep({0, i}, object).ok());
  }
  EXPECT_TRUE(cache.Find({0, 0}));
  EXPECT_FALSE(cache.Find({0, 1}));
  EXPECT_TRUE(cache.Find({0, 11}));
  EXPECT_LE(Files(), 10);
}

TEST_F(ObjectFolder, ThatCannotBeWrittenIsToldOnce) {
  std::ofstream(folder_) << "a file";
  const absl::Status status = ObjectCache(folder_).Keep({1, 2}, "object");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("cannot be kept in ", folder_)));
  const BuildResult built = Build(Affine(8));
  EXPECT_TRUE(built.ok()) << built.error;
  EXPECT_THAT(built.remark, HasSubstr("cannot be kept"));
}

TEST_F(ObjectFolder, SparesTheSecondBuilderTheSameProgram) {
  const BuildResult first = Build(Matmul(16, 16, 16));
  ASSERT_TRUE(first.ok()) << first.error;
  EXPECT_FALSE(first.from_folder);
  const BuildResult again = Build(Matmul(16, 16, 16, "other_names_"));
  EXPECT_TRUE(again.from_folder);
  EXPECT_EQ(again.outputs, first.outputs);
  std::ofstream(OnlyFile()) << "damaged";
  const BuildResult rebuilt = Build(Matmul(16, 16, 16));
  EXPECT_FALSE(rebuilt.from_folder);
  EXPECT_EQ(rebuilt.outputs, first.outputs);
}

TEST_F(ObjectFolder, DistinguishesProgramsOptionsAndMachines) {
  Build(Affine(8));
  EXPECT_FALSE(Build(Affine(9)).from_folder);
  EXPECT_FALSE(Build(Affine(8), {.symbol = "other"}).from_folder);
  EXPECT_FALSE(Build(Affine(8), {.contract = false}).from_folder);
  EXPECT_FALSE(Build(Affine(8), {.alignment = 1}).from_folder);
  EXPECT_FALSE(Build(Affine(8), {.outputs = {BuildOutput::kObject}}).from_folder);
  const BuildRequest other{
      .outputs = {BuildOutput::kObject}, .triple = "x86_64-pc-linux-gnu", .cpu = "haswell"};
  EXPECT_FALSE(Build(Affine(8), other).from_folder);
  EXPECT_TRUE(Build(Affine(8), other).from_folder);
  EXPECT_TRUE(Build(Affine(8)).from_folder);
}

// Builds a program for this machine and for a named machine that differs only in having no L2 size. Tests that the
// cache does not mix the two up, since lowering prefetches buffers larger than L2.
TEST_F(ObjectFolder, DistinguishesMachinesByTheirSecondCache) {
  const MachineTarget& host = Host();
  if (host.l2_bytes == 0) GTEST_SKIP() << "the size of the second cache is unknown";
  const BuildRequest named{.triple = host.triple, .cpu = host.cpu, .features = host.features};
  EXPECT_FALSE(Build(Affine(8)).from_folder);
  EXPECT_FALSE(Build(Affine(8), named).from_folder);
  EXPECT_TRUE(Build(Affine(8)).from_folder);
}

TEST_F(ObjectFolder, KeepsNoTexts) {
  EXPECT_TRUE(Build(Affine(8), {.outputs = {BuildOutput::kAssembly}}).ok());
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace kiln
