// Tests GPU kernels whose threads reduce to one result, by shuffles and shared memory: with any number of threads, on
// any axis, for any type and monoid.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/same_results.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

// A program and its plan: B[i] is the sum of row i of A, or its maximum and so on (MONOID). A block of threads computes
// a row, with a thread for each element.
constexpr char kSums[] = R"(kiln.program v1
program sums
parameters A, B
buffer A: TYPE[3, COUNT] input
buffer B: TYPE[3] output

for i < 3 block-x {
  for k < COUNT thread-x {
    block sum {
      spatial i < 3 = i
      reduction k < COUNT = k
      B[i] MONOID= A[i, k]
    }
  }
}

kiln.plan v1
entry sums { for i 3 axis block-x { for k COUNT axis thread-x { sum start across } } }
)";

// A program and its plan: B[i] sum= A[k, i], where the reduction k runs over thread-y, and i over thread-x.
constexpr char kColumns[] = R"(kiln.program v1
program sums
parameters A, B
buffer A: i32[8, 12] input
buffer B: i32[12] output

for i < 12 thread-x {
  for k < 8 thread-y {
    block sum {
      spatial i < 12 = i
      reduction k < 8 = k
      B[i] sum= A[k, i]
    }
  }
}

kiln.plan v1
entry sums { for i 12 axis thread-x { for k 8 axis thread-y { sum start across } } }
)";

// A program and its plan: of 128 threads, 40 compute the maximum of A[0..39] in shared memory, and the others have no
// element. Then each thread adds the maximum to an element of A.
constexpr char kSome[] = R"(kiln.program v1
program sums
parameters A, B
buffer A: i32[128] input
buffer B: i32[128] output
buffer S: i32[1] temporary shared/block

for z < 1 block-x {
  for k < 40 thread-x {
    block sum {
      spatial i < 1 = 0
      reduction k < 40 = k
      S[i] max= A[k]
    }
  }
  for j < 128 thread-x {
    block spread {
      spatial j < 128 = j
      B[j] = A[j] + S[0]
    }
  }
}

kiln.plan v1
entry sums { for z one { for k 40 axis thread-x { sum start across } sync block for j 128 axis thread-x { spread } } }
)";

// A program and its plan: V[i] is the largest element of row i of A, and I[i] the position at which it occurs first. A
// thread has an element of the row.
constexpr char kLargest[] = R"(kiln.program v1
program largest
parameters A, V, I
buffer A: f32[3, COUNT] input
buffer V: f32[3] output
buffer I: i64[3] output
monoid first idempotent exact identity (f32(-inf), i64(9223372036854775807)) combine (max(l0, r0), select(select(lt(r1, l1), or(ge(r0, l0), uno(r0, r0)), and(ugt(r0, l0), ord(l0, l0))), r1, l1))

for i < 3 block-x {
  for k < COUNT thread-x {
    block largest {
      spatial i < 3 = i
      reduction k < COUNT = k
      V[i], I[i] first= (A[i, k], i64(index(k)))
    }
  }
}

kiln.plan v1
entry largest { for i 3 axis block-x { for k COUNT axis thread-x { largest start across } } }
)";

void ExpectRight(const std::string& text) {
  const auto planned = plan::ParsePlan(text);
  ASSERT_TRUE(planned.ok()) << planned.status();
  ExpectPlanOnGpu(planned->program, *planned);
}

TEST(ThreadReductions, TakeAnyNumberOfThreads) {
  for (const char* count : {"2", "7", "16", "24", "32", "40", "64", "96", "256"}) {
    SCOPED_TRACE(count);
    ExpectRight(absl::StrReplaceAll(kSums, {{"COUNT", count}, {"TYPE", "f32"}, {"MONOID", "sum"}}));
  }
}

TEST(ThreadReductions, TakeAnyType) {
  for (const char* type : {"f64", "f16", "bf16", "i8", "i16", "i32", "i64"}) {
    SCOPED_TRACE(type);
    ExpectRight(absl::StrReplaceAll(kSums, {{"COUNT", "64"}, {"TYPE", type}, {"MONOID", "max"}}));
  }
}

TEST(ThreadReductions, TakeAnyAxis) {
  ExpectRight(kColumns);
  ExpectRight(absl::StrReplaceAll(kColumns, {{"thread-x", "thread-z"}, {"thread-y", "thread-x"}}));
}

