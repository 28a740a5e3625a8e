// Injects faults into GPU kernels, such as a missing barrier or a wrong address, and expects that the emulator or a
// comparison of results finds each. Tables in this file name the finders of each fault; docs/fuzzing.md shows them.
#include "tests/gpu/injections.h"

#include <gtest/gtest.h>

#include "lang/analysis/loops.h"
#include "lang/text/text.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"

namespace kiln {
namespace {

namespace llvm_ir = mlir::LLVM;
namespace nvvm = mlir::NVVM;
using plan::Planned;

// --- Faults of barriers: left out, moved, or for too few threads

bool DropBarrier(mlir::ModuleOp module, size_t number) {
  const auto barriers = All<nvvm::BarrierOp>(module);
  if (number >= barriers.size()) return false;
  nvvm::BarrierOp barrier = barriers[number];
  barrier->erase();
  return true;
}

// Replaces the kernel's barrier with this number by one at which only the threads of a warp meet. Returns false if
// there are too few barriers.
bool WarpForBlock(mlir::ModuleOp module, size_t number) {
  const auto barriers = All<nvvm::BarrierOp>(module);
  if (number >= barriers.size()) return false;
  nvvm::BarrierOp barrier = barriers[number];
  mlir::OpBuilder b(barrier);
  nvvm::SyncWarpOp::create(b, barrier.getLoc(), Number(barrier, -1));
  barrier->erase();
  return true;
}

// Makes the second barrier of the kernel wait for 32 threads only. Returns false if there is no second barrier.
bool BarrierOfSome(mlir::ModuleOp module) {
  const auto barriers = All<nvvm::BarrierOp>(module);
  if (barriers.size() < 2) return false;
  nvvm::BarrierOp barrier = barriers[1];
  barrier.getNumberOfThreadsMutable().assign(Number(barrier, 32));
  barrier.getBarrierIdMutable().assign(Number(barrier, 1));
  return true;
}

// Exchanges the first barrier in a serial loop of the plan with the node after it. Returns false if no serial loop has
// a barrier with a node after it.
bool MoveBarrier(Planned& p) {
  return AnyNodes(p.plan.entries[0].nodes, [](plan::Nodes& nodes) {
    for (plan::Node& node : nodes) {
      const plan::Loop* loop = node.As<plan::Loop>();
      if (loop == nullptr || loop->run != plan::Run::kSerial) continue;
      for (size_t n = 0; n + 1 < node.arms[0].size(); ++n) {
        if (node.arms[0][n].As<plan::Sync>() == nullptr) continue;
        std::swap(node.arms[0][n], node.arms[0][n + 1]);
        return true;
      }
    }
    return false;
  });
}

// Adds a barrier to the first loop over threads that has fewer than 64 threads: the loop that copies operands. The
// other threads do not reach this barrier. Returns false if there is no such loop.
bool BarrierOfTheThreadsThatCopy(Planned& p) {
  return AnyNodes(p.plan.entries[0].nodes, [](plan::Nodes& nodes) {
    for (plan::Node& node : nodes) {
      const plan::Loop* loop = node.As<plan::Loop>();
      if (loop == nullptr || loop->run != plan::Run::kAxis || loop->axis != LoopKind::kThreadX ||
          loop->count >= 64)
        continue;
      node.arms[0].insert(node.arms[0].begin(), {plan::Sync(), {}});
      return true;
    }
    return false;
  });
}

// --- Faults of ring buffers, of addresses and sizes in shared memory, and of the grid of thread blocks

// Calls `change` for each address of a store to A.cache and, if `reads`, of a load from it, with the term that selects
// one of the two copies in the ring buffer: step % 2. Returns false if no address has this term.
bool ChangeRing(Planned& planned, const std::function<void(IndexSplit&, IndexSum&)>& change, bool reads) {
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

bool MoveBuffer(Planned& p, const char* name, int64_t offset) {
  p.plan.indices.buffers[BufferCalled(p.program, name)].offset = offset;
  return true;
}

bool ShorterArena(mlir::ModuleOp, LaunchList& launches) {
  launches.launches[0].shared_bytes -= 16;
  return true;
}
bool ABlockTooMany(mlir::ModuleOp, LaunchList& launches) {
  ++launches.launches[0].blocks;
  return true;
}

// Replaces (number of the thread block) / n by 0 in the addresses of results, so that several thread blocks write the
// same tile, and other tiles stay unwritten. Returns false if no address has such a division.
bool RasterThatRepeats(Planned& p) {
  bool found = false;
  const Id block = LoopsBelow(p.program, kRoot)[0];
  for (auto& [node, of_block] : p.plan.indices.blocks)
    for (IndexSum& dest : of_block.dests)
      for (IndexSplit& split : dest.splits)
        if (split.source == Source::Loop(block) && split.extent == 0 && split.lower > 1)
          split.extent = 1, found = true;
  return found;
}

const Injection kInProduct[] = {
    {"a barrier is left out", kResults | kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, 1); }},
    {"the last barrier is left out", kResults | kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, All<nvvm::BarrierOp>(m).size() - 1); }},
    {"a barrier comes one child late", kResults | kClocks, MoveBarrier},
    {"a warp meets instead of the block", kResults | kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return WarpForBlock(m, 1); }},
    {"some threads meet instead of the block", kResults | kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return BarrierOfSome(m); }},
    {"a ring is one copy short", kResults | kClocks,
     [](Planned& p) { return ChangeRing(p, [](IndexSplit& copy, IndexSum&) { copy.scale = 0; }, true); }},
    {"writers use the copy of the next iteration", kResults | kClocks,
     [](Planned& p) {
       return ChangeRing(
           p, [](IndexSplit& copy, IndexSum& sum) { sum.offset += copy.scale, copy.scale = -copy.scale; },
           false);
     }},
    {"the arena is short", kChecks, nullptr, ShorterArena},
    {"two buffers share an address", kResults | kClocks,
     [](Planned& p) { return MoveBuffer(p, "B.cache", 0); }},
    {"the grid has a block too many", kChecks, nullptr, ABlockTooMany},
    {"two blocks compute one tile", kResults | kClocks, RasterThatRepeats},
};

