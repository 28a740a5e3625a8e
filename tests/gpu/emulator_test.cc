// Tests that the emulator of GPU kernels finds races, missing waits, deadlocks, accesses out of bounds and misaligned
// ones, in kernels that are written by hand in MLIR.
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "tests/gpu/emulated.h"

namespace kiln {
namespace {

// The first part of a kernel of 64 threads with two parameters of 64 i32 each, %a and %b. %t is the number of the
// thread. In the shared memory %s of 64 i32, %mine is the element of the thread, and %other that of thread %t xor 1.
// %at and %to are the elements %t of %a and %b.
constexpr char kHead[] = R"(
llvm.mlir.global external @kiln_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @k_0(%a: !llvm.ptr, %b: !llvm.ptr) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %five = llvm.mlir.constant(5 : i32) : i32
  %32 = llvm.mlir.constant(32 : i32) : i32
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %beside = llvm.xor %t, %one : i32
  %s = llvm.mlir.addressof @kiln_shared : !llvm.ptr<3>
  %mine = llvm.getelementptr %s[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %other = llvm.getelementptr %s[%beside] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %at = llvm.getelementptr %a[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  %to = llvm.getelementptr %b[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
)";
constexpr char kPut[] = R"(
  %x = llvm.load %at : !llvm.ptr -> i32
  llvm.store %x, %mine : i32, !llvm.ptr<3>
)";
constexpr char kGet[] = R"(
  %y = llvm.load %other : !llvm.ptr<3> -> i32
  llvm.store %y, %to : i32, !llvm.ptr
)";

absl::StatusOr<std::string> Compiled(const std::string& body, int64_t blocks) {
  const auto module = Parse(absl::StrCat(kHead, body, "  llvm.return\n}\n"));
  EXPECT_TRUE(module) << body;
  const LaunchList launches{
      .parameters = {256, 256},
      .launches = {{.kernel = "k_0",
                    .blocks = blocks,
                    .threads = 64,
                    .shared_bytes = 256,
                    .arguments = {{false, 0, 256, true, false}, {false, 1, 256, false, true}}}}};
  if (absl::Status status = ToNvvm(*module, launches); !status.ok()) return status;
  return EmulateKernels(*module, launches, "k");
}

std::string Numbers() {
  std::string bytes;
  for (int32_t i = 0; i < 64; ++i) bytes.append(reinterpret_cast<const char*>(&i), sizeof i);
  return bytes;
}

EmulatedResult Emulated(const std::string& body, EmulationMode mode, int64_t blocks = 1) {
  const auto library = Compiled(body, blocks);
  EXPECT_TRUE(library.ok()) << library.status();
  return library.ok() ? RunLibrary(*library, "k", {Numbers(), std::string(256, '\0')}, {mode, 1})
                      : EmulatedResult();
}

std::string Fault(const std::string& body, EmulationMode mode = EmulationMode::kRandom, int64_t blocks = 1) {
  return Emulated(body, mode, blocks).fault;
}

// True if threads 2n and 2n + 1 exchanged their elements: element i of parameter %b is i xor 1.
bool Exchanges(const EmulatedResult& result) {
  const auto* numbers = reinterpret_cast<const int32_t*>(result.buffers[1].data());
  for (int32_t i = 0; i < 64; ++i)
    if (numbers[i] != (i ^ 1)) return false;
  return true;
}

TEST(Emulator, ThreadsExchangeElementsOverABarrier) {
  for (const EmulationOptions& mode : AllModes()) {
    for (const char* sync :
         {"nvvm.barrier", "%all = llvm.mlir.constant(-1 : i32) : i32 nvvm.bar.warp.sync %all : i32"}) {
      const EmulatedResult result = Emulated(absl::StrCat(kPut, sync, "\n", kGet), mode.mode);
      EXPECT_EQ(result.fault, "");
      EXPECT_TRUE(Exchanges(result)) << sync;
    }
  }
}

TEST(Emulator, FindsARaceWithoutABarrier) {
  const std::string fault = Fault(absl::StrCat(kPut, kGet));
  EXPECT_TRUE(absl::StrContains(fault, "a race: ") || absl::StrContains(fault, "nothing wrote")) << fault;
  // Each thread reads its neighbor's element, then writes its own again. This is a race if there is no barrier between.
  const std::string again = "  llvm.store %one, %mine : i32, !llvm.ptr<3>\n";
  EXPECT_EQ(Fault(absl::StrCat(kPut, "nvvm.barrier\n", kGet, "nvvm.barrier\n", again)), "");
  EXPECT_TRUE(absl::StrContains(Fault(absl::StrCat(kPut, "nvvm.barrier\n", kGet, again)), "a race: "));
}

// After 4.2 million accesses of a block, the emulator looks for races in half of the memory only. Tests that it still
// finds a race after more accesses: threads read shared elements of their neighbors without a barrier.
TEST(Emulator, FindsARaceInALongBlock) {
  const std::string body = absl::StrCat(R"(
  %none = llvm.mlir.constant(0 : i32) : i32
  %often = llvm.mlir.constant(70000 : i32) : i32
  llvm.br ^again(%none : i32)
^again(%i: i32):
  %w = llvm.load %at : !llvm.ptr -> i32
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp "ult" %next, %often : i32
  llvm.cond_br %more, ^again(%next : i32), ^after
^after:
)",
                                        kPut, "SYNC\n", kGet);
  EXPECT_EQ(Fault(absl::StrReplaceAll(body, {{"SYNC", "nvvm.barrier"}})), "");
  EXPECT_NE(Fault(absl::StrReplaceAll(body, {{"SYNC", ""}})), "");
}

TEST(Emulator, FindsARaceBetweenWarpsThatMeetAlone) {
  const std::string body =
      absl::StrCat("%all = llvm.mlir.constant(-1 : i32) : i32\n%far = llvm.xor %t, %32 : i32\n",
                   "%there = llvm.getelementptr %s[%far] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32\n", kPut,
                   "SYNC\n%y = llvm.load %there : !llvm.ptr<3> -> i32\n");
  EXPECT_EQ(Fault(absl::StrReplaceAll(body, {{"SYNC", "nvvm.barrier"}})), "");
  EXPECT_NE(Fault(absl::StrReplaceAll(body, {{"SYNC", "nvvm.bar.warp.sync %all : i32"}})), "");
}

TEST(Emulator, FindsARaceBetweenBlocks) {
  const std::string body = "  llvm.store %t, %to : i32, !llvm.ptr\n";
  EXPECT_EQ(Fault(body), "");
  EXPECT_TRUE(absl::StrContains(Fault(body, EmulationMode::kRandom, 2), "of block 0 writes"));
}

TEST(Emulator, LeavesOutBlocksThatNothingNeeds) {
  // A kernel of 16 blocks, each of which writes its number to its own element of %b.
  const auto library = Compiled(R"(
  %block = nvvm.read.ptx.sreg.ctaid.x : i32
  %own = llvm.getelementptr %b[%block] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  llvm.store %block, %own : i32, !llvm.ptr
)",
                                16);
  ASSERT_TRUE(library.ok()) << library.status();
  const auto run = [&](int64_t whole_launches) {
    return RunLibrary(*library, "k", {Numbers(), std::string(256, '\xff')},
                      {.most_accesses = 300, .whole_launches = whole_launches});
  };
  const auto written = [](const EmulatedResult& result) {
    const auto* numbers = reinterpret_cast<const int32_t*>(result.buffers[1].data());
    std::vector<bool> blocks;
    for (int32_t b = 0; b < 16; ++b) blocks.push_back(numbers[b] == b);
    return blocks;
  };
  const EmulatedResult some = run(0), all = run(1);
  EXPECT_EQ(some.counts.blocks, 5);  // of 64 accesses each
  EXPECT_EQ(some.counts.left_out, 11);
  EXPECT_TRUE(written(some)[0] && written(some)[15] && written(some)[8]);
  EXPECT_EQ(std::ranges::count(written(some), true), 5);
  EXPECT_EQ(all.counts.blocks, 5);
  EXPECT_EQ(all.counts.unchecked, 11);
  EXPECT_EQ(std::ranges::count(written(all), true), 16);
}

