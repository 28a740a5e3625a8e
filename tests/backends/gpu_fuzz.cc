#include "tests/backends/gpu_fuzz.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/context.h"
#include "backends/gpu/codegen.h"
#include "backends/gpu/emulate.h"
#include "backends/gpu/lower_kernels.h"
#include "backends/gpu/ptxas.h"
#include "backends/lower/kernels/plan_kernels.h"
#include "backends/lower/plan/loop_plan_text.h"
#include "backends/runner/emulator/emulator.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/compiled/loaded.h"
#include "testing/compiled/run_program.h"
#include "testing/random_program.h"
#include "tests/support/exact_results.h"
#include "tests/support/random_steps.h"
#include "tests/support/random_tiles.h"
#include "tests/support/shared_bytes.h"

namespace kiln {
namespace {

constexpr size_t kMostPointers = 12;
constexpr int kTries = 30;

constexpr const char* kClasses[] = {"pipelined", "asynchronous", "across-threads", "guarded", "shared",
                                    "registers", "kernels",      "prepared",       "tiles"};

// A program, and the same program after a random GPU schedule, with the steps as text.
struct Drawn {
  Program original, scheduled;
  std::string steps;
  bool is_tile = false;
};

std::optional<Drawn> DrawProduct(Dice& dice) {
  const RandomTiles drawn = DrawTiles(dice);
  if (!drawn.schedule.ok()) return std::nullopt;
  return Drawn{drawn.program, drawn.schedule.program(), "", true};
}

std::vector<const Primitive*> MakersOfKernels() {
  std::vector<const Primitive*> makers;
  for (const char* name : {"bind", "bind", "set-scope", "cache-read", "compute-at", "cooperative-fetch",
                           "pipeline", "unroll", "vectorize", "rfactor", "accumulate-at"})
    makers.push_back(FindPrimitive(name));
  return makers;
}

// True if several threads may run the same instance of a block and store the same value to memory that they share. The
// vector clocks of the emulator would report this as a race.
bool MayRepeatStores(const Program& p) {
  return absl::c_any_of(Blocks(p), [&](Id block) {
    const bool shares = absl::c_any_of(
        WrittenBuffers(p, block), [&](Id buffer) { return p.buffers[buffer].scope.owner != Owner::kThread; });
    return shares && absl::c_any_of(LoopsAround(p, block),
                                    [&](Id loop) { return OnAxis(p, loop) && !TellsApart(p, block, loop); });
  });
}

// Applies random steps to a random program, and then bind-rest, which binds outer independent serial loops of each nest
// to axes of threads and blocks that the nest does not use.
// Returns nullopt if no loop is on an axis, CheckOwners refuses the program, or several threads may repeat a store.
std::optional<Drawn> DrawSteps(Dice& dice) {
  static const std::vector<const Primitive*> makers = MakersOfKernels();
  State state;
  state.program = RandomProgram(dice, {.types = true});
  Drawn drawn{state.program, {}, "", false};
  for (int tries = 0; tries < kTries; ++tries) {
    RefreshHandles(state);
    const Step step = RandomStep(state, {}, false, dice, makers);
    if (Run(state, Target(), step, 0, nullptr, nullptr, nullptr).ok())
      absl::StrAppend(&drawn.steps, ToString(step), "\n");
  }
  Step rest;
  rest.primitive = FindPrimitive("bind-rest");
  rest.operands = {{Operand::Kind::kInt, 1 + dice.Below(4)},
                   {Operand::Kind::kInt, int64_t{1} << dice.Below(7)}};
  Run(state, Target(), rest, 0, nullptr, nullptr, nullptr).IgnoreError();
  if (!HasAxes(state.program) || !CheckOwners(state.program).ok() || MayRepeatStores(state.program))
    return std::nullopt;
  drawn.scheduled = state.program;
  return drawn;
}

bool Has(const plan::Nodes& nodes, bool (*is)(const plan::Node&)) {
  return absl::c_any_of(nodes, [&](const plan::Node& node) {
    return is(node) || absl::c_any_of(node.arms, [&](const plan::Nodes& arm) { return Has(arm, is); });
  });
}

void Classify(const plan::Planned& planned, const Drawn& drawn, SeedResult& ran) {
  const Program& p = drawn.scheduled;
  size_t kernels = 0;
  for (const plan::Entry& entry : planned.plan.entries) {
    kernels += entry.nodes.size();
    ran.of_class[1] |= Has(entry.nodes, [](const plan::Node& n) { return n.As<plan::Commit>() != nullptr; });
    ran.of_class[2] |= Has(entry.nodes, [](const plan::Node& n) {
      return n.As<plan::Leaf>() != nullptr && n.As<plan::Leaf>()->across;
    });
    ran.of_class[3] |= Has(entry.nodes, [](const plan::Node& n) {
      return n.As<plan::Branch>() != nullptr ||
             (n.As<plan::Leaf>() != nullptr && !n.As<plan::Leaf>()->asks.empty());
    });
    ran.of_class[7] |= entry.prepare;
  }
  for (const Id loop : LoopsBelow(p, kRoot)) ran.of_class[0] |= p.loop(loop).kind == LoopKind::kPipelined;
  for (const BufferPlan& buffer : planned.plan.indices.buffers) {
    ran.of_class[4] |= buffer.used() && buffer.place == Memory::kShared;
    ran.of_class[5] |= buffer.used() && buffer.place == Memory::kAlloca;
  }
  ran.of_class[6] = kernels > 1;
  ran.of_class[8] = drawn.is_tile;
}

// Calls the entry points of an emulated library, that of the prepare phase first, and stops at a fault. Returns the
// emulator's fault; "" if there is none.
std::string Call(const Loaded& loaded, const plan::LoopPlan& plan, std::vector<Array<char>>& memory,
                 const EmulationOptions& mode) {
  using Entry = int32_t(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
  std::array<void*, kMostPointers> a = {};
  for (size_t i = 0; i < memory.size(); ++i) a[i] = memory[i].data();
  const Emulation emulation(mode);
  for (const bool prepare : {true, false}) {
    for (const plan::Entry& entry : plan.entries) {
      if (entry.prepare != prepare || !emulation.fault().empty()) continue;
      const int32_t status = loaded.Get<Entry>(entry.name)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                                           a[8], a[9], a[10], a[11]);
      if ((status != 0) != !emulation.fault().empty()) return "a status without a fault";
    }
  }
  return emulation.fault();
}

// Runs an emulated library on the inputs in three modes of the emulator (the random mode with two seeds), and compares
// its outputs with `wanted`. Returns the first fault or difference; "" if there is none.
std::string RunAll(const Drawn& drawn, const plan::LoopPlan& plan, const LaunchList& launches,
                   const std::string& library, absl::Span<const std::string> inputs,
                   absl::Span<const std::string> wanted) {
  const Program& p = drawn.original;
  const auto loaded = Loaded::FromBytes(library);
  if (!loaded.ok()) return loaded.status().ToString();
  const std::set<Id> either_zero = EitherZero(drawn.scheduled);
  for (const EmulationOptions& mode : {EmulationOptions{EmulationMode::kEager},
                                       {EmulationMode::kLate},
                                       {EmulationMode::kRandom, 1},
                                       {EmulationMode::kRandom, 2}}) {
    std::vector<Array<char>> memory;
    size_t input = 0, output = 0;
    for (size_t i = 0; i < launches.parameters.size(); ++i) {
      memory.emplace_back(static_cast<size_t>(launches.parameters[i]), '\x5a');
      if (i >= p.parameters.size() || p.buffers[p.parameters[i]].role == Role::kOutput) continue;
      std::memcpy(memory.back().data(), inputs[input].data(), inputs[input].size());
      ++input;
    }
    const std::string fault = Call(*loaded, plan, memory, mode);
    if (!fault.empty()) return absl::StrCat("mode ", static_cast<int>(mode.mode), ": ", fault);
    for (size_t i = 0; i < p.parameters.size(); ++i) {
      const Id id = p.parameters[i];
      if (p.buffers[id].role != Role::kOutput) continue;
      const std::string difference =
          Difference(p.buffers[id].dtype, memory[i].data(), wanted[output++], either_zero.contains(id));
      if (!difference.empty())
        return absl::StrCat("mode ", static_cast<int>(mode.mode), ", parameter ", i, ": ", difference);
    }
  }
  return "";
}

SeedResult RunSeed(uint64_t seed) {
  RandomDice dice(Engine({seed, 79}));
  const std::optional<Drawn> drawn = dice.Flip(0.2) ? DrawProduct(dice) : DrawSteps(dice);
  if (!drawn.has_value()) return {};
  const std::vector<std::string> inputs = RandomInputs(drawn->original, dice);
  const auto wanted = Run(drawn->original, inputs, {.only_defined = true});
  if (!wanted.ok()) return {};
  const auto planned = plan::PlanKernels(drawn->scheduled);
  const auto told = [&](absl::string_view what) {
    return SeedResult{
        true, absl::StrCat(what, "\n", ToString(drawn->original), drawn->steps, ToString(drawn->scheduled),
                           planned.ok() ? ToString(planned->program, planned->plan) : "")};
  };
  if (absl::IsFailedPrecondition(planned.status())) return {};
  if (!planned.ok()) return told(planned.status().ToString());
  if (const std::string more = MoreSharedThanCounted(drawn->scheduled, *planned); !more.empty())
    return told(more);
  auto lowered = LowerKernels(planned->program, planned->plan, Context());
  if (absl::IsFailedPrecondition(lowered.status())) return {};
  if (!lowered.ok()) return told(lowered.status().ToString());
  if (lowered->launches.parameters.size() > kMostPointers) return {};
  if (const absl::Status nvvm = ToNvvm(*lowered->module, lowered->launches); !nvvm.ok())
    return told(nvvm.ToString());
  for (const char* chip : {"sm_80", "sm_90a"}) {
    const auto stages = ToPtx(*lowered->module, chip);
    if (absl::IsFailedPrecondition(stages.status())) return {};  // a function that GPUs do not have yet
    if (!stages.ok()) return told(stages.status().ToString());
    const auto cubin = AssemblePtx(stages->ptx, chip);
    if (!cubin.ok()) return told(cubin.status().ToString());
  }
  const auto library = EmulateKernels(*lowered->module, lowered->launches, planned->plan.entries[0].name);
  if (!library.ok()) return told(library.status().ToString());
  const std::string wrong = RunAll(*drawn, planned->plan, lowered->launches, *library, inputs, *wanted);
  if (!wrong.empty()) return told(wrong);
  SeedResult ran{true};
  Classify(*planned, *drawn, ran);
  return ran;
}

}  // namespace

ForkedTest GpuFuzz() {
  return {.program = "kiln_lower_fuzz --gpu",
          .about = "Kernels of random programs, assembled, and emulated beside the interpreter",
          .things = "programs",
          .run = "kernels",
          .classes = {std::begin(kClasses), std::end(kClasses)},
          .least_share = 0.15,
          .run_seed = RunSeed};
}

}  // namespace kiln