TEST(GpuInjections, InAProductAreFound) {
  const Program program = Matmul(64, 48, 16);
  ExpectFound(program, SimtMatmul(program, 8), kInProduct);
}

// --- Faults of asynchronous copies: waits, commits and steps

bool WaitForOneLess(mlir::ModuleOp module, LaunchList&) {
  for (nvvm::CpAsyncWaitGroupOp wait : All<nvvm::CpAsyncWaitGroupOp>(module)) wait.setN(wait.getN() + 1);
  return true;
}

bool WaitAfterTheBarrier(mlir::ModuleOp module, LaunchList&) {
  bool found = false;
  for (nvvm::CpAsyncWaitGroupOp wait : All<nvvm::CpAsyncWaitGroupOp>(module)) {
    auto barrier = mlir::dyn_cast_or_null<nvvm::BarrierOp>(wait->getNextNode());
    if (!barrier) continue;
    wait->moveAfter(barrier);
    found = true;
  }
  return found;
}

// Calls `change` with the list of nodes of the plan that contains the serial loop k_0, the loop over the steps of the
// pipeline, and the position of this loop in the list. Returns the result of `change`, or false if there is no such
// loop.
bool ChangeTurns(Planned& p, const std::function<bool(plan::Nodes&, size_t steps)>& change) {
  return AnyNodes(p.plan.entries[0].nodes, [&](plan::Nodes& nodes) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      const plan::Loop* loop = nodes[n].As<plan::Loop>();
      if (loop != nullptr && loop->run == plan::Run::kSerial &&
          p.program.Text(p.program.loop(loop->loop).name) == "k_0")
        return change(nodes, n);
    }
    return false;
  });
}

// Returns the first child of the loop `steps` that copies operands for a later step: a loop marked `ahead`. Returns
// null if there is none.
plan::Node* CopiesAhead(plan::Node& steps) {
  for (plan::Node& node : steps.arms[0])
    if (const plan::Loop* loop = node.As<plan::Loop>(); loop != nullptr && loop->ahead) return &node;
  return nullptr;
}

// Moves the commits of asynchronous copies from the loop over steps into the loop that copies for later steps. Then
// steps that copy nothing commit no group. Returns false if no loop copies for later steps.
bool CommitCopiesAlone(Planned& p) {
  return ChangeTurns(p, [](plan::Nodes& nodes, size_t steps) {
    plan::Node* const copies = CopiesAhead(nodes[steps]);
    if (copies == nullptr) return false;
    copies->arms[0].push_back({plan::Commit(), {}});
    std::erase_if(nodes[steps].arms[0],
                  [](const plan::Node& node) { return node.As<plan::Commit>() != nullptr; });
    return true;
  });
}

