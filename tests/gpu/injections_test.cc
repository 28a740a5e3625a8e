// Injects faults into kernels, between lowering and the emulator: each must be found, as a fault or as a wrong result, by one
// of the three modes. The names are those of the design's list that need neither a matrix unit nor copies in bulk.
#include <gtest/gtest.h>

#include <functional>

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

// Changes the plan before it is lowered, or the kernels before they are emulated. A change returns false if there is no place
// for it.
struct Injection {
  const char* name;
  std::function<bool(plan::Planned&)> in_plan = nullptr;
  std::function<bool(mlir::ModuleOp, LaunchList&)> in_code = nullptr;
};

// Returns what found the fault: "" if all modes compute the right results.
std::string FoundBy(const Program& original, const Program& scheduled, const Injection& injection) {
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
  const auto wanted = Run(original, inputs);
  std::vector<std::string> buffers = inputs;
  buffers.emplace_back((*wanted)[0].size(), '\0');
  for (const EmulationOptions& mode : AllModes()) {
    const EmulatedResult result = RunLibrary(*library, name, buffers, mode);
    if (!result.fault.empty()) return result.fault;
    for (size_t at = 0; at < (*wanted)[0].size(); at += sizeof(float)) {
      const float is = LoadScalar(DType::kF32, result.buffers.back().data() + at).f,
                  should_be = LoadScalar(DType::kF32, (*wanted)[0].data() + at).f;
      if (!(std::abs(is - should_be) <= 1e-4 * (1 + std::abs(should_be)))) return "a wrong result";
    }
  }
  return "";
}

template <typename Op>
std::vector<Op> All(mlir::ModuleOp module) {
  std::vector<Op> found;
  module.walk([&](Op op) { found.push_back(op); });
  return found;
}

mlir::Value Number(mlir::Operation* before, int32_t value) {
  mlir::OpBuilder b(before);
  return mlir::LLVM::ConstantOp::create(b, before->getLoc(), b.getI32Type(), b.getI32IntegerAttr(value));
}

bool DropBarrier(mlir::ModuleOp module, size_t number) {
  const auto barriers = All<mlir::NVVM::BarrierOp>(module);
  if (number >= barriers.size()) return false;
  mlir::NVVM::BarrierOp barrier = barriers[number];
  barrier->erase();
  return true;
}

// Only the threads of a warp meet.
bool WarpForBlock(mlir::ModuleOp module, size_t number) {
  const auto barriers = All<mlir::NVVM::BarrierOp>(module);
  if (number >= barriers.size()) return false;
  mlir::NVVM::BarrierOp barrier = barriers[number];
  mlir::OpBuilder b(barrier);
  mlir::NVVM::SyncWarpOp::create(b, barrier.getLoc(), Number(barrier, -1));
  barrier->erase();
  return true;
}

// Only some threads reach the barrier.
bool BarrierOfSome(mlir::ModuleOp module) {
  const auto barriers = All<mlir::NVVM::BarrierOp>(module);
  if (barriers.empty()) return false;
  mlir::NVVM::BarrierOp barrier = barriers[0];
  barrier.getNumberOfThreadsMutable().assign(Number(barrier, 32));
  barrier.getBarrierIdMutable().assign(Number(barrier, 1));
  return true;
}

bool MoveBarrier(plan::Nodes& nodes) {
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].As<plan::Sync>() != nullptr && n + 1 < nodes.size()) {
      std::swap(nodes[n], nodes[n + 1]);
      return true;
    }
    for (plan::Nodes& arm : nodes[n].arms)
      if (MoveBarrier(arm)) return true;
  }
  return false;
}

Id BufferCalled(const Program& p, absl::string_view name) {
  for (size_t id = 0; id < p.buffers.size(); ++id)
    if (p.Text(p.buffers[id].name) == name) return static_cast<Id>(id);
  return kNone;
}

// Changes each address of a buffer that has a ring.
bool ChangeRing(plan::Planned& planned, const std::function<void(IndexSplit&, IndexSum&)>& change,
                bool reads) {
  const Id buffer = BufferCalled(planned.program, "A.cache");
  bool found = false;
  for (auto& [node, block] : planned.plan.indices.blocks) {
    const auto touch = [&](IndexSum& address) {
      for (size_t s = 0; s < address.splits.size(); ++s) {
        if (address.splits[s].extent != 2) continue;
        change(address.splits[s], address);
        found = true;
        return;
      }
    };
    for (auto& [expr, address] : block.addresses)
      if (reads && planned.program.exprs[expr].AsLoad().buffer == buffer) touch(address);
    const auto dests = planned.program.Accesses(planned.program.block(node).dests);
    for (size_t r = 0; r < dests.size(); ++r)
      if (dests[r].buffer == buffer) touch(block.dests[r]);
  }
  return found;
}