TEST(Emulator, FindsABarrierThatSomeThreadsReach) {
  const std::string body = R"(
  %few = llvm.icmp "ult" %t, %five : i32
  llvm.cond_br %few, ^bb1, ^bb2
^bb1:
  nvvm.barrier
  llvm.br ^bb2
^bb2:
)";
  for (const EmulationOptions& mode : AllModes())
    EXPECT_EQ(
        Fault(body, mode.mode),
        "k_0, block 0: a deadlock: 5 threads wait for a barrier that 64 threads must reach; 59 have ended");
}

TEST(Emulator, FindsThreadsThatMeetAtDifferentBarriers) {
  const std::string body = R"(
  %few = llvm.icmp "ult" %t, %32 : i32
  llvm.cond_br %few, ^bb1, ^bb2
^bb1:
  nvvm.barrier
  llvm.br ^bb3
^bb2:
  nvvm.barrier
  llvm.br ^bb3
^bb3:
)";
  EXPECT_EQ(Fault(body, EmulationMode::kEager), "k_0, block 0, thread 32: meets thread 0 at another barrier");
}

TEST(Emulator, FindsAccessesOutOfBounds) {
  const std::string body = R"(
  %next = llvm.getelementptr %at[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %x = llvm.load %next : !llvm.ptr -> i32
)";
  EXPECT_EQ(Fault(body, EmulationMode::kEager),
            "k_0, block 0, thread 63: reads 4 bytes out of bounds, at byte 256 of argument 0, which has 256");
  const std::string shared = R"(
  %next = llvm.getelementptr %mine[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
  llvm.store %t, %next : i32, !llvm.ptr<3>
)";
  EXPECT_EQ(
      Fault(shared, EmulationMode::kEager),
      "k_0, block 0, thread 63: writes 4 bytes out of bounds, at byte 256 of shared memory, which has 256");
}