bool DropFirstCommits(Planned& p) {
  return ChangeTurns(p, [](plan::Nodes& nodes, size_t) {
    return std::erase_if(nodes, [](const plan::Node& node) { return node.As<plan::Commit>() != nullptr; }) >
           0;
  });
}

bool CopyBeyondTheLastStep(Planned& p) {
  return ChangeTurns(p, [](plan::Nodes& nodes, size_t steps) {
    plan::Node* const copies = CopiesAhead(nodes[steps]);
    if (copies != nullptr) std::get<plan::Loop>(copies->what).ahead = false;
    return copies != nullptr;
  });
}

bool ChangeSteps(Planned& p, int64_t by) {
  return ChangeTurns(p, [&](plan::Nodes& nodes, size_t steps) {
    std::get<plan::Loop>(nodes[steps].what).count += by;
    return true;
  });
}

// Copies the first node of the thread block, which sets the accumulators to zero, into the loop over steps, so that
// each step loses the sums of earlier ones.
bool StartInEachStep(Planned& p) {
  return ChangeTurns(p, [](plan::Nodes& nodes, size_t steps) {
    plan::Nodes& body = nodes[steps].arms[0];
    body.insert(body.begin(), nodes[0]);
    return true;
  });
}

bool MisalignCopies(Planned& p) {
  const Id b = BufferCalled(p.program, "B.cache");
  return MoveBuffer(p, "B.cache", p.plan.indices.buffers[b].offset + 4);
}

const Injection kInAsynchronousProduct[] = {
    {"a wait lets one group more be under way", kLate | kClocks, nullptr, WaitForOneLess},
    {"a wait comes after its barrier", kLate | kClocks, nullptr, WaitAfterTheBarrier},
    {"steps without copies commit no group", kLate | kClocks, CommitCopiesAlone},
    {"the first steps commit no group", kLate | kClocks, DropFirstCommits},
    {"copies go on beyond the last step", kChecks, CopyBeyondTheLastStep},
    {"a loop runs one step less", kResults, [](Planned& p) { return ChangeSteps(p, -1); }},
    {"a loop runs one step more", kResults, [](Planned& p) { return ChangeSteps(p, 1); }},
    {"a buffer is not aligned to its copies", kChecks, MisalignCopies},
    {"accumulators start in each step", kResults, StartInEachStep},
    {"a barrier is below the threads that copy", kResults | kChecks | kClocks, BarrierOfTheThreadsThatCopy},
};

Schedule AsynchronousProduct(const Program& program) {
  SimtTile tile{.rows = {1, 16, 4}, .columns = {1, 4, 4}, .step = 8, .vector = 4};
  tile.pipeline = {.depths = {3}, .transport = "async"};
  return TiledProduct(program, tile);
}

TEST(GpuInjections, InAnAsynchronousProductAreFound) {
  const Program program = Matmul(64, 32, 48);
  ExpectFound(program, AsynchronousProduct(program), kInAsynchronousProduct);
}

// Lowers the number of groups that each cp.async.wait_group lets be under way by one. Threads then wait for more copies
// than they read, so the test expects that no finder reports anything.
TEST(GpuInjections, AWaitForOneGroupMoreIsHarmless) {
  const auto wait_for_one_more = [](mlir::ModuleOp module, LaunchList&) {
    bool changed = false;
    for (nvvm::CpAsyncWaitGroupOp wait : All<nvvm::CpAsyncWaitGroupOp>(module)) {
      changed |= wait.getN() > 0;
      wait.setN(wait.getN() > 0 ? wait.getN() - 1 : 0);
    }
    return changed;
  };
  const Program program = Matmul(64, 32, 48);
  const Faulty faulty(program, AsynchronousProduct(program).program(),
                      {"a wait lets one group less be under way", 0, nullptr, wait_for_one_more});
  EXPECT_EQ(faulty.Without(0), "");
}

// --- Faults of padded products and of guards: copies without zeros at the end, threads beyond the end

