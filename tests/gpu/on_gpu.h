// Checks programs that are scheduled for a GPU: their plan, their code and their results. Needs the headers of MLIR.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "backends/gpu/ptxas.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "backends/prove/presburger.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/lowerable.h"
#include "lang/program/layout.h"
#include "lang/program/scalar.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "testing/plan_interpreter.h"
#include "testing/random_program.h"
#include "testing/threads/thread_clocks.h"
#include "tests/gpu/emulated.h"
#include "validator/proof/proof.h"

namespace kiln {

inline void ExpectClose(DType type, const std::string& found, const std::string& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t at = 0; at < found.size(); at += SizeOf(type)) {
    const Scalar is = LoadScalar(type, found.data() + at), should_be = LoadScalar(type, wanted.data() + at);
    if (IsFloat(type)) {
      ASSERT_NEAR(is.f, should_be.f, tolerance * (1 + std::abs(should_be.f)))
          << "element " << at / SizeOf(type);
    } else {
      ASSERT_EQ(is.i, should_be.i) << "element " << at / SizeOf(type);
    }
  }
}

// Runs a plan in the interpreter of plans, and as kernels in the emulator in all modes, and expects the outputs of the
// original program, but for rounding up to `tolerance`. Expects that ptxas compiles the kernels for two chips without
// spills or a stack.
inline void ExpectPlanOnGpu(const Program& original, const plan::Planned& planned, double tolerance = 1e-4) {
  RandomDice dice(Engine{11});
  const std::vector<std::string> inputs = RandomInputs(original, dice);
  const auto wanted = Run(original, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  SCOPED_TRACE(ToString(planned.program, planned.plan));
  const auto in_plan = RunPlan(planned.program, planned.plan, inputs, {.shuffle = 1});
  ASSERT_TRUE(in_plan.ok()) << in_plan.status();
  ASSERT_EQ(in_plan->size(), wanted->size());
  size_t of_plan = 0;
  for (const Id id : original.parameters) {
    if (original.buffers[id].role != Role::kOutput) continue;
    ExpectClose(original.buffers[id].dtype, (*in_plan)[of_plan], (*wanted)[of_plan], tolerance);
    ++of_plan;
  }
  auto lowered = LowerKernels(planned.program, planned.plan, Context());
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  ASSERT_EQ(ToNvvm(*lowered->module, lowered->launches), absl::OkStatus());
  for (const char* chip : {"sm_80", "sm_90a"}) {
    const auto stages = ToPtx(*lowered->module, chip);
    ASSERT_TRUE(stages.ok()) << stages.status();
    const auto cubin = AssemblePtx(stages->ptx, chip);
    ASSERT_TRUE(cubin.ok()) << cubin.status();
    EXPECT_EQ(CheckKernels(cubin->report), absl::OkStatus());
  }
  const std::string name = planned.plan.entries[0].name;
  const auto library = EmulateKernels(*lowered->module, lowered->launches, name);
  ASSERT_TRUE(library.ok()) << library.status();
  std::vector<std::string> buffers;
  size_t next = 0;
  for (const Id id : original.parameters)
    buffers.push_back(original.buffers[id].role == Role::kOutput ? std::string(BytesOf(original, id), '\0')
                                                                 : inputs.at(next++));
  for (const EmulationOptions& mode : AllModes()) {
    const EmulatedResult result = RunLibrary(*library, name, buffers, mode);
    ASSERT_EQ(result.fault, "");
    size_t output = 0;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const Buffer& buffer = original.buffers[original.parameters[i]];
      if (buffer.role == Role::kOutput)
        ExpectClose(buffer.dtype, result.buffers[i], (*wanted)[output], tolerance), ++output;
    }
  }
}

// Expects that a program that is scheduled for a GPU passes all checks: Verify, VerifyLowerable, the proof that it
// equals the original and that threads wait for each other, thread clocks, and ExpectPlanOnGpu. Every test that links
// LLVM and makes a GPU schedule calls this function or ExpectPlanOnGpu, or runs the fuzzer, but for exceptions that
// tests/house/gpu_schedules_test.cc lists.
inline void ExpectSameOnGpu(const Program& original, const Program& scheduled, double tolerance = 1e-4) {
  ASSERT_EQ(Verify(scheduled), absl::OkStatus());
  LoopNestSummary nests;
  nests.Read(scheduled);
  ASSERT_EQ(VerifyLowerable(nests), absl::OkStatus());
  proof::PresburgerProver prover;
  const Proof proof =
      Prove(original, scheduled, {.prover = &prover, .limit = absl::Seconds(30), .most_instances = 0});
  EXPECT_EQ(std::string(ToString(proof.verdict)), "proven") << proof.reason << "\n" << ToString(scheduled);
  const auto points = PlanSynchronization(scheduled);
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(CheckThreadClocks(scheduled, *points), absl::OkStatus());
  const auto planned = plan::PlanKernels(scheduled);
  ASSERT_TRUE(planned.ok()) << planned.status();
  ExpectPlanOnGpu(original, *planned, tolerance);
}

// Parses a program with GPU loops and expects that it passes ExpectSameOnGpu with itself as the original. Each block is
// marked as its own origin, which the text does not contain but the proof needs.
inline void ExpectTextSameOnGpu(const std::string& text) {
  auto program = ParseProgram(text);
  ASSERT_TRUE(program.ok()) << program.status();
  for (const Id block : Blocks(*program)) program->block(block).provenance.origin = block;
  ExpectSameOnGpu(*program, *program);
}

}  // namespace kiln
