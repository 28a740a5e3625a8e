#include "gmock/gmock.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/lowerable.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns the program T[i] = A[i], i < n + window - 1; C[i] = T[i] + T[i + window - 1], i < n.
Program Window(int64_t n, int64_t window) {
  Builder b("window");
  const Id A = b.Input("A", DType::kF32, {n + window - 1}), C = b.Output("C", DType::kF32, {n}),
           T = b.Temporary("T", DType::kF32, {n + window - 1});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", n + window - 1}}, {T, {i}}, b.Load(A, {i}));
  IndexSum next = i;
  next.offset = window - 1;
  b.Compute("use", {{"i", n}}, {C, {i}}, b.Add(b.Load(T, {i}), b.Load(T, {next})));
  return b.Finish();
}

// Schedules the blocks `make` (T = A) and `use` (which reads T) as one kernel: each of two thread blocks computes the
// part of T that it reads, in `storage`. The inner loops of both blocks are on thread-x.
void InOneKernel(Schedule& s, const char* storage) {
  const Block make = s.GetBlock("make"), use = s.GetBlock("use");
  const auto parts = s.Split(s.GetLoops(use)[0], {2, kAuto});
  s.ComputeAt(make, parts[0]);
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(s.GetLoops(make).back(), LoopKind::kThreadX);
  s.Bind(parts[1], LoopKind::kThreadX);
  s.SetScope(make, storage);
}

TEST(Owners, AThreadReadsWhatItWroteInAnEarlierLoop) {
  const Program before = Window(8, 1);
  for (const char* storage : {"register", "stack", "warp", "warpgroup", "shared", "global"}) {
    Schedule s = Scheduled(before);
    InOneKernel(s, storage);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_TRUE(CheckSymbolic(s.program(), *RunSymbolic(before), {.shuffle = 3}).ok());
  }
}

TEST(Owners, AReductionOverThreadsHasOneResult) {
  for (const auto& [storage, holds] : {std::pair{"shared", true}, {"stack", false}, {"register", false}}) {
    Builder b("rows");
    const Id A = b.Input("A", DType::kF32, {4, 8}), M = b.Temporary("M", DType::kF32, {4}),
             C = b.Output("C", DType::kF32, {4});
    const IndexSum i = b.Iter(0), k = b.Iter(1);
    b.Reduce("most", {{"i", 4}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kMax, {M, {i}},
             b.Load(A, {i, k}));
    b.Compute("copy", {{"i", 4}}, {C, {i}}, b.Load(A, {i, IndexSum::Constant(0)}));  // nothing reads M
    Schedule s = Scheduled(b.Finish());
    s.Bind(s.GetLoops(s.GetBlock("most"))[1], LoopKind::kThreadX);
    s.SetScope(s.GetBlock("most"), storage);
    EXPECT_EQ(s.ok(), holds) << storage << ": " << s.status();
    if (!holds) EXPECT_THAT(s.status().message(), HasSubstr("combines into it over thread-x"));
  }
}

TEST(Owners, ThreadsOfABlockShareItsMemory) {
  const Program before = Window(8, 2);
  Schedule s = Scheduled(before);
  InOneKernel(s, "shared");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("buffer T: f32[9] temporary shared/block"));
  EXPECT_TRUE(CheckSymbolic(s.program(), *RunSymbolic(before), {.shuffle = 3}).ok());
}

TEST(Owners, ABlockOfManyWarpgroupsSharesItsMemoryAndNoFragment) {
  for (const char* storage : {"shared", "warpgroup"}) {
    Schedule s = Scheduled(Window(512, 2));
    InOneKernel(s, storage);  // 257 threads write T, 256 threads read it
    EXPECT_EQ(s.ok(), storage == std::string("shared")) << s.status();
  }
}

TEST(Owners, AThreadsStepIsWiderThanWhatItUses) {
  // T may be in registers if thread i, which computes T[2*i] and T[2*i + 1], reads no other elements of T (a window of
  // 2); with a window of 3, this is refused.
  //    T = A;  C[i] = T[2*i] + ... + T[2*i + window - 1]
  for (const int64_t window : {2, 3}) {
    Builder b("steps");
    const Id A = b.Input("A", DType::kF32, {10}), C = b.Output("C", DType::kF32, {5}),
             T = b.Temporary("T", DType::kF32, {10});
    const IndexSum i = b.Iter(0), at = i * 2 + b.Iter(1);
    b.Compute("make", {{"i", 10}}, {T, {i}}, b.Load(A, {i}));
    b.Reduce("use", {{"i", 5}, {"r", window, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i}},
             b.Within({{at, 10}}, b.Load(T, {at}), b.Float(DType::kF32, 0)));
    Schedule s = Scheduled(b.Finish());
    const Block make = s.GetBlock("make"), use = s.GetBlock("use");
    const Loop thread = s.GetLoops(use)[0];
    s.ComputeAt(make, s.AddUnitLoop(thread));
    s.Bind(s.Split(s.GetLoops(make).back(), {5, 2})[0], LoopKind::kThreadX);
    s.Bind(thread, LoopKind::kThreadX);
    ASSERT_TRUE(s.ok()) << s.status();
    s.SetScope(make, "register");
    EXPECT_EQ(s.ok(), window == 2) << s.status();
  }
}