bool DropAsks(plan::Nodes& nodes) {
  bool found = false;
  for (plan::Node& node : nodes) {
    if (auto* leaf = std::get_if<plan::Leaf>(&node.what); leaf != nullptr && !leaf->asks.empty()) {
      leaf->asks.clear();
      found = true;
    }
    for (plan::Nodes& arm : node.arms) found |= DropAsks(arm);
  }
  return found;
}

bool CopyBeyondTheEnd(mlir::ModuleOp module, LaunchList&) {
  bool found = false;
  for (nvvm::CpAsyncOp copy : All<nvvm::CpAsyncOp>(module)) {
    found |= copy.getCpSize() != nullptr;
    copy.getCpSizeMutable().clear();
  }
  return found;
}

const Injection kInPaddedProduct[] = {
    {"copies are not filled with zeros", kResults | kChecks, nullptr, CopyBeyondTheEnd},
};

TEST(GpuInjections, InAPaddedProductAreFound) {
  const Program program = Matmul(50, 27, 20);
  Schedule s = Scheduled(program);
  const Block product = s.GetBlock("matmul");
  s.Einsum(product, {32, 16, 8});
  SimtTile tile{.rows = {1, 8, 4}, .columns = {1, 4, 4}, .step = 8};
  tile.pipeline = {.depths = {3}, .transport = "async"};
  const std::vector<Block> copies = {s.GetBlock("A.mk.1"), s.GetBlock("B.kn.1")};
  s = TiledProduct(std::move(s), product, tile, copies);
  s.BindRest(64, 64);
  ExpectFound(program, s, kInPaddedProduct);
}

// Removes the guards of a softmax of 5 rows by blocks of 4 threads, so that threads beyond the end of the buffers run.
// Expects that the emulator reports accesses out of bounds.
TEST(GpuInjections, MissingGuardsAreFound) {
  const Program program = Softmax(5, 33);
  Schedule s = Scheduled(program);
  for (const char* block : {"max", "exp", "sum", "div"}) {
    const auto parts = s.Split(s.GetLoops(s.GetBlock(block))[0], {kAuto, 4});
    s.Bind(parts[0], LoopKind::kBlockX);
    s.Bind(parts[1], LoopKind::kThreadX);
  }
  const auto no_branches = [](Planned& p) {
    return AnyNodes(p.plan.entries[0].nodes, [](plan::Nodes& nodes) {
      if (DropAsks(nodes)) return true;
      for (plan::Node& node : nodes) {
        if (node.As<plan::Branch>() == nullptr) continue;
        plan::Nodes inside = std::move(node.arms[0]);
        nodes = std::move(inside);
        return true;
      }
      return false;
    });
  };
  const Injection without[] = {{"no guards", kChecks, no_branches}};
  ExpectFound(program, s, without);
}

// --- Faults of reductions across threads: shuffles, warps and barriers

// Changes each loop that runs to 8, those that combine the partial results of 8 warps, to one iteration. Returns false
// if there is no such loop.
bool OnlyOneWarp(mlir::ModuleOp module, LaunchList&) {
  bool found = false;
  for (llvm_ir::ICmpOp compare : All<llvm_ir::ICmpOp>(module)) {
    auto bound = compare.getRhs().getDefiningOp<llvm_ir::ConstantOp>();
    const auto number = bound ? mlir::dyn_cast<mlir::IntegerAttr>(bound.getValue()) : mlir::IntegerAttr();
    if (!number || number.getInt() != 8 || compare.getPredicate() != llvm_ir::ICmpPredicate::slt) continue;
    mlir::OpBuilder b(compare);
    compare->setOperand(1, llvm_ir::ConstantOp::create(b, compare.getLoc(), bound.getType(),
                                                       b.getIntegerAttr(bound.getType(), 1)));
    found = true;
  }
  return found;
}

const Injection kInSoftmax[] = {
    {"a shuffle is of another distance", kResults, nullptr,
     [](mlir::ModuleOp module, LaunchList&) {
       auto shuffle = All<nvvm::ShflOp>(module).back();
       shuffle.getOffsetMutable().assign(Number(shuffle, 2));
       return true;
     }},
    {"a shuffle names a lane that is not there", kChecks, nullptr,
     [](mlir::ModuleOp module, LaunchList&) {
       auto shuffle = All<nvvm::ShflOp>(module).front();
       shuffle.getThreadMaskMutable().assign(Number(shuffle, 0x1ff));
       return true;
     }},
    {"a shuffle leaves out a lane", kResults | kChecks | kClocks, nullptr,
     [](mlir::ModuleOp module, LaunchList&) {
       auto shuffle = All<nvvm::ShflOp>(module).front();
       shuffle.getThreadMaskMutable().assign(Number(shuffle, 0x7f));
       return true;
     }},
    {"a thread is missing", kResults | kChecks, nullptr,
     [](mlir::ModuleOp, LaunchList& launches) {
       --launches.launches[0].threads;
       return true;
     }},
};

