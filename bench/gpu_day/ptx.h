// The kernels of scripts/gpu-day that are written in PTX. Some have faults from which the runner must recover. The
// others measure rates: multiply-adds, and launches of an empty kernel.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace kiln {

// A kernel in PTX with two parameters: pointers to x, 64 elements of f32, and to y, `outputs` elements.
struct PtxKernel {
  std::string name;
  std::string body;           // %rd1 is y, %rd2 is x
  std::string stand_in;       // the same in C, for the fake driver: a[0] is x, a[1] is y
  std::string wanted = "ok";  // status
  int64_t outputs = 64, blocks = 1, threads = 1;
};

inline std::string TextOf(const PtxKernel& kernel, const std::string& chip) {
  constexpr char kText[] = R"(.version 8.0
.target CHIP
.address_size 64
.visible .entry NAME(.param .u64 x, .param .u64 y) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<6>;
  .reg .f32 %f<20>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [x];
BODY
  ret;
}
)";
  return absl::StrReplaceAll(kText, {{"CHIP", chip}, {"NAME", kernel.name}, {"BODY", kernel.body}});
}

inline const PtxKernel kFaults[] = {
    {"illegal_address", "  mov.u64 %rd3, 4096;\n  mov.u32 %r1, 1;\n  st.global.u32 [%rd3], %r1;",
     "return 86;", "crashed"},
    {"misaligned_address", "  add.u64 %rd3, %rd1, 2;\n  mov.u32 %r1, 1;\n  st.global.u32 [%rd3], %r1;",
     "return 86;", "crashed"},
    {"endless_loop",
     "LOOP:\n  ld.volatile.global.u32 %r1, [%rd1];\n  setp.ne.u32 %p1, %r1, 12345;\n  @%p1 bra LOOP;",
     "for (volatile int i = 0;; ++i) {}", "timed_out"},
    {"wrong_bytes", "  mov.u32 %r1, 1;\n  st.global.u32 [%rd1], %r1;", "((float*)a[1])[0] = 1;",
     "wrong_result"},
    {"writes_beside", "  mov.u32 %r1, 1;\n  st.global.u32 [%rd1+256], %r1;", "((float*)a[1])[64] = 1;",
     "guard_violated"},
    // Reads the first four bytes behind the end of x, and stores them in y.
    {"reads_beside", "  ld.global.u32 %r1, [%rd2+256];\n  st.global.u32 [%rd1], %r1;",
     "((float*)a[1])[0] = ((float*)a[0])[64];", "wrong_result"},
    // Stores the value of a clock of the GPU, so that no two runs give the same result.
    {"differs_each_time", "  mov.u32 %r1, %clock;\n  st.global.u32 [%rd1+4], %r1;",
     "static int runs; ((int*)a[1])[1] = ++runs;", "wrong_result"}};

inline PtxKernel EmptyKernel() { return {"empty", "", ""}; }

// A kernel that measures the rate of multiply-adds: each thread keeps 16 independent sums in registers.
struct FmaKernel {
  static constexpr int kAccumulators = 16, kRounds = 4, kSteps = 256;
  static constexpr int64_t kBlocks = 132 * 16, kThreads = 256;
  static constexpr double kFlops =
      2.0 * kAccumulators * kRounds * kSteps * static_cast<double>(kBlocks * kThreads);

  static PtxKernel Make(bool small) {
    std::string body =
        "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
        "  mad.lo.u32 %r4, %r1, %r2, %r3;\n  mul.wide.u32 %rd3, %r4, 4;\n  add.u64 %rd1, %rd1, %rd3;\n"
        "  ld.global.f32 %f16, [%rd2];\n  ld.global.f32 %f17, [%rd2+4];\n  mov.u32 %r5, 0;\n";
    for (int i = 0; i < kAccumulators; ++i)
      absl::StrAppend(&body, "  ld.global.f32 %f", i, ", [%rd2+", 8 + 4 * i, "];\n");
    absl::StrAppend(&body, "LOOP:\n");
    for (int round = 0; round < kRounds; ++round)
      for (int i = 0; i < kAccumulators; ++i)
        absl::StrAppend(&body, "  fma.rn.f32 %f", i, ", %f", i, ", %f16, %f17;\n");
    absl::StrAppend(&body, "  add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p1, %r5, ", kSteps,
                    ";\n  @%p1 bra LOOP;\n");
    for (int i = 1; i < kAccumulators; ++i) absl::StrAppend(&body, "  add.f32 %f0, %f0, %f", i, ";\n");
    absl::StrAppend(&body, "  st.global.f32 [%rd1], %f0;");
    const int64_t blocks = small ? 1 : kBlocks;
    return {"ffma", body, "((float*)a[1])[0] = 0;", "ok", blocks * kThreads, blocks, kThreads};
  }
};

}  // namespace kiln
