#include "backends/codegen/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include "testing/compiled/loaded.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Object(const std::string& text, const std::vector<std::string>& entries) {
  CodegenOptions options;
  options.polynomials = false;
  for (const std::string& name : entries) options.entries.push_back({.name = name});
  auto module = Parse(text);
  return HostCodegen().Compile(*module, options).value().bytes;
}

const char kTwo[] = R"(
  func.func @f(%x: memref<4xf32>) { %i = arith.constant 0 : index
    %c = arith.constant 2.0 : f32
    memref.store %c, %x[%i] : memref<4xf32>
    return }
  func.func @g(%x: memref<4xf32>) { return })";

TEST(Link, ExportsOnlyWhatIsNamed) {
  const auto shared = LinkShared({Object(kTwo, {"f", "g"})}, {.exports = {"f"}});
  ASSERT_TRUE(shared.ok()) << shared.status();
  const auto code = Loaded::FromBytes(*shared);
  ASSERT_TRUE(code.ok()) << code.status();
  alignas(64) float x[4] = {};
  EXPECT_EQ(code->Get<int(float*)>("f")(x), 0);
  EXPECT_EQ(x[0], 2.0f);
  EXPECT_EQ(code->Get<int(float*)>("g"), nullptr);
}

TEST(Link, JoinsObjectsThatCallEachOther) {
  const char caller[] = R"(
    func.func private @f(memref<4xf32>) -> i32
    func.func @main(%x: memref<4xf32>) -> i32 { %r = func.call @f(%x) : (memref<4xf32>) -> i32
      return %r : i32 })";
  const auto shared = LinkShared({Object(caller, {"main"}), Object(kTwo, {"f", "g"})}, {.exports = {"main"}});
  ASSERT_TRUE(shared.ok()) << shared.status();
  const auto code = Loaded::FromBytes(*shared);
  alignas(64) float x[4] = {};
  EXPECT_EQ(code->Get<int(float*)>("main")(x), 0);
  EXPECT_EQ(x[0], 2.0f);
}

TEST(Link, RecordsLibmOnlyWhenItIsNeeded) {
  const char sine[] = R"(
    func.func @f(%x: memref<4xf32>) { %i = arith.constant 0 : index
      %v = memref.load %x[%i] : memref<4xf32>
      %s = math.sin %v : f32
      memref.store %s, %x[%i] : memref<4xf32>
      return })";
  const std::string object = Object(sine, {"f"});
  EXPECT_THAT(LinkShared({object}, {.exports = {"f"}}).value(), HasSubstr("libm.so"));
  const std::string unnamed = LinkShared({object}, {.exports = {"f"}, .names_libraries = false}).value();
  EXPECT_THAT(unnamed, Not(HasSubstr("libm.so")));
  EXPECT_TRUE(Loaded::FromBytes(unnamed).ok());
  EXPECT_THAT(LinkShared({Object(kTwo, {"f"})}, {.exports = {"f"}}).value(), Not(HasSubstr(".so.")));
}

TEST(Link, NamesSymbolsThatAreDefinedNowhere) {
  const char caller[] = R"(
    func.func private @memrefCopy(memref<4xf32>)
    func.func private @missing(memref<4xf32>)
    func.func @main(%x: memref<4xf32>) { func.call @missing(%x) : (memref<4xf32>) -> ()
      func.call @memrefCopy(%x) : (memref<4xf32>) -> ()
      return })";
  const auto shared = LinkShared({Object(caller, {"main"})}, {.exports = {"main"}});
  EXPECT_EQ(shared.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shared.status().message(),
            "undefined symbols that neither libc nor libm has: memrefCopy, missing");
}

TEST(Link, LeavesWeakSymbolsToTheLoader) {
  const char maybe[] = R"(
    llvm.func extern_weak @nowhere_at_all()
    llvm.func @f() -> i32 {
      %f = llvm.mlir.addressof @nowhere_at_all : !llvm.ptr
      %null = llvm.mlir.zero : !llvm.ptr
      %there = llvm.icmp "ne" %f, %null : !llvm.ptr
      %result = llvm.zext %there : i1 to i32
      llvm.return %result : i32
    })";
  auto module = Parse(maybe);
  const std::string object = HostCodegen().Compile(*module, {}).value().bytes;
  EXPECT_TRUE(LinkShared({object}, {}).ok());
}

TEST(Link, NamesExportsThatNoObjectDefines) {
  const auto shared = LinkShared({Object(kTwo, {"f"})}, {.exports = {"f", "h"}});
  EXPECT_EQ(shared.status().message(), "no object defines what is to be exported: h");
}

TEST(Link, AFailureOfLldIsAnErrorAndTheNextLinkWorks) {
  const std::string object = Object(kTwo, {"f"});
  const auto twice = LinkShared({object, object}, {.exports = {"f"}});
  EXPECT_EQ(twice.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(twice.status().message()), HasSubstr("duplicate symbol: f"));
  EXPECT_TRUE(LinkShared({object}, {.exports = {"f"}}).ok());
}

TEST(Link, RefusesWhatIsNoObject) {
  EXPECT_EQ(LinkShared({"not an object"}, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

double CpuMilliseconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage;
    getrusage(who, &usage);
    total += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
             (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
  }
  return total;
}

TEST(Link, AThousandLinksInOneProcessAllWork) {
  const std::string object = Object(kTwo, {"f"});
  for (const bool in_process : {true, false}) {
    const int count = in_process ? 1000 : 20;
    const double start = CpuMilliseconds();
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(LinkShared({object}, {.exports = {"f"}, .in_process = in_process}).ok());
    std::printf("link %s: %.2f ms of CPU time\n", in_process ? "in process" : "by ld.lld-22",
                (CpuMilliseconds() - start) / count);
  }
}

}  // namespace
}  // namespace kiln