TEST(Emulator, FindsMisalignedAccesses) {
  const std::string body =
      "  %x = llvm.load %a : !llvm.ptr -> vector<4xi32>\n"
      "  %next = llvm.getelementptr %a[1] : (!llvm.ptr) -> !llvm.ptr, i32\n"
      "  %y = llvm.load %next {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>\n";
  EXPECT_EQ(
      Fault(body, EmulationMode::kEager),
      "k_0, block 0, thread 0: reads 16 bytes that are not aligned to 16, at byte 4 of argument 0, which has 256");
}

TEST(Emulator, FindsAShuffleThatSomeLanesReach) {
  const std::string shuffle = R"(
  %all = llvm.mlir.constant(-1 : i32) : i32
  %31 = llvm.mlir.constant(31 : i32) : i32
  %v = nvvm.shfl.sync bfly %all, %t, %one, %31 : i32 -> i32
  llvm.store %v, %to : i32, !llvm.ptr
)";
  EXPECT_TRUE(Exchanges(Emulated(shuffle, EmulationMode::kRandom)));
  const std::string some =
      absl::StrCat("  %few = llvm.icmp \"ult\" %t, %five : i32\n", "  llvm.cond_br %few, ^bb1, ^bb2\n^bb1:\n",
                   shuffle, "  llvm.br ^bb2\n^bb2:\n");
  EXPECT_EQ(
      Fault(some, EmulationMode::kEager),
      "k_0, block 0: a deadlock: 5 threads wait for a shuffle that 32 threads must reach; 59 have ended");
}

// Returns MLIR text: each thread copies an element of %a to shared memory asynchronously, runs the instruction `wait`,
// meets the others at a barrier, and writes the element that its neighbor copied to %b.
std::string Copies(const std::string& wait) {
  return absl::StrCat(R"(
  %from = llvm.addrspacecast %at : !llvm.ptr to !llvm.ptr<1>
  nvvm.cp.async.shared.global %mine, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
)",
                      wait, "\n  nvvm.barrier\n", kGet);
}

TEST(Emulator, CopiesArriveAtTheWait) {
  for (const EmulationOptions& mode : AllModes()) {
    const EmulatedResult result = Emulated(Copies("nvvm.cp.async.wait.group 0"), mode.mode);
    EXPECT_EQ(result.fault, "");
    EXPECT_TRUE(Exchanges(result));
  }
}

TEST(Emulator, FindsAMissingWait) {
  for (const char* wait : {"", "nvvm.cp.async.wait.group 1"}) {
    EXPECT_TRUE(Exchanges(Emulated(Copies(wait), EmulationMode::kEager)));  // luck
    EXPECT_FALSE(Exchanges(Emulated(Copies(wait), EmulationMode::kLate)));
    EXPECT_TRUE(absl::StrContains(Fault(Copies(wait)), "which a copy of thread")) << Fault(Copies(wait));
  }
}

TEST(Emulator, SaysWhatItDoesNotHave) {
  EXPECT_EQ(Compiled("  nvvm.cluster.arrive\n", 1).status().message(),
            "the emulator does not have nvvm.cluster.arrive");
}

}  // namespace
}  // namespace kiln