TEST(GpuInjections, InASoftmaxAreFound) {
  const Program program = Softmax(3, 64);
  ExpectFound(program, SoftmaxOfRows(program), kInSoftmax);
}

const Injection kInWideSoftmax[] = {
    {"the partial result of one warp alone counts", kResults, nullptr, OnlyOneWarp},
    {"partial results are read too early", kResults | kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, 2); }},
    {"partial results are written too early", kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, 3); }},
    {"the sum is read too early", kResults | kClocks, nullptr,
     [](mlir::ModuleOp m, LaunchList&) { return DropBarrier(m, All<nvvm::BarrierOp>(m).size() - 1); }},
};

TEST(GpuInjections, InASoftmaxOfSeveralWarpsAreFound) {
  const Program program = Softmax(2, 512);
  Schedule s = Scheduled(program);
  const Block max = s.GetBlock("max"), exp = s.GetBlock("exp"), sum = s.GetBlock("sum"),
              div = s.GetBlock("div");
  const Loop row = s.GetLoops(div)[0];
  for (const Block block : {sum, exp, max}) s.ComputeAt(block, row);
  s.SetScope(max, "shared");
  s.SetScope(sum, "shared");
  s.SetScope(exp, "register");
  for (const Block block : {max, exp, sum, div}) {
    const auto parts = s.Split(s.GetLoops(block).back(), {kAuto, 256});
    s.Reorder({parts[1], parts[0]});
    s.Bind(parts[1], LoopKind::kThreadX);
    s.Unroll(parts[0]);
  }
  s.Bind(row, LoopKind::kBlockX);
  ExpectFound(program, s, kInWideSoftmax);
}

// --- Faults of thread axes and of the workspace: exchanged sizes of axes, memory that is used again too early

constexpr char kTwice[] = R"(kiln.program v1
program twice
parameters A, C
buffer A: f32[8, 64] input
buffer C: f32[8, 64] output
buffer T: f32[8, 64] temporary
buffer U: f32[8, 64] temporary

for i < 8 { for j < 64 { block t { spatial i < 8 = i  spatial j < 64 = j  T[i, j] = A[i, j]*f32(2) } } }
for i < 8 { for j < 64 { block u { spatial i < 8 = i  spatial j < 64 = j  U[i, j] = A[i, j] + f32(3) } } }
for i < 8 { for j < 64 { block c { spatial i < 8 = i  spatial j < 64 = j  C[i, j] = T[i, j] + U[i, j] } } }
)";

// Replaces the divisor of each 32-bit unsigned division and remainder by 8. The kernel then splits a thread's number t
// into x = t % 8 and y = t / 8 instead of t % 64 and t / 64. Returns false if there is no such operation.
bool ExchangeAxes(mlir::ModuleOp module, LaunchList&) {
  bool found = false;
  module.walk([&](mlir::Operation* op) {
    if (!mlir::isa<llvm_ir::URemOp, llvm_ir::UDivOp>(op) || !op->getOperand(0).getType().isInteger(32))
      return;
    op->setOperand(1, Number(op, 8));
    found = true;
  });
  return found;
}

TEST(GpuInjections, OfAxesAndTheWorkspaceAreFound) {
  const auto parsed = ParseProgram(kTwice);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Program& program = *parsed;
  Schedule s = Scheduled(program);
  for (const char* block : {"t", "u", "c"}) {
    const auto loops = s.GetLoops(s.GetBlock(block));
    s.Bind(loops[0], LoopKind::kThreadY);
    s.Bind(loops[1], LoopKind::kThreadX);
  }
  const Injection injections[] = {
      {"the sizes of axes are exchanged", kResults | kChecks, nullptr, ExchangeAxes},
      {"the workspace is used again too early", kResults, [](Planned& p) { return MoveBuffer(p, "U", 0); }},
  };
  ExpectFound(program, s, injections);
}

}  // namespace
}  // namespace kiln
