// Injects faults into GPU kernels, before they run in the emulator, and checks which finders find each fault: comparing
// results, checks of the emulator, late copies, or vector clocks. Needs the headers of MLIR.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lang/schedule/schedule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "testing/compiled/injections.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {

// The ways to find a fault in a kernel that runs in the emulator. Each can be switched off.
enum Finder : unsigned {
  kResults = 1,  // results are compared
  kChecks = 2,   // the emulator objects: bounds, alignment, meetings, deadlocks
  kLate = 4,     // mode kLate runs: copies land as late as allowed
  kClocks = 8,   // mode kRandom runs: vector clocks
};

// A fault: a function that changes the plan before it is lowered, or the kernels before they are emulated, and returns
// false if it found nothing to change. `found_by` are the finders that find the fault, each while the others are off.
struct Injection {
  const char* name;
  unsigned found_by = 0;
  std::function<bool(plan::Planned&)> in_plan = nullptr;
  std::function<bool(mlir::ModuleOp, LaunchList&)> in_code = nullptr;
};

// The kernels of a scheduled program with a fault. They can be run with some finders switched off.
class Faulty {
 public:
  // Plans and compiles `scheduled` with the fault, and runs `original` in the interpreter for the wanted results. The
  // program must have one output, its last parameter.
  Faulty(const Program& original, const Program& scheduled, const Injection& injection) {
    auto planned = plan::PlanKernels(scheduled);
    EXPECT_TRUE(planned.ok()) << planned.status();
    if (injection.in_plan != nullptr) EXPECT_TRUE(injection.in_plan(*planned)) << injection.name;
    auto lowered = LowerKernels(planned->program, planned->plan, Context());
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    EXPECT_EQ(ToNvvm(*lowered->module, lowered->launches), absl::OkStatus());
    if (injection.in_code != nullptr)
      EXPECT_TRUE(injection.in_code(*lowered->module, lowered->launches)) << injection.name;
    name_ = planned->plan.entries[0].name;
    const auto library = EmulateKernels(*lowered->module, lowered->launches, name_);
    EXPECT_TRUE(library.ok()) << library.status();
    library_ = *library;
    RandomDice dice(Engine{5});
    buffers_ = RandomInputs(original, dice);
    wanted_ = (*Run(original, buffers_))[0];
    buffers_.emplace_back(wanted_.size(), '\0');
  }

  // Runs the kernels in all modes of the emulator, without the finders in the bit mask `off`. Returns what the first of
  // the other finders reports, or "" if none finds the fault.
  std::string Without(unsigned off) const {
    for (EmulationOptions mode : AllModes()) {
      mode.checks = (off & kChecks) == 0;
      if ((off & kLate) != 0 && mode.mode == EmulationMode::kLate) continue;
      if ((off & kClocks) != 0 && mode.mode == EmulationMode::kRandom) continue;
      const EmulatedResult result = RunLibrary(library_, name_, buffers_, mode);
      if (!result.fault.empty()) return result.fault;
      if ((off & kResults) == 0 && !IsWanted(result.buffers.back()))
        return absl::StrCat("a wrong result in mode ", static_cast<int>(mode.mode));
    }
    return "";
  }

 private:
  bool IsWanted(const std::string& output) const {
    for (size_t at = 0; at < wanted_.size(); at += sizeof(float)) {
      const float is = LoadScalar(DType::kF32, output.data() + at).f,
                  should_be = LoadScalar(DType::kF32, wanted_.data() + at).f;
      if (!(std::abs(is - should_be) <= 1e-4 * (1 + std::abs(should_be)))) return false;
    }
    return true;
  }

  std::string library_, name_, wanted_;
  std::vector<std::string> buffers_;
};

// Expects that each fault is found by each of its finders while its other finders are off, and by nothing while all of
// them are off. Also expects that the program without a fault passes all checks of ExpectSameOnGpu, and that no finder
// reports it while the checks of the emulator are off.
inline void ExpectFound(const Program& original, const Schedule& s, absl::Span<const Injection> injections) {
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameOnGpu(original, s.program());
  EXPECT_EQ(Faulty(original, s.program(), {"nothing"}).Without(kChecks), "");
  for (const Injection& injection : injections) {
    SCOPED_TRACE(injection.name);
    const Faulty faulty(original, s.program(), injection);
    EXPECT_NE(injection.found_by, 0u);
    EXPECT_EQ(faulty.Without(injection.found_by), "");
    for (const Finder finder : {kResults, kChecks, kLate, kClocks}) {
      if ((injection.found_by & finder) == 0) continue;
      EXPECT_NE(faulty.Without(injection.found_by & ~finder), "") << "finder " << finder;
    }
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

// Calls `visit` for this list of nodes of a plan, then for the lists below them, until `visit` returns true. Returns
// false if it never does.
inline bool AnyNodes(plan::Nodes& nodes, const std::function<bool(plan::Nodes&)>& visit) {
  if (visit(nodes)) return true;
  for (plan::Node& node : nodes)
    for (plan::Nodes& arm : node.arms)
      if (AnyNodes(arm, visit)) return true;
  return false;
}

}  // namespace kiln
