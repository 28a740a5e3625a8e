// Imports MLIR text with linalg on tensors, runs it in several ways (RightOptions switches each but the first), and
// expects that all compute the same:
//   - the interpreter on the imported program, which the other ways are compared with
//   - the file compiled by stock MLIR passes, which share nothing with import
//   - the imported program without a schedule, lowered, compiled and called
//   - the program under random traces of the default space, compiled, if `traces` is not 0
//
//   ExpectRight(text);                                      // random inputs
//   ExpectRight(text, {.inputs = {Bytes<float>({1, 2})},    // given inputs and outputs
//                      .wanted = {Bytes<int64_t>({1})}});
//
// Floats agree within the rounding of sums of a few hundred terms in another order (RightTolerance, such as 1e-4 of 1 +
// |value| for f32). Integers agree exactly, and so do NaN, infinities and the signs of zeros.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "backends/import/import.h"
#include "backends/measure/kernel.h"
#include "backends/runner/data.h"
#include "backends/vendor/stock_pipeline.h"
#include "gtest/gtest.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "modules/default_modules.h"
#include "testing/compiled/loaded.h"
#include "testing/compiled/run_program.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln {

struct RightOptions {
  std::string name = "file";
  uint64_t seed = 7;                     // of the data and the traces
  std::vector<std::string> inputs = {};  // bytes of each parameter that is no output; empty: drawn
  std::vector<std::string> wanted = {};  // bytes of each output; empty: not known
  bool stock = true;                     // compare with stock passes (at most 16 parameters)
  bool compiled = true;                  // compile the program as it came (at most 12 parameters)
  int traces = 0;  // number for each sketch of the default space, compiled (at most 12 parameters)
};

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

inline double RightTolerance(DType type) {
  switch (type) {
    case DType::kF64:
      return 1e-12;
    case DType::kF32:
      return 1e-4;
    case DType::kF16:
      return 5e-3;
    case DType::kBF16:
      return 5e-2;
    default:
      return 0;
  }
}

inline std::vector<std::string> DrawInputs(const Program& p, uint64_t seed) {
  return TrialInputs(p, seed, RangesOf(p, seed));
}

// Expects that the outputs in `found` equal those in `wanted`, but for rounding of floats. All NaNs are equal, and 0.0
// is not equal to -0.0. `how` says in error messages how `found` was computed.
inline void ExpectOutputs(const Program& p, const std::vector<std::string>& found,
                          const std::vector<std::string>& wanted, const std::string& how) {
  ASSERT_EQ(found.size(), wanted.size()) << how;
  size_t output = 0;
  for (const Id id : p.parameters) {
    const Buffer& buffer = p.buffers[id];
    if (buffer.role != Role::kOutput) continue;
    const std::string dtype(ToString(buffer.dtype));
    const std::string &got = found[output], &want = wanted[output];
    ++output;
    ASSERT_EQ(got.size(), want.size()) << how;
    for (int64_t e = 0; e < static_cast<int64_t>(want.size()) / DTypeBytes(dtype); ++e) {
      const double w = LoadElement(dtype, want.data(), e), g = LoadElement(dtype, got.data(), e);
      if (std::isnan(w) && std::isnan(g)) continue;
      if (w == g && std::signbit(w) == std::signbit(g)) continue;
      ASSERT_TRUE(RightTolerance(buffer.dtype) > 0 && w != g && std::isfinite(w))
          << how << ": " << p.Text(buffer.name) << " at " << e << ": " << g << ", wanted " << w;
      ASSERT_LE(std::fabs(g - w), RightTolerance(buffer.dtype) * (1 + std::fabs(w)))
          << how << ": " << p.Text(buffer.name) << " at " << e;
    }
  }
}

// Compiles a function of the MLIR text (`function`; empty: its only public one) with stock MLIR passes, runs it on the
// inputs, and returns the outputs, whose memory is filled with poison first. Fails the test and returns nothing if the
// code does not compile or load, or has more than 16 parameters.
inline std::vector<std::string> RunStock(const std::string& text, const Program& p,
                                         const std::vector<std::string>& inputs,
                                         const std::string& function = "") {
  std::vector<std::string> memory, outputs;
  size_t next = 0;
  for (const Id id : p.parameters) {
    if (p.buffers[id].role != Role::kOutput) {
      memory.push_back(inputs[next++]);
      continue;
    }
    memory.emplace_back(BytesOf(p, id), '\0');
    FillPoison(memory.back().data(), static_cast<int64_t>(memory.back().size()));
  }
  const auto shared = CompileStockPipeline(text, HostCodegen(), {.function = function});
  EXPECT_TRUE(shared.ok()) << shared.status();
  if (!shared.ok()) return {};
  const auto code = Loaded::FromBytes(*shared);
  EXPECT_TRUE(code.ok()) << code.status();
  std::vector<void*> a;
  for (std::string& bytes : memory) a.push_back(bytes.data());
  EXPECT_LE(a.size(), 16u);
  if (!code.ok() || a.size() > 16) return {};
  a.resize(16);
  using Function = int(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                       void*, void*, void*, void*);
  EXPECT_EQ(code->Get<Function>("baseline")(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                            a[11], a[12], a[13], a[14], a[15]),
            0);
  for (size_t i = 0; i < memory.size(); ++i)
    if (p.buffers[p.parameters[i]].role == Role::kOutput) outputs.push_back(std::move(memory[i]));
  return outputs;
}

// Draws `options.traces` traces from each sketch of the default space, compiles and runs the valid ones, and expects
// that their outputs are `wanted`.
inline void ExpectTracesRight(const Program& p, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& wanted, const RightOptions& options) {
  const auto sketches = Enumerate(CpuSpace, p, Target());
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  for (const Sketch& sketch : sketches->sketches) {
    for (int t = 0; t < options.traces; ++t) {
      RandomDice dice(Engine{options.seed + t});
      RandomChooser chooser(dice);
      const auto replayed = Replay(sketch.trace, p, Target(), chooser);
      if (!replayed.ok() || !Validate(replayed->program(), Target()).ok) continue;
      std::vector<std::string> outputs;
      ASSERT_EQ(RunCompiled(replayed->program(), inputs, &outputs), 0);
      ExpectOutputs(p, outputs, wanted, "compiled under\n" + Print(sketch.trace));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

inline void ExpectRight(const std::string& text, const RightOptions& options = {}) {
  SCOPED_TRACE(absl::StrCat(options.name, "\n", text));
  const auto imported = ImportLinalg(text, options.name);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Program& p = imported->program;
  const std::vector<std::string> inputs =
      options.inputs.empty() ? DrawInputs(p, options.seed) : options.inputs;
  const auto interpreted = Run(p, inputs);
  ASSERT_TRUE(interpreted.ok()) << interpreted.status();
  if (!options.wanted.empty()) ExpectOutputs(p, *interpreted, options.wanted, "interpreted");
  if (options.stock) ExpectOutputs(p, RunStock(text, p, inputs), *interpreted, "by stock passes");
  if (testing::Test::HasFatalFailure()) return;
  if (options.compiled) {
    std::vector<std::string> outputs;
    ASSERT_EQ(RunCompiled(p, inputs, &outputs), 0);
    ExpectOutputs(p, outputs, *interpreted, "compiled as it came");
  }
  if (options.traces > 0) ExpectTracesRight(p, inputs, *interpreted, options);
}

}  // namespace kiln
