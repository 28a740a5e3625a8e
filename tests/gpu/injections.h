// Injects faults into kernels, between planning and the emulator, and says what finds them. Needs the headers of MLIR.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "lang/schedule/schedule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "testing/compiled/injections.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {

// What finds a fault. It passes without: with kEager alone where kLate or kClocks is the finder, with no comparison of
// results where kResults is. Checks are in all modes.
enum class Finder {
  kNone,
  kResults,  // wrong results in mode kEager
  kChecks,   // the emulator: bounds, alignment, meetings, deadlocks
  kLate,     // copies that land as late as allowed: mode kLate
  kClocks,   // vector clocks: mode kRandom
};

// Changes the plan before it is lowered, or the kernels before they are emulated. A change returns false if there is no
// place for it.
struct Injection {
  const char* name;
  Finder found_by;
  std::function<bool(plan::Planned&)> in_plan = nullptr;
  std::function<bool(mlir::ModuleOp, LaunchList&)> in_code = nullptr;
};

// The first finder of a fault, in their order, and what it says.
struct Found {
  Finder by = Finder::kNone;
  std::string what = {};
};

// Runs the program in one mode. Returns a fault, or "a wrong result", or "".
inline std::string RunInMode(const std::string& library, const std::string& name, const Program& original,
                             const std::vector<std::string>& inputs, const EmulationOptions& mode) {
  const auto wanted = Run(original, inputs);
  std::vector<std::string> buffers = inputs;
  buffers.emplace_back((*wanted)[0].size(), '\0');
  const EmulatedResult result = RunLibrary(library, name, buffers, mode);
  if (!result.fault.empty()) return result.fault;
  for (size_t at = 0; at < (*wanted)[0].size(); at += sizeof(float)) {
    const float is = LoadScalar(DType::kF32, result.buffers.back().data() + at).f,
                should_be = LoadScalar(DType::kF32, (*wanted)[0].data() + at).f;
    if (!(std::abs(is - should_be) <= 1e-4 * (1 + std::abs(should_be)))) return "a wrong result";
  }
  return "";
}

// The program has one output, its last parameter.
inline Found FindFault(const Program& original, const Program& scheduled, const Injection& injection) {
  auto planned = plan::PlanKernels(scheduled);
  EXPECT_TRUE(planned.ok()) << planned.status();
  if (injection.in_plan != nullptr) EXPECT_TRUE(injection.in_plan(*planned)) << injection.name;
  auto lowered = LowerKernels(planned->program, planned->plan, Context());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(ToNvvm(*lowered->module, lowered->launches), absl::OkStatus());
  if (injection.in_code != nullptr)
    EXPECT_TRUE(injection.in_code(*lowered->module, lowered->launches)) << injection.name;
  const std::string name = planned->plan.entries[0].name;
  const auto library = EmulateKernels(*lowered->module, lowered->launches, name);
  EXPECT_TRUE(library.ok()) << library.status();
  RandomDice dice(Engine{5});
  const std::vector<std::string> inputs = RandomInputs(original, dice);
  for (const EmulationOptions& mode : AllModes()) {
    const std::string what = RunInMode(*library, name, original, inputs, mode);
    if (what.empty()) continue;
    const bool races = absl::StrContains(what, "a race") || absl::StrContains(what, "nothing wrote");
    if (races) return {Finder::kClocks, what};
    if (what != "a wrong result") return {Finder::kChecks, what};
    return {mode.mode == EmulationMode::kEager ? Finder::kResults : Finder::kLate, what};
  }
  return {};
}

// Expects that each fault is found by its finder and by no earlier one, and nothing without a fault.
inline void ExpectFound(const Program& original, const Schedule& s, absl::Span<const Injection> injections) {
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(FindFault(original, s.program(), {"nothing", Finder::kNone}).what, "");
  for (const Injection& injection : injections) {
    const Found found = FindFault(original, s.program(), injection);
    EXPECT_EQ(static_cast<int>(found.by), static_cast<int>(injection.found_by))
        << injection.name << ": " << found.what;
  }
}

inline mlir::Value Number(mlir::Operation* before, int32_t value) {
  mlir::OpBuilder b(before);
  return mlir::LLVM::ConstantOp::create(b, before->getLoc(), b.getI32Type(), b.getI32IntegerAttr(value));
}

inline Id BufferCalled(const Program& p, absl::string_view name) {
  for (size_t id = 0; id < p.buffers.size(); ++id)
    if (p.Text(p.buffers[id].name) == name) return static_cast<Id>(id);
  return kNone;
}

// Calls visit for lists of nodes, outer ones first, until it returns true. Returns whether it did.
inline bool AnyNodes(plan::Nodes& nodes, const std::function<bool(plan::Nodes&)>& visit) {
  if (visit(nodes)) return true;
  for (plan::Node& node : nodes)
    for (plan::Nodes& arm : node.arms)
      if (AnyNodes(arm, visit)) return true;
  return false;
}

}  // namespace kiln