const Injection kInProduct[] = {
    {"a barrier is left out", nullptr, [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, 0); }},
    {"another barrier is left out", nullptr, [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, 1); }},
    {"a barrier comes one child late", [](plan::Planned& p) { return MoveBarrier(p.plan.entries[0].nodes); }},
    {"a warp meets instead of the block", nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return WarpForBlock(m, 0); }},
    {"some threads meet instead of the block", nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return BarrierOfSome(m); }},
    {"a ring is one copy short",
     [](plan::Planned& p) {
       return ChangeRing(p, [](IndexSplit& copy, IndexSum&) { copy.scale = 0; }, true);
     }},
    {"writers use the copy of the next iteration",
     [](plan::Planned& p) {
       return ChangeRing(
           p, [](IndexSplit& copy, IndexSum& sum) { sum.offset += copy.scale, copy.scale = -copy.scale; },
           false);
     }},
    {"the arena is short", nullptr,
     [](mlir::ModuleOp, LaunchList& launches) {
       launches.launches[0].shared_bytes -= 16;
       return true;
     }},
    {"two buffers share an address",
     [](plan::Planned& p) {
       p.plan.indices.buffers[BufferCalled(p.program, "B.cache")].offset = 0;
       return true;
     }},
    {"the grid has a block too many", nullptr,
     [](mlir::ModuleOp, LaunchList& launches) {
       ++launches.launches[0].blocks;
       return true;
     }},
};

TEST(GpuInjections, InAProductAreFound) {
  const Program program = Matmul(64, 48, 16);
  const Schedule s = SimtMatmul(program, 8);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(FoundBy(program, s.program(), {"nothing"}), "");
  for (const Injection& injection : kInProduct)
    EXPECT_NE(FoundBy(program, s.program(), injection), "") << injection.name;
}

const Injection kInSoftmax[] = {
    {"a shuffle is of another distance", nullptr,
     [](mlir::ModuleOp module, LaunchList&) {
       auto shuffle = All<mlir::NVVM::ShflOp>(module).back();
       shuffle.getOffsetMutable().assign(Number(shuffle, 2));
       return true;
     }},
    {"a shuffle names a lane that is not there", nullptr,
     [](mlir::ModuleOp module, LaunchList&) {
       auto shuffle = All<mlir::NVVM::ShflOp>(module).front();
       shuffle.getThreadMaskMutable().assign(Number(shuffle, 0x1ff));
       return true;
     }},
    {"a shuffle leaves out a lane", nullptr,
     [](mlir::ModuleOp module, LaunchList&) {
       auto shuffle = All<mlir::NVVM::ShflOp>(module).front();
       shuffle.getThreadMaskMutable().assign(Number(shuffle, 0x7f));
       return true;
     }},
    {"a thread is missing", nullptr,
     [](mlir::ModuleOp, LaunchList& launches) {
       --launches.launches[0].threads;
       return true;
     }},
};

TEST(GpuInjections, InASoftmaxAreFound) {
  const Program program = Softmax(3, 64);
  const Schedule s = SoftmaxOfRows(program);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(FoundBy(program, s.program(), {"nothing"}), "");
  for (const Injection& injection : kInSoftmax)
    EXPECT_NE(FoundBy(program, s.program(), injection), "") << injection.name;
}

// Guards that are left out let threads beyond the end of the buffers run.
TEST(GpuInjections, MissingGuardsAreFound) {
  const Program program = Softmax(5, 33);
  Schedule s = Scheduled(program);
  for (const char* block : {"max", "exp", "sum", "div"}) {
    const auto parts = s.Split(s.GetLoops(s.GetBlock(block))[0], {kAuto, 4});
    s.Bind(parts[0], LoopKind::kBlockX);
    s.Bind(parts[1], LoopKind::kThreadX);
  }
  ASSERT_TRUE(s.ok()) << s.status();
  const auto drop = [](auto& self, plan::Nodes& nodes) -> bool {
    bool found = false;
    for (plan::Node& node : nodes) {
      if (auto* leaf = std::get_if<plan::Leaf>(&node.what); leaf != nullptr && !leaf->asks.empty()) {
        leaf->asks.clear();
        found = true;
      }
      for (plan::Nodes& arm : node.arms) found |= self(self, arm);
    }
    return found;
  };
  EXPECT_EQ(FoundBy(program, s.program(), {"nothing"}), "");
  const Injection injection{"no guards",
                            [&](plan::Planned& p) { return drop(drop, p.plan.entries[0].nodes); }};
  EXPECT_NE(FoundBy(program, s.program(), injection), "");
}

}  // namespace
}  // namespace kiln
