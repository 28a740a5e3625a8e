// Runs GPU kernels on the CPU, in the emulator (backends/runner/emulator/emulator.h). Needs the headers of MLIR.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/emulate.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/runner/emulator/emulator.h"
#include "gtest/gtest.h"
#include "testing/compiled/loaded.h"

namespace kiln {

struct EmulatedResult {
  std::string fault;
  std::vector<std::string> buffers;  // of all parameters, afterwards
  EmulationCounts counts;
};

// Calls the entry point `name` of a library that EmulateKernels made, with copies of at most 6 buffers. Returns the
// buffers afterwards, the emulator's fault ("" if none) and its counts. Fails the test and returns an empty result if
// there are more buffers, or if the library or the entry point cannot be loaded. Behind each copy are 64 KiB whose
// bytes make NaNs: a kernel that runs without checks may touch them.
inline EmulatedResult RunLibrary(const std::string& library, const std::string& name,
                                 const std::vector<std::string>& buffers, const EmulationOptions& options) {
  constexpr size_t kMost = 6, kBehind = 1 << 16;
  EmulatedResult result;
  const auto loaded = Loaded::FromBytes(library);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_LE(buffers.size(), kMost);
  if (!loaded.ok() || buffers.size() > kMost) return result;
  using Entry = int32_t(void*, void*, void*, void*, void*, void*);
  auto* const entry = loaded->Get<Entry>(name);
  EXPECT_NE(entry, nullptr) << name;
  if (entry == nullptr) return result;
  std::vector<std::unique_ptr<char[]>> memory;
  void* arguments[kMost] = {};
  for (const std::string& buffer : buffers) {
    memory.push_back(std::make_unique<char[]>(buffer.size() + kBehind));
    std::memset(memory.back().get() + buffer.size(), 0xff, kBehind);
    std::memcpy(memory.back().get(), buffer.data(), buffer.size());
    arguments[memory.size() - 1] = memory.back().get();
  }
  const Emulation emulation(options);
  const int32_t status =
      entry(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  EXPECT_EQ(status != 0, !emulation.fault().empty());
  result.fault = emulation.fault();
  result.counts = emulation.counts();
  for (size_t i = 0; i < buffers.size(); ++i) result.buffers.emplace_back(memory[i].get(), buffers[i].size());
  return result;
}

// Returns options for the three modes of the emulator: kEager, kLate, and kRandom with the seeds 1 to 3.
inline std::vector<EmulationOptions> AllModes() {
  return {{EmulationMode::kEager},
          {EmulationMode::kLate},
          {EmulationMode::kRandom, 1},
          {EmulationMode::kRandom, 2},
          {EmulationMode::kRandom, 3}};
}

}  // namespace kiln