TEST(Owners, AFragmentIsOfOneWarp) {
  Schedule one = Scheduled(Window(64, 2));
  InOneKernel(one, "warpgroup");  // 33 threads write T, 32 threads read it
  EXPECT_TRUE(one.ok()) << one.status();
}

TEST(Owners, AreAskedForByScopes) {
  Refusals refusals;
  const auto kernel = [](const char* storage) { return [=](Schedule& s) { InOneKernel(s, storage); }; };
  const auto bound = [](const char* storage, LoopKind axis) {
    return [=](Schedule& s) {
      const Block make = s.GetBlock("make"), use = s.GetBlock("use");
      s.ComputeAt(make, s.AddUnitLoop(s.GetLoops(use)[0]));
      s.Bind(s.GetLoops(make).back(), axis);
      s.SetScope(make, storage);
    };
  };
  refusals.Add("threads would need what others have", Window(8, 2), kernel("register"));
  refusals.Add("local memory is a thread's too", Window(8, 2), kernel("stack"));
  refusals.Add("threads of another warp", Window(64, 2), kernel("warp"));
  refusals.Add("shared memory does not outlive its kernel", Window(8, 1), [](Schedule& s) {
    s.Bind(s.GetLoops(s.GetBlock("make"))[0], LoopKind::kBlockX);
    s.SetScope(s.GetBlock("make"), "shared");
  });
  refusals.Add("one block would use what others wrote", Window(8, 1), bound("shared", LoopKind::kBlockX));
  refusals.Add("one thread outside of the others'", Window(8, 1), bound("register", LoopKind::kThreadX));
  refusals.Add("a parameter does not move", Window(8, 1),
               [](Schedule& s) { s.SetScope(s.GetBlock("use"), "shared"); });
  refusals.Add("there is no such storage", Window(8, 1),
               [](Schedule& s) { s.SetScope(s.GetBlock("make"), "attic"); });
  ExpectGolden("lang/owners_refusals.txt", refusals.text());
}

TEST(Owners, AreAskedForAtTheEnd) {
  Schedule s = Scheduled(Window(8, 2));
  InOneKernel(s, "shared");
  ASSERT_TRUE(s.ok()) << s.status();
  LoopNestSummary nests;
  nests.Read(s.program());
  EXPECT_TRUE(VerifyLowerable(nests).ok());
  Program p = s.program();
  for (Buffer& buffer : p.buffers) {
    if (buffer.scope.storage == Storage::kShared) buffer.scope = ScopeOf(Storage::kStack);
  }
  nests.Read(p);
  EXPECT_THAT(std::string(VerifyLowerable(nests).message()),
              HasSubstr("buffer T is in stack memory: each thread"));
}

TEST(Owners, NoTwoThreadsReduceIntoOnePlaceThatTheyShare) {
  // Thread i computes S = ΣA in several steps, and then C[i] = S. Allowed if each thread has its own S (on the stack),
  // and refused if the threads share S.
  Builder b("repeated");
  const Id A = b.Input("A", DType::kF32, {4}), C = b.Output("C", DType::kF32, {8}),
           S = b.Temporary("S", DType::kF32, {});
  b.Reduce("sum", {{"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {}}, b.Load(A, {b.Iter(0)}));
  b.Compute("spread", {{"i", 8}}, {C, {b.Iter(0)}}, b.Load(S, {}));
  for (const char* storage : {"stack", "shared"}) {
    Schedule s = Scheduled(b.program());
    const Loop i = s.GetLoops(s.GetBlock("spread"))[0];
    s.ComputeAt(s.GetBlock("sum"), i);
    s.Bind(i, LoopKind::kThreadX);
    s.SetScope(s.GetBlock("sum"), storage);
    EXPECT_EQ(s.ok(), storage == std::string("stack")) << s.status();
  }
}

TEST(Owners, ThreadBlocksThatReduceBesideEachOtherWriteNoElementTwice) {
  // Each thread block computes the elements of S that it reads: one loop computes the first element, a second loop the
  // others. With a window of 2, neighboring thread blocks compute the same element, and CheckOwners refuses that.
  //    S[i] = Σ_k A[i, k];  C[i] = S[i] + S[i + window - 1]
  for (const int64_t window : {1, 2}) {
    Builder b("halo");
    const Id A = b.Input("A", DType::kF32, {9, 4}), C = b.Output("C", DType::kF32, {8}),
             S = b.Temporary("S", DType::kF32, {9});
    const IndexSum i = b.Iter(0), k = b.Iter(1);
    IndexSum next = i;
    next.offset = window - 1;
    b.Reduce("sum", {{"i", 9}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {i}},
             b.Load(A, {i, k}));
    b.Compute("use", {{"i", 8}}, {C, {i}}, b.Add(b.Load(S, {i}), b.Load(S, {next})));
    Schedule s = Scheduled(b.Finish());
    const auto parts = s.Split(s.GetLoops(s.GetBlock("use"))[0], {4, kAuto});
    s.Bind(parts[0], LoopKind::kBlockX);
    s.ComputeAt(s.GetBlock("sum"), parts[0]);
    s.LoopPartition(s.GetLoops(s.GetBlock("sum"))[1], {1, kAuto});
    ASSERT_TRUE(s.ok()) << s.status();
    const absl::Status owners = CheckOwners(s.program());
    EXPECT_EQ(owners.ok(), window == 1) << owners;
    if (window == 2) EXPECT_THAT(std::string(owners.message()), HasSubstr("may write in block"));
  }
}

}  // namespace
}  // namespace kiln
