// Compiles plans that are written by hand (tests/lower/gpu) to PTX and for the emulator. Expects that ptxas reports no
// spills, that results equal the interpreter's in all modes, and that the emulator finds a race or a read of an element
// that nothing wrote if any sync is left out.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "backends/gpu/ptxas.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/program/layout.h"
#include "lang/program/scalar.h"
#include "lang/reference/interpreter.h"
#include "test_paths.h"
#include "testing/random_program.h"
#include "tests/gpu/emulated.h"
#include "tests/support/remove_sync.h"

namespace kiln {
namespace {

plan::Planned ReadPlan(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(absl::StrCat(KILN_SOURCE_DIR "/tests/lower/gpu/", name, ".txt")).rdbuf();
  auto parsed = plan::ParsePlan(text.str());
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *std::move(parsed) : plan::Planned();
}

LoweredKernels Nvvm(const plan::Planned& planned) {
  auto lowered = LowerKernels(planned.program, planned.plan, Context());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  const absl::Status status = ToNvvm(*lowered->module, lowered->launches);
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(lowered);
}

std::string Library(const plan::Planned& planned) {
  const LoweredKernels lowered = Nvvm(planned);
  auto library = EmulateKernels(*lowered.module, lowered.launches, planned.plan.entries[0].name);
  EXPECT_TRUE(library.ok()) << library.status();
  return library.ok() ? *std::move(library) : "";
}

// Returns a buffer for each parameter of the program: the given input, or zeros for an output.
std::vector<std::string> BuffersOf(const Program& program, const std::vector<std::string>& inputs) {
  std::vector<std::string> buffers;
  size_t next = 0;
  for (const Id id : program.parameters)
    buffers.push_back(program.buffers[id].role == Role::kOutput ? std::string(BytesOf(program, id), '\0')
                                                                : inputs.at(next++));
  return buffers;
}

std::vector<std::string> Outputs(const Program& program, const std::vector<std::string>& buffers) {
  std::vector<std::string> outputs;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (program.buffers[program.parameters[i]].role == Role::kOutput) outputs.push_back(buffers[i]);
  return outputs;
}

// Returns inputs of small integers as f32, from -4 to 4, so that their sums are exact in any order.
std::vector<std::string> WholeNumbers(const Program& program) {
  std::vector<std::string> inputs;
  int64_t seed = 1;
  for (const Id id : program.parameters) {
    if (program.buffers[id].role == Role::kOutput) continue;
    std::string bytes(BytesOf(program, id), '\0');
    for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
      seed = seed * 48271 % 2147483647;
      const auto value = static_cast<float>(seed % 9 - 4);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    inputs.push_back(bytes);
  }
  return inputs;
}

void ExpectRightInAllModes(const plan::Planned& planned, const std::vector<std::string>& inputs,
                           float tolerance) {
  const auto wanted = Run(planned.program, inputs);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  const std::string library = Library(planned);
  for (const EmulationOptions& mode : AllModes()) {
    const auto result =
        RunLibrary(library, planned.plan.entries[0].name, BuffersOf(planned.program, inputs), mode);
    EXPECT_EQ(result.fault, "");
    const auto found = Outputs(planned.program, result.buffers);
    ASSERT_EQ(found.size(), wanted->size());
    for (size_t o = 0; o < found.size(); ++o) {
      for (size_t at = 0; at < found[o].size(); at += sizeof(float)) {
        const float is = LoadScalar(DType::kF32, found[o].data() + at).f;
        const float should_be = LoadScalar(DType::kF32, (*wanted)[o].data() + at).f;
        ASSERT_NEAR(is, should_be, tolerance) << "output " << o << ", element " << at / sizeof(float);
      }
    }
  }
}

// Removes each sync in turn from the whole plan. Expects that the emulator, in mode kRandom with each of four seeds,
// reports a race or a read of an element that nothing wrote. Returns the number of syncs.
int ExpectAllSyncsAreMissed(const plan::Planned& planned, const std::vector<std::string>& inputs) {
  for (int sync = 0;; ++sync) {
    plan::Planned without = planned;
    int number = sync;
    if (!RemoveSync(without.plan.entries[0].nodes, number)) return sync;
    const std::string library = Library(without);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const auto result = RunLibrary(library, planned.plan.entries[0].name,
                                     BuffersOf(planned.program, inputs), {EmulationMode::kRandom, seed});
      EXPECT_TRUE(absl::StrContains(result.fault, "a race") ||
                  absl::StrContains(result.fault, "nothing wrote"))
          << "without sync " << sync << ", seed " << seed << ": " << result.fault;
    }
  }
}

void ExpectAssembles(const plan::Planned& planned) {
  const LoweredKernels lowered = Nvvm(planned);
  for (const char* chip : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"}) {
    SCOPED_TRACE(chip);
    const auto stages = ToPtx(*lowered.module, chip);
    ASSERT_TRUE(stages.ok()) << stages.status();
    const auto cubin = AssemblePtx(stages->ptx, chip);
    ASSERT_TRUE(cubin.ok()) << cubin.status() << stages->ptx;
    ASSERT_EQ(cubin->report.kernels.size(), lowered.launches.launches.size());
    EXPECT_EQ(CheckKernels(cubin->report), absl::OkStatus());
    EXPECT_GT(cubin->bytes.size(), 0);
  }
}

TEST(Kernels, SimtComputesTheProduct) {
  const plan::Planned planned = ReadPlan("simt");
  const auto inputs = WholeNumbers(planned.program);
  ExpectRightInAllModes(planned, inputs, 0);
  EXPECT_EQ(ExpectAllSyncsAreMissed(planned, inputs), 2);
  ExpectAssembles(planned);
}

TEST(Kernels, SoftmaxReducesOverThreads) {
  const plan::Planned planned = ReadPlan("softmax");
  const auto inputs = WholeNumbers(planned.program);
  ExpectRightInAllModes(planned, inputs, 1e-6f);
  EXPECT_EQ(ExpectAllSyncsAreMissed(planned, inputs), 2);
  ExpectAssembles(planned);
}

TEST(Kernels, AreRefusedForAGpuThatLlvmDoesNotHave) {
  const LoweredKernels lowered = Nvvm(ReadPlan("simt"));
  EXPECT_EQ(ToPtx(*lowered.module, "sm_7").status().message(), "LLVM has no GPU sm_7");
}

TEST(Kernels, HaveALaunchEach) {
  const LoweredKernels lowered = Nvvm(ReadPlan("simt"));
  const LaunchList wanted{.parameters = {2048, 1536, 3072},
                          .launches = {{.kernel = "matmul_0",
                                        .blocks = 6,
                                        .threads = 16,
                                        .shared_bytes = 768,
                                        .arguments = {{false, 0, 2048, true, false},
                                                      {false, 1, 1536, true, false},
                                                      {false, 2, 3072, false, true}}}}};
  EXPECT_EQ(lowered.launches, wanted);
}

}  // namespace
}  // namespace kiln