TEST(ThreadReductions, TakeAMonoidWithTwoResults) {
  for (const char* count : {"8", "24", "96"}) {
    SCOPED_TRACE(count);
    ExpectRight(absl::StrReplaceAll(kLargest, {{"COUNT", count}}));
  }
}

// B[i] is S[i] plus the sum of row i of A, over 40 threads: the reduction starts from an input instead of zero.
constexpr char kInitial[] = R"(kiln.program v1
program sums
parameters A, S, B
buffer A: f32[3, 40] input
buffer S: f32[3] input
buffer B: f32[3] output

for i < 3 block-x {
  for k < 40 thread-x {
    block sum {
      spatial i < 3 = i
      reduction k < 40 = k
      B[i] sum= A[i, k] initial S[i]
    }
  }
}
)";

TEST(ThreadReductions, StartFromOtherValues) { ExpectTextSameOnGpu(kInitial); }

// B[i, j] sum= A[i, k, j] (or another MONOID), where k runs over thread-x, and each lane of a vector of 4 sums one of
// COLUMNS columns j. Thread-y has 4 values, but i only 3.
constexpr char kInLanes[] = R"(kiln.program v1
program sums
parameters A, B
buffer A: TYPE[3, COUNT, COLUMNS] input
buffer B: TYPE[3, COLUMNS] output

for i < 4 thread-y {
  for k < COUNT thread-x {
    for j < 4 vectorized {
      block sum {
        spatial i < 3 = i
        spatial j < COLUMNS = j
        reduction k < COUNT = k
        B[i, j] MONOID= A[i, k, j]
      }
    }
  }
}
)";

// B[i] sum= A[i, k], where 40 threads have vectors of 4 elements of a row of 157. Each thread sums the lanes of its
// vector, then the threads combine their sums. The last lanes have no element.
constexpr char kOverLanes[] = R"(kiln.program v1
program sums
parameters A, B
buffer A: f32[3, 157] input
buffer B: f32[3] output

for i < 3 block-x {
  for k0 < 40 thread-x {
    for k1 < 4 vectorized {
      block sum {
        spatial i < 3 = i
        reduction k < 157 = k0*4 + k1
        B[i] sum= A[i, k]
      }
    }
  }
}
)";

TEST(ThreadReductions, CombineEachLaneOfVectors) {
  for (const char* count : {"7", "8", "32", "96"}) {
    for (const char* columns : {"3", "4"}) {
      SCOPED_TRACE(absl::StrCat(count, " threads, ", columns, " columns"));
      ExpectTextSameOnGpu(absl::StrReplaceAll(
          kInLanes, {{"COUNT", count}, {"COLUMNS", columns}, {"TYPE", "f32"}, {"MONOID", "sum"}}));
    }
  }
  for (const char* type : {"f64", "f16", "i8", "i64"}) {
    SCOPED_TRACE(type);
    ExpectTextSameOnGpu(absl::StrReplaceAll(
        kInLanes, {{"COUNT", "48"}, {"COLUMNS", "4"}, {"TYPE", type}, {"MONOID", "max"}}));
  }
}

TEST(ThreadReductions, ReduceLanesFirst) { ExpectTextSameOnGpu(kOverLanes); }

TEST(ThreadReductions, AreNoneWhereAFusedLoopIsSplitAgain) {
  kiln::Builder b("rows");
  const Id A = b.Input("A", DType::kF32, {4, 8}), C = b.Output("C", DType::kF32, {4});
  b.Reduce("sum", {{"i", 4}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {b.Iter(0)}},
           b.Load(A, {b.Iter(0), b.Iter(1)}));
  const Program rows = b.Finish();
  for (const int64_t threads : {2, 4, 8}) {
    Schedule s = Scheduled(rows);
    const kiln::Loop fused = s.Fuse(s.GetLoops(s.GetBlock("sum")));
    s.Bind(s.Split(fused, {threads, kAuto})[0], LoopKind::kThreadX);
    ASSERT_TRUE(s.ok()) << s.status();
    if (threads <= 4) {
      ExpectSameOnGpu(rows, s.program());
    } else {  // two threads a row
      EXPECT_TRUE(
          absl::StrContains(CheckOwners(s.program()).message(), "would combine into several elements"));
    }
  }
}

TEST(ThreadReductions, LeaveOutThreadsWithoutAnElement) { ExpectRight(kSome); }

}  // namespace
}  // namespace kiln
